// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SUPPORT_REFUSING_LOOP_HPP
#define REACTOR_TEST_SUPPORT_REFUSING_LOOP_HPP

#include <reactor/testing.hpp>

#include <test/support/loop_test.hpp>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

namespace support {

/// Refuses some add()s after so many.
struct CountingSelector : reactor::testing::ScriptedSelector {
    using ScriptedSelector::ScriptedSelector;
    void add(int fd, unsigned interest, std::uint64_t token) override {
        if (no_memory) throw std::bad_alloc();
        if (refusals > 0 && refuse_after-- <= 0) {
            --refusals;
            refuse_next_change(ENOMEM);
        }
        ScriptedSelector::add(fd, interest, token);
    }
    int refuse_after = 0;
    int refusals = 0;
    bool no_memory = false;
};

/// A loop whose selector refuses the next descriptor, as the kernel does beyond
/// /proc/sys/fs/epoll/max_user_watches.
struct RefusingLoop {
    RefusingLoop() : selector(new CountingSelector(clock)), loop(own(selector), clock) {
        loop.set_exception_handler([this](reactor::EventLoop&, const reactor::Report& report) {
            if (expected == 0) BOOST_ERROR("reported: " << report.message);
            --expected;
            last_report = report.message;
        });
    }
    ~RefusingLoop() { BOOST_TEST(expected == 0); }
    static std::unique_ptr<reactor::Selector> own(reactor::testing::ScriptedSelector* selector) {
        return std::unique_ptr<reactor::Selector>(selector);
    }
    /// As the loop does to get rid of a descriptor that was closed while a duplicate keeps its
    /// file. Refused are so many, one after the other, that it watches after those others; its
    /// wake-up comes first.
    void make_anew_and_refuse(int others = 1, int refusals = 1) {
        SocketPair gone;
        loop.add_reader(gone.mine, [] {});
        loop.remove_reader(gone.mine);
        ++expected;
        for (int i = 0; i < 2; ++i) selector->play({{gone.mine, reactor::Interest::read}});
        selector->refuse_after = others;
        selector->refusals = refusals;
        for (int i = 0; i < 5; ++i) loop.run_once(reactor::Duration::zero());
    }
    void refuse() { selector->refuse_next_change(ENOSPC); }

    reactor::testing::VirtualClock clock;
    CountingSelector* selector;
    int expected = 0;  // reports
    std::string last_report;
    reactor::EventLoop loop;
};

inline bool begins(const std::string& text, const std::string& begin) {
    return text.compare(0, begin.size(), begin) == 0;
}

}  // namespace support

#endif
