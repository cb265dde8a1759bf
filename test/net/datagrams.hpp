// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_DATAGRAMS_HPP
#define REACTOR_TEST_NET_DATAGRAMS_HPP

#include <net/datagram_socket.hpp>

#include "connected.hpp"

#include <cerrno>
#include <cstddef>
#include <string>

#include <netinet/in.h>

/// What tests of datagram sockets share.
namespace datagrams {

using namespace connected;
using reactor::net::Datagram;
using reactor::net::DatagramInBuffer;
using reactor::net::DatagramOptions;
using reactor::net::DatagramSocket;

/// The next datagram, for which it waits.
inline Datagram next(TestLoop& loop, DatagramSocket& socket,
                     std::size_t max = DatagramSocket::max_size) {
    be_patient(loop);
    return loop.run_until_complete(socket.receive_from(max));
}

/// An abstract name that no other test has.
inline Endpoint abstract_name(const std::string& part) {
    return Endpoint::local_abstract("reactor datagram " + part + ' ' + std::to_string(::getpid()));
}

/// The first bytes of what waits in the socket, which stays there.
inline std::string peek(const DatagramSocket& socket) {
    char bytes[100];
    const ::ssize_t got = ::recv(socket.native_handle(), bytes, sizeof bytes, MSG_PEEK);
    return std::string(bytes, got < 0 ? 0 : static_cast<std::size_t>(got));
}

/// Has the system keep what ICMP says in the socket's error queue, too.
inline void keep_errors(int descriptor) {
    const int on = 1;
    BOOST_TEST(::setsockopt(descriptor, IPPROTO_IP, IP_RECVERR, &on, sizeof on) == 0);
}

/// What an event would tell of the descriptor, without its room.
inline short told_of(int descriptor) {
    ::pollfd entry = {descriptor, POLLIN, 0};
    BOOST_TEST(::poll(&entry, 1, 0) >= 0);
    return entry.revents;
}

/// Takes one datagram out, with the loop knowing nothing; "(nothing)" if there is none.
inline std::string steal(const DatagramSocket& socket) {
    char bytes[100];
    const ::ssize_t got = ::recv(socket.native_handle(), bytes, sizeof bytes, 0);
    return got < 0 ? "(nothing)" : std::string(bytes, static_cast<std::size_t>(got));
}

/// Sends "f" to a Unix receiver until that is full; how many it took.
inline int fill(const Endpoint& receiver) {
    const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    BOOST_REQUIRE(fd >= 0);
    const auto* const address = static_cast<const ::sockaddr*>(receiver.data());
    int count = 0;
    while (::sendto(fd, "f", 1, 0, address, static_cast<::socklen_t>(receiver.size())) == 1) {
        ++count;
    }
    BOOST_TEST(errno == EAGAIN);
    ::close(fd);
    return count;
}

}  // namespace datagrams

#endif
