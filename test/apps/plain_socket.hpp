// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_APPS_PLAIN_SOCKET_HPP
#define REACTOR_TEST_APPS_PLAIN_SOCKET_HPP

#include <net/endpoint.hpp>

#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/// Peers of our programs, in plain blocking calls that a test reads from top to bottom. What takes
/// longer than 20 seconds fails with EAGAIN.
namespace plain {

[[noreturn]] inline void fail(const char* step) {
    throw std::system_error(errno, std::system_category(), step);
}

/// A connection.
class Socket {
public:
    explicit Socket(int fd) : fd_(fd) {
        const ::timeval limit = {20, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    }
    /// As Endpoint::parse() has it. Throws std::system_error.
    explicit Socket(const std::string& address) : Socket(open(address)) {
        const reactor::net::Endpoint to = reactor::net::Endpoint::parse(address);
        if (::connect(fd_, static_cast<const ::sockaddr*>(to.data()),
                      static_cast<::socklen_t>(to.size())) != 0) {
            fail("connect");
        }
    }
    Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
    Socket& operator=(Socket&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Socket() { close(); }

    int fd() const noexcept { return fd_; }

    void send(const std::string& bytes) {
        for (std::size_t sent = 0; sent < bytes.size();) {
            const ::ssize_t took =
                ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (took < 0) fail("send");
            sent += static_cast<std::size_t>(took);
        }
    }
    /// Sends until the system has taken nothing more for half a second, at most so many bytes.
    std::size_t send_until_full(const std::string& piece, std::size_t most) {
        std::size_t sent = 0;
        while (sent < most) {
            ::pollfd room = {fd_, POLLOUT, 0};
            if (::poll(&room, 1, 500) == 0) break;
            const ::ssize_t took =
                ::send(fd_, piece.data(), piece.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            if (took < 0) fail("send");
            sent += static_cast<std::size_t>(took);
        }
        return sent;
    }
    void end_sending() {
        if (::shutdown(fd_, SHUT_WR) != 0) fail("shutdown");
    }

    /// So many bytes, fewer only at the end of the stream.
    std::string read(std::size_t count) {
        std::string bytes(count, '\0');
        std::size_t have = 0;
        while (have < count) {
            const ::ssize_t got = ::recv(fd_, &bytes[have], count - have, 0);
            if (got < 0) fail("recv");
            if (got == 0) break;
            have += static_cast<std::size_t>(got);
        }
        bytes.resize(have);
        return bytes;
    }
    std::string read_to_end() {
        std::string bytes;
        for (std::string more; !(more = read(65536)).empty();) bytes += more;
        return bytes;
    }
    /// The error of reading to the end: 0 for an orderly one.
    int error_at_end() {
        try {
            read_to_end();
            return 0;
        } catch (const std::system_error& error) {
            return error.code().value();
        }
    }

    void close() noexcept {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }
    /// Ends the connection so that a TCP peer sees a reset.
    void reset() noexcept {
        const ::linger at_once = {1, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close();
    }

private:
    static int open(const std::string& address) {
        const int family =
            reactor::net::Endpoint::parse(address).family() == reactor::net::Endpoint::Family::local
                ? AF_UNIX
            : address[0] == '[' ? AF_INET6
                                : AF_INET;
        const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) fail("socket");
        return fd;
    }

    int fd_;
};

/// Listens on a port of 127.0.0.1 that the system chooses.
class Listener {
public:
    Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const reactor::net::Endpoint any("127.0.0.1", 0);
        if (::bind(fd_, static_cast<const ::sockaddr*>(any.data()),
                   static_cast<::socklen_t>(any.size())) != 0 ||
            ::listen(fd_, 100) != 0) {
            fail("listen");
        }
    }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;
    ~Listener() { ::close(fd_); }

    int fd() const noexcept { return fd_; }
    std::string address() const {
        ::sockaddr_storage bound;
        ::socklen_t size = sizeof bound;
        if (::getsockname(fd_, reinterpret_cast<::sockaddr*>(&bound), &size) != 0) fail("name");
        return reactor::net::Endpoint::from_sockaddr(&bound, size).str();
    }
    /// The next client.
    Socket accept() {
        ::pollfd client = {fd_, POLLIN, 0};
        if (::poll(&client, 1, 20000) <= 0) throw std::runtime_error("no client for 20 s");
        const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) fail("accept");
        return Socket(fd);
    }
    bool has_client() const {
        ::pollfd client = {fd_, POLLIN, 0};
        return ::poll(&client, 1, 0) > 0;
    }

private:
    int fd_;
};

/// Not every container has it.
inline bool has_ipv6() {
    const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    const reactor::net::Endpoint any("::1", 0);
    const bool bound = ::bind(fd, static_cast<const ::sockaddr*>(any.data()),
                              static_cast<::socklen_t>(any.size())) == 0;
    ::close(fd);
    return bound;
}

/// Waits until nobody listens at that address of 127.0.0.1, without being a client meanwhile.
/// False: somebody still does after 20 s.
inline bool wait_until_nobody_listens(const std::string& address) {
    const reactor::net::Endpoint at = reactor::net::Endpoint::parse(address);
    for (int i = 0; i < 10000; ++i) {
        const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) fail("socket");
        // With this the connections that are left do not count.
        const int on = 1;
        ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        const bool bound = ::bind(fd, static_cast<const ::sockaddr*>(at.data()),
                                  static_cast<::socklen_t>(at.size())) == 0;
        ::close(fd);
        if (bound) return true;
        ::poll(nullptr, 0, 2);
    }
    return false;
}

/// Whether nobody accepts connections there (any more).
inline bool refuses(const std::string& address) {
    try {
        Socket socket(address);
        return false;
    } catch (const std::system_error& error) {
        return error.code() == std::errc::connection_refused ||
               error.code() == std::errc::no_such_file_or_directory;
    }
}

}  // namespace plain

#endif
