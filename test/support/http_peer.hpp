// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_HTTP_PEER_HPP
#define REACTOR_TEST_HTTP_PEER_HPP

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace support {

/// One accepted connection, on a thread of its own: plain blocking calls, so that a test says byte
/// for byte what the peer does.
class PeerConnection {
public:
    explicit PeerConnection(int fd) : fd_(fd) {}

    /// Reads up to the blank line of a request; what came before the end of the stream if none
    /// does.
    std::string read_head();
    /// False once the other side is gone.
    bool send(const std::string& bytes);
    /// Lets the connection end with a reset instead of an orderly end.
    void reset();
    /// Keeps it open until the other side closes it or the server stops.
    void hold();

private:
    int fd_;
};

/// A server for tests, on a port of 127.0.0.1 that the system chooses, which does by each path what
/// the test said. Thread-safe; the destructor ends all connections.
class HttpPeer {
public:
    using Answer = std::function<void(PeerConnection&)>;

    HttpPeer();
    ~HttpPeer();
    HttpPeer(const HttpPeer&) = delete;
    HttpPeer& operator=(const HttpPeer&) = delete;

    /// What follows the request for this target (its head has been read); without: 404.
    void on(const std::string& target, Answer answer);

    std::uint16_t port() const noexcept { return port_; }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    std::string url(const std::string& target) const { return "http://" + address() + target; }

    /// The heads of all requests so far, in the order in which they came.
    std::vector<std::string> requests() const;
    /// Waits until so many requests have come, or so many connections have ended on both sides.
    void wait_for_requests(std::size_t count);
    void wait_for_ends(std::size_t count);

private:
    void accept_all();
    void serve(int fd);
    bool keep(int fd);
    void wait_until(const std::function<bool()>& true_now);

    int listener_ = -1;
    std::uint16_t port_ = 0;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, Answer> answers_;
    std::vector<std::string> requests_;
    std::size_t ended_ = 0;
    std::set<int> open_;
    bool stopping_ = false;
    std::list<std::thread> connections_;  // touched by accepting_ only, while that runs
    std::thread accepting_;
};

/// A port of 127.0.0.1 that refuses connections for as long as this lives.
class RefusingPort {
public:
    RefusingPort();
    ~RefusingPort();
    RefusingPort(const RefusingPort&) = delete;
    RefusingPort& operator=(const RefusingPort&) = delete;

    std::uint16_t port() const noexcept { return port_; }

private:
    int fd_ = -1;
    std::uint16_t port_ = 0;
};

/// A port of 127.0.0.1 where a connect neither succeeds nor fails: its backlog is full.
class SilentPort {
public:
    SilentPort();
    ~SilentPort();
    SilentPort(const SilentPort&) = delete;
    SilentPort& operator=(const SilentPort&) = delete;

    std::uint16_t port() const noexcept { return port_; }

private:
    int fd_ = -1;
    std::uint16_t port_ = 0;
    std::vector<int> waiting_;
};

/// "HTTP/1.1 200 OK" with this body and its length, and more fields if given ("Name: value\r\n").
std::string ok_response(const std::string& body, const std::string& fields = std::string());

}  // namespace support

#endif
