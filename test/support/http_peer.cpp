// SPDX-License-Identifier: BSL-1.0
#include "http_peer.hpp"

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace support {

namespace {

int check(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::system_category(), what);
    return result;
}

// A socket bound to a free port, which nobody else gets while it is open.
int bound_socket(std::uint16_t& port) {
    const int fd = check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    ::sockaddr_in address = ::sockaddr_in();
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::socklen_t size = sizeof address;
    void* const any = &address;
    check(::bind(fd, static_cast<::sockaddr*>(any), size), "bind");
    check(::getsockname(fd, static_cast<::sockaddr*>(any), &size), "getsockname");
    port = ntohs(address.sin_port);
    return fd;
}

}  // namespace

// ---- one connection -------------------------------------------------------------------------

std::string PeerConnection::read_head() {
    std::string head;
    char byte;
    while (head.size() < 4 || head.compare(head.size() - 4, 4, "\r\n\r\n") != 0) {
        if (::recv(fd_, &byte, 1, 0) != 1) break;
        head += byte;
    }
    return head;
}

bool PeerConnection::send(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const ::ssize_t sent = ::send(fd_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        at += static_cast<std::size_t>(sent);
    }
    return true;
}

void PeerConnection::reset() {
    const ::linger at_once = {1, 0};
    check(::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), "SO_LINGER");
}

void PeerConnection::hold() {
    char bytes[4096];
    while (::recv(fd_, bytes, sizeof bytes, 0) > 0) {
    }
}

// ---- the server -----------------------------------------------------------------------------

HttpPeer::HttpPeer() {
    listener_ = bound_socket(port_);
    check(::listen(listener_, 1024), "listen");
    accepting_ = std::thread(&HttpPeer::accept_all, this);
}

HttpPeer::~HttpPeer() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        stopping_ = true;
        for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    ::shutdown(listener_, SHUT_RDWR);  // wakes accept()
    accepting_.join();
    for (std::thread& connection : connections_) connection.join();
    ::close(listener_);
}

void HttpPeer::on(const std::string& target, Answer answer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    answers_[target] = std::move(answer);
}

std::vector<std::string> HttpPeer::requests() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return requests_;
}

void HttpPeer::wait_until(const std::function<bool()>& true_now) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(100), true_now)) {
        throw std::runtime_error("HttpPeer: what the test waits for did not happen");
    }
}

void HttpPeer::wait_for_requests(std::size_t count) {
    wait_until([&] { return requests_.size() >= count; });
}

void HttpPeer::wait_for_ends(std::size_t count) {
    wait_until([&] { return ended_ >= count; });
}

void HttpPeer::accept_all() {
    for (;;) {
        const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd >= 0) {
            if (keep(fd)) connections_.emplace_back(&HttpPeer::serve, this, fd);
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return;
        }
    }
}

bool HttpPeer::keep(int fd) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) {
        ::close(fd);
    } else {
        open_.insert(fd);
    }
    return !stopping_;
}

void HttpPeer::serve(int fd) {
    PeerConnection connection(fd);
    const std::string head = connection.read_head();
    const std::size_t begin = head.find(' ') + 1;
    const std::string target = head.substr(begin, head.find(' ', begin) - begin);
    Answer answer = [](PeerConnection& to) {
        to.send("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone");
    };
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!head.empty()) requests_.push_back(head);
        const auto found = answers_.find(target);
        if (found != answers_.end()) answer = found->second;
    }
    changed_.notify_all();
    answer(connection);
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        open_.erase(fd);
        ::close(fd);
        ++ended_;
    }
    changed_.notify_all();
}

// ---- the rest -------------------------------------------------------------------------------

// Bound, but not listening: nobody else can get the port, and a connect is refused.
RefusingPort::RefusingPort() { fd_ = bound_socket(port_); }

RefusingPort::~RefusingPort() { ::close(fd_); }

SilentPort::SilentPort() {
    fd_ = bound_socket(port_);
    check(::listen(fd_, 0), "listen");
    ::sockaddr_in address = ::sockaddr_in();
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    const void* const any = &address;
    for (bool full = false; !full;) {
        waiting_.push_back(
            check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket"));
        const int fd = waiting_.back();
        const int now = ::connect(fd, static_cast<const ::sockaddr*>(any), sizeof address);
        ::pollfd connected = {fd, POLLOUT, 0};
        full = now != 0 && ::poll(&connected, 1, 200) == 0;
    }
}

SilentPort::~SilentPort() {
    for (const int fd : waiting_) ::close(fd);
    ::close(fd_);
}

std::string ok_response(const std::string& body, const std::string& fields) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + fields +
           "\r\n" + body;
}

}  // namespace support
