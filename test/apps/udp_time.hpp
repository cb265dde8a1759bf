// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_APPS_UDP_TIME_HPP
#define REACTOR_TEST_APPS_UDP_TIME_HPP

#include <apps/udp_time/answer.hpp>
#include <apps/udp_time/packet.hpp>
#include <apps/udp_time/timestamp.hpp>

#include <cstdlib>
#include <string>

#include "plain_socket.hpp"
#include "program.hpp"

/// What the tests of the time service share.
namespace udp_time_test {

using programs::command;
using programs::contains;
using programs::Exit;
using programs::lines_in;
using programs::number_before;
using programs::Strings;
using reactor::net::Endpoint;

/// A running time server.
class Server : public programs::Serving {
public:
    explicit Server(const Strings& arguments)
        : Serving(command("udp_time", programs::with_mode("serve", arguments))) {}
};

inline support::Command ask(const Strings& arguments) {
    return command("udp_time", programs::with_mode("ask", arguments));
}

/// The other end, in plain blocking calls: a client that sends anything, or a server that does.
class Peer {
public:
    struct Datagram {
        std::string bytes;
        Endpoint from;
    };

    explicit Peer(const std::string& at = "127.0.0.1:0") {
        const Endpoint local = Endpoint::parse(at);
        const int family = local.family() == Endpoint::Family::ipv6 ? AF_INET6 : AF_INET;
        fd_ = ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd_ < 0) plain::fail("socket");
        const ::timeval limit = {20, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        if (::bind(fd_, static_cast<const ::sockaddr*>(local.data()),
                   static_cast<::socklen_t>(local.size())) != 0) {
            plain::fail("bind");
        }
    }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    ~Peer() { ::close(fd_); }

    std::string address() const {
        ::sockaddr_storage bound;
        ::socklen_t size = sizeof bound;
        if (::getsockname(fd_, reinterpret_cast<::sockaddr*>(&bound), &size) != 0) {
            plain::fail("name");
        }
        return Endpoint::from_sockaddr(&bound, size).str();
    }
    void send(const std::string& bytes, const Endpoint& to) {
        if (::sendto(fd_, bytes.data(), bytes.size(), 0, static_cast<const ::sockaddr*>(to.data()),
                     static_cast<::socklen_t>(to.size())) < 0) {
            plain::fail("sendto");
        }
    }
    void send(const std::string& bytes, const std::string& to) { send(bytes, Endpoint::parse(to)); }
    Datagram receive() {
        char bytes[2048];
        ::sockaddr_storage from;
        ::socklen_t size = sizeof from;
        const ::ssize_t got =
            ::recvfrom(fd_, bytes, sizeof bytes, 0, reinterpret_cast<::sockaddr*>(&from), &size);
        if (got < 0) plain::fail("recvfrom");
        return {std::string(bytes, static_cast<std::size_t>(got)),
                Endpoint::from_sockaddr(&from, size)};
    }

private:
    int fd_ = -1;
};

inline udp_time::Packet decoded(const std::string& bytes) {
    udp_time::Packet packet;
    BOOST_TEST_REQUIRE(udp_time::decode(bytes, packet));
    return packet;
}

/// What a good server says to that request.
inline udp_time::Packet answer_to(const Peer::Datagram& request, unsigned stratum = 2) {
    udp_time::ServerClock clock;
    clock.stratum = stratum;
    const udp_time::UnixTime now = udp_time::unix_now();
    return udp_time::make_answer(decoded(request.bytes), clock, now, now);
}

/// The number behind `word`, such as -0.000012 of "offset -0.000012 s".
inline double number_behind(const std::string& word, const std::string& text) {
    const std::size_t at = text.find(word + " ");
    BOOST_TEST_REQUIRE((at != std::string::npos), "no '" << word << "' in: " << text);
    return std::strtod(text.c_str() + at + word.size() + 1, nullptr);
}

}  // namespace udp_time_test

#endif
