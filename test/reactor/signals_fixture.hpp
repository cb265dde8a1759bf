// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_REACTOR_SIGNALS_FIXTURE_HPP
#define REACTOR_TEST_REACTOR_SIGNALS_FIXTURE_HPP

#include <reactor/signals.hpp>

#include <signal.h>

#include <string>

#include <test/support/loop_test.hpp>

namespace signals_test {

inline struct ::sigaction disposition(int signal) {
    struct ::sigaction now;
    BOOST_REQUIRE(::sigaction(signal, nullptr, &now) == 0);
    return now;
}
inline bool is_default(int signal) { return disposition(signal).sa_handler == SIG_DFL; }

inline void set_handler(int signal, void (*handler)(int)) {
    struct ::sigaction action = {};
    action.sa_handler = handler;
    BOOST_REQUIRE(::sigaction(signal, &action, nullptr) == 0);
}

/// A loop; at the end every disposition used here must be what it was.
struct Signals {
    explicit Signals(const std::string& selector = std::string())
        : loop(selector.empty() ? reactor::default_selector() : reactor::make_selector(selector)) {
        loop.set_exception_handler([](reactor::EventLoop&, const reactor::Report& report) {
            BOOST_ERROR("unexpected report: " + report.text());
        });
    }
    ~Signals() {
        loop.close();
        for (const int signal : {SIGALRM, SIGUSR1, SIGUSR2}) BOOST_TEST(is_default(signal));
    }
    void iterate(int count = 1) {
        while (count-- > 0) loop.run_once(reactor::Duration::zero());
    }
    reactor::EventLoop loop;
};

}  // namespace signals_test

#endif
