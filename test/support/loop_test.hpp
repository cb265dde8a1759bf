// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SUPPORT_LOOP_TEST_HPP
#define REACTOR_TEST_SUPPORT_LOOP_TEST_HPP

#include <boost/test/unit_test.hpp>

#include <reactor/testing.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <tuple>

/// What tests of the loop share: a test case that runs on every selector, in virtual time, and
/// must leave nothing behind; connected descriptors.
namespace support {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

struct OnEpoll {
    static const char* name() { return "epoll"; }
};
struct OnPoll {
    static const char* name() { return "poll"; }
};
struct OnSelect {
    static const char* name() { return "select"; }
};
struct OnIoUring {
    /// "epoll" where the system has no io_uring for us, which a line on standard error says once:
    /// that is what a program gets there.
    static const char* name();
};
using EverySelector = std::tuple<OnEpoll, OnPoll, OnSelect, OnIoUring>;

/// Whether the selector of that name forgets a closed descriptor silently, as epoll does.
bool forgets_what_is_closed(const std::string& selector);

/// Two connected stream sockets, which do not block.
struct SocketPair {
    SocketPair() {
        int fds[2];
        BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) ==
                      0);
        mine = fds[0];
        theirs = fds[1];
    }
    SocketPair(const SocketPair&) = delete;
    SocketPair& operator=(const SocketPair&) = delete;
    ~SocketPair() {
        close_mine();
        close_theirs();
    }

    void send(const std::string& bytes = "x") {
        BOOST_REQUIRE(::write(theirs, bytes.data(), bytes.size()) ==
                      static_cast<::ssize_t>(bytes.size()));
    }
    /// At most `most` bytes; empty if nothing is there or the peer has gone.
    std::string receive(std::size_t most = 100) {
        std::string bytes(most, '\0');
        const ::ssize_t got = ::read(mine, &bytes[0], most);
        bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        return bytes;
    }
    void close_mine() { close(mine); }
    void close_theirs() { close(theirs); }
    static void close(int& fd) {
        if (fd >= 0) ::close(fd);
        fd = -1;
    }

    int mine = -1;
    int theirs = -1;
};

struct LoopTest : reactor::testing::LoopFixture {
    using reactor::testing::LoopFixture::LoopFixture;

    /// A callback that writes `word` into `said`.
    struct Say {
        LoopTest* test;
        std::string word;
        void operator()() const { test->said += (test->said.empty() ? "" : " ") + word; }
    };
    Say say(const std::string& word) { return Say{this, word}; }

    /// What the callbacks have said since the last call, in order.
    std::string heard() {
        std::string words;
        words.swap(said);
        return words;
    }

    std::string said;
};

inline void on_another_thread(const std::function<void()>& f) { std::thread(f).join(); }

/// Registers a test case for each selector, named as those of BOOST_AUTO_TEST_CASE_TEMPLATE over
/// EverySelector, which take the compiler much longer.
struct OnEverySelector {
    OnEverySelector(void (*test)(const std::string& selector), const char* name, const char* file,
                    std::size_t line);
};

}  // namespace support

/// A test case for each selector: `loop`, say() and what else support::LoopTest has are there.
#define REACTOR_LOOP_TEST(case_name) REACTOR_LOOP_TEST_IN(support::LoopTest, case_name)

/// The same in another fixture, which is made with the selector's name.
#define REACTOR_LOOP_TEST_IN(fixture, case_name)                                            \
    struct case_name##_body : fixture {                                                     \
        explicit case_name##_body(const std::string& name) : fixture(name) {}               \
        void test();                                                                        \
    };                                                                                      \
    const ::support::OnEverySelector case_name##_cases(                                     \
        [](const std::string& selector) { case_name##_body(selector).test(); }, #case_name, \
        __FILE__, __LINE__);                                                                \
    void case_name##_body::test()

#endif
