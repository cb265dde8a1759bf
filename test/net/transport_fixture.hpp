// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_TRANSPORT_FIXTURE_HPP
#define REACTOR_TEST_NET_TRANSPORT_FIXTURE_HPP

#include <boost/test/unit_test.hpp>

#include <net/transport.hpp>
#include <reactor/promise.hpp>

#include <test/support/loop_test.hpp>
#include <test/support/pattern.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

/// What tests of transports share: a protocol that writes down what it is told, and peers that are
/// plain descriptors.
namespace transports {

using reactor::Promise;
using reactor::StateError;
using reactor::net::ByteView;
using reactor::net::Endpoint;
using reactor::net::make_transport;
using reactor::net::Protocol;
using reactor::net::Transport;
using reactor::net::WriteLimits;
using reactor::testing::TestLoop;
using std::chrono::milliseconds;
using std::chrono::seconds;
using support::pattern;

/// What happens on one connection, and what to do then.
struct Course {
    std::string calls;  // "made data eof lost", data once for several in a row
    std::string bytes;
    std::size_t reads = 0;
    int lost = 0;
    int destroyed = 0;
    std::exception_ptr error;
    Transport transport;

    std::function<void()> on_made, on_data, on_pause, on_resume, on_lost;
    std::function<bool()> on_eof;

    void note(const std::string& call) {
        BOOST_TEST((lost == 0), call << " after connection_lost");
        const std::size_t last = calls.rfind(' ') + 1;
        if (call == "data" && calls.substr(last) == call) return;
        calls += (calls.empty() ? "" : " ") + call;
    }
    static void run(const std::function<void()>& hook) {
        if (hook) hook();
    }
    /// The code of the std::system_error that connection_lost() got; 0 for null.
    int code() const {
        try {
            if (error) std::rethrow_exception(error);
        } catch (const std::system_error& e) {
            return e.code().value();
        }
        return 0;
    }
    /// Its text; "" for null.
    std::string text() const {
        try {
            if (error) std::rethrow_exception(error);
        } catch (const std::exception& e) {
            return e.what();
        }
        return std::string();
    }
};

class Told : public Protocol {
public:
    explicit Told(Course& course) : course_(course) {}
    ~Told() override { ++course_.destroyed; }

    void connection_made(const Transport& transport) override {
        course_.note("made");
        course_.transport = transport;
        Course::run(course_.on_made);
    }
    void data_received(ByteView bytes) override {
        course_.note("data");
        ++course_.reads;
        course_.bytes += bytes.str();
        Course::run(course_.on_data);
    }
    bool eof_received() override {
        course_.note("eof");
        return course_.on_eof && course_.on_eof();
    }
    void connection_lost(std::exception_ptr error) override {
        course_.note("lost");
        course_.error = std::move(error);
        Course::run(course_.on_lost);
        ++course_.lost;
    }
    void pause_writing() override {
        course_.note("pause");
        Course::run(course_.on_pause);
    }
    void resume_writing() override {
        course_.note("resume");
        Course::run(course_.on_resume);
    }
    const char* protocol_name() const noexcept override { return "Told"; }

private:
    Course& course_;
};

inline std::unique_ptr<Protocol> told(Course& course) {
    return std::unique_ptr<Protocol>(new Told(course));
}

/// A descriptor that the test owns.
struct Descriptor {
    explicit Descriptor(int n = -1) : number(n) {}
    Descriptor(Descriptor&& other) noexcept : number(other.number) { other.number = -1; }
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number, other.number);
        return *this;
    }
    ~Descriptor() { close(); }
    void close() {
        if (number >= 0) ::close(number);
        number = -1;
    }
    int release() {
        const int given = number;
        number = -1;
        return given;
    }

    int number;
};

/// Two connected TCP sockets, which do not block.
struct TcpPair {
    TcpPair() {
        const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        ::sockaddr_in address = ::sockaddr_in();
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const bytes = reinterpret_cast<::sockaddr*>(&address);
        ::socklen_t size = sizeof address;
        BOOST_REQUIRE(::bind(listener.number, bytes, size) == 0);
        BOOST_REQUIRE(::listen(listener.number, 1) == 0);
        BOOST_REQUIRE(::getsockname(listener.number, bytes, &size) == 0);
        theirs.number = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        BOOST_REQUIRE(::connect(theirs.number, bytes, size) == 0);
        mine.number = ::accept4(listener.number, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        BOOST_REQUIRE(mine.number >= 0);
    }
    Descriptor mine, theirs;
};

/// Sends all of it, which must fit.
inline void put(int fd, const std::string& bytes) {
    BOOST_REQUIRE(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
                  static_cast<::ssize_t>(bytes.size()));
}

/// What there is at once, at most `most` bytes. `ended` tells of the end of the stream.
inline std::string take(int fd, std::size_t most = 1 << 20, bool* ended = nullptr) {
    std::string all;
    while (all.size() < most) {
        char part[16384];
        const ::ssize_t got =
            ::recv(fd, part, std::min(sizeof part, most - all.size()), MSG_DONTWAIT);
        if (got == 0 && ended) *ended = true;
        if (got <= 0) break;
        all.append(part, static_cast<std::size_t>(got));
    }
    return all;
}

inline int error_of_reading(int fd) {
    char part[1];
    return ::recv(fd, part, 1, MSG_DONTWAIT) < 0 ? errno : 0;
}

inline void shrink(int fd) {
    const int size = 4096;
    ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

inline bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

/// A transport with a protocol that records, and its peer: of a Unix socket pair, where nothing
/// takes time, or TCP.
struct Connection {
    enum Kind { unix_pair, tcp };

    explicit Connection(TestLoop& l, Kind kind = unix_pair) : loop(l) {
        l.selector().set_patience(seconds(10));
        if (kind == tcp) {
            TcpPair ends;
            mine = std::move(ends.mine);
            theirs = std::move(ends.theirs);
        } else {
            int fds[2];
            BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
            mine.number = fds[0];
            theirs.number = fds[1];
        }
    }
    ~Connection() {
        // A test that goes wrong must not spoil the others.
        if (course.transport && !course.lost) {
            course.transport.abort();
            loop.run_iterations(3);
        }
        // A descriptor that lingers waits for this.
        theirs.close();
        for (int i = 0; i < 100 && loop.watch_count() != 0; ++i) loop.run_iterations(1);
    }

    /// Makes the transport.
    Transport& open() {
        loop.run_until_complete(make_transport(loop, mine.number, told(course)));
        number = mine.release();
        return course.transport;
    }
    /// The same, with a socket that takes no more than a few kilobytes. (A tiny receive window of
    /// TCP would make it wait for acknowledgements.)
    Transport& open_narrow() {
        shrink(mine.number);
        return open();
    }
    /// Fills the socket, so that the transport has to keep what is written.
    void fill() {
        const std::string bytes(65536, 'f');
        const auto more = [&] {
            const ::ssize_t took =
                ::send(number, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (took > 0) filled += static_cast<std::size_t>(took);
            return took > 0;
        };
        while (more()) {
        }
        ::pollfd room = {number, POLLOUT, 0};
        while (::poll(&room, 1, 20) == 1 && more()) {
        }
    }
    /// Reads at the peer's, turning the loop, until `size` bytes have come.
    std::string drain(std::size_t size) {
        std::string all;
        for (int i = 0; i < 100000 && all.size() < size; ++i) {
            ::pollfd ready = {theirs.number, POLLIN, 0};
            ::poll(&ready, 1, 1);
            all += take(theirs.number, size - all.size());
            loop.run_iterations(1);
        }
        return all;
    }
    /// Reads to the end of the stream.
    std::string drain_to_end() {
        std::string all;
        bool ended = false;
        for (int i = 0; i < 100000 && !ended; ++i) {
            ::pollfd ready = {theirs.number, POLLIN, 0};
            ::poll(&ready, 1, 1);
            all += take(theirs.number, 1 << 20, &ended);
            loop.run_iterations(1);
        }
        BOOST_TEST(ended);
        return all;
    }
    /// Turns the loop until the connection is lost.
    void run_until_lost() {
        for (int i = 0; i < 1000 && !course.lost; ++i) {
            ::poll(nullptr, 0, i < 10 ? 0 : 1);
            loop.run_iterations(1);
        }
        BOOST_TEST(course.lost == 1);
    }
    void run_until(const std::function<bool()>& reached) {
        for (int i = 0; i < 10000 && !reached(); ++i) {
            ::poll(nullptr, 0, i < 10 ? 0 : 1);
            loop.run_iterations(1);
        }
        BOOST_TEST(reached());
    }

    TestLoop& loop;
    Descriptor mine, theirs;
    int number = -1;  // of the transport's descriptor
    std::size_t filled = 0;
    Course course;
};

}  // namespace transports

#endif
