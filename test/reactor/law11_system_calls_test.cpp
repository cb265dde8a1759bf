// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <test/support/loop_test.hpp>

#include "wakeup_writes.hpp"

using namespace support;
using reactor::Interest;
using reactor::Options;
using reactor::testing::ScriptedSelector;
using Change = ScriptedSelector::Change;

namespace {

struct Recorded {
    Recorded() : selector(new ScriptedSelector(clock)), loop(own(selector), clock) { changes(); }
    static std::unique_ptr<reactor::Selector> own(ScriptedSelector* selector) {
        return std::unique_ptr<reactor::Selector>(selector);
    }
    /// What the selector was told since the last call.
    std::vector<Change> changes() {
        std::vector<Change> fresh(selector->changes().begin() + static_cast<std::ptrdiff_t>(seen),
                                  selector->changes().end());
        seen = selector->changes().size();
        return fresh;
    }
    bool told(const std::vector<Change>& expected) { return changes() == expected; }
    void turn() { loop.run_once(seconds(0)); }

    reactor::testing::VirtualClock clock;
    ScriptedSelector* selector;
    reactor::EventLoop loop;
    std::size_t seen = 0;
};

void nothing() {}

constexpr unsigned both = Interest::read | Interest::write;

}  // namespace

BOOST_AUTO_TEST_SUITE(law11_system_calls)

BOOST_AUTO_TEST_CASE(the_first_registration_and_the_last_removal_happen_at_once) {
    Recorded r;
    SocketPair pair;
    const int fd = pair.mine;
    r.loop.add_reader(fd, nothing);
    BOOST_TEST(r.told({{Change::added, fd, Interest::read}}));
    r.turn();
    BOOST_TEST(r.told({}));
    r.loop.remove_reader(fd);
    BOOST_TEST(r.told({{Change::removed, fd, 0}}));
    r.turn();
    BOOST_TEST(r.told({}));
}

BOOST_AUTO_TEST_CASE(changes_in_between_reach_the_kernel_as_their_net_effect) {
    Recorded r;
    SocketPair pair;
    const int fd = pair.mine;
    r.loop.add_reader(fd, nothing);
    r.changes();
    for (int i = 0; i < 100; ++i) {
        r.loop.add_writer(fd, nothing);
        r.loop.remove_writer(fd);
    }
    r.turn();
    BOOST_TEST(r.told({}));
    for (int i = 0; i < 100; ++i) {
        r.loop.add_writer(fd, nothing);
        r.loop.add_urgent_reader(fd, nothing);
        r.loop.remove_urgent_reader(fd);
        r.loop.add_reader(fd, nothing);  // a replacement: the same interest
    }
    BOOST_TEST(r.told({}));
    r.turn();
    BOOST_TEST(r.told({{Change::modified, fd, both}}));
    for (int i = 0; i < 100; ++i) {
        r.loop.remove_writer(fd);
        r.loop.add_writer(fd, nothing);
    }
    r.turn();
    BOOST_TEST(r.told({}));
    r.loop.remove_reader(fd);
    r.turn();
    BOOST_TEST(r.told({{Change::modified, fd, Interest::write}}));
    r.loop.remove_writer(fd);
    BOOST_TEST(r.told({{Change::removed, fd, 0}}));
}

BOOST_AUTO_TEST_CASE(an_owned_descriptor_costs_nothing_while_its_interest_comes_and_goes) {
    Recorded r;
    SocketPair pair;
    const int fd = pair.mine;
    const Options owned = Options().owned_descriptor();
    r.loop.add_reader(owned, fd, nothing);
    BOOST_TEST(r.told({{Change::added, fd, Interest::read}}));  // the call throws what it says
    for (int i = 0; i < 10; ++i) {
        r.loop.remove_reader(fd);
        r.turn();
        r.loop.add_reader(owned, fd, nothing);
        r.turn();
    }
    BOOST_TEST(r.told({}));
    // The other interest comes and goes, and leaves the pausing one where it is.
    r.loop.remove_reader(fd);
    r.loop.add_writer(owned, fd, nothing);
    r.turn();
    BOOST_TEST(r.told({{Change::modified, fd, both}}));
    r.loop.remove_writer(fd);
    r.turn();
    BOOST_TEST(r.told({{Change::modified, fd, Interest::read}}));
    r.loop.forget_descriptor(fd);
    BOOST_TEST(r.told({{Change::removed, fd, 0}}));

    r.loop.add_reader(owned, fd, nothing);
    r.loop.forget_descriptor(fd);
    BOOST_TEST(r.told({{Change::added, fd, Interest::read}, {Change::removed, fd, 0}}));
}

// A chain of promises that reads, answers and reads again: meanwhile the next message comes.
BOOST_AUTO_TEST_CASE(messages_that_come_before_their_reader_is_back_cost_nothing) {
    Recorded r;
    SocketPair pair;
    const int fd = pair.mine;
    const Options owned = Options().owned_descriptor();
    r.loop.add_reader(owned, fd, nothing);
    r.changes();
    for (int message = 0; message < 10; ++message) {
        r.loop.remove_reader(fd);
        for (int i = 0; i < 3; ++i) {
            r.selector->play({{fd, Interest::read}});
            r.turn();
        }
        r.loop.add_reader(owned, fd, nothing);
        r.turn();
    }
    BOOST_TEST(r.told({}));
}

// Fault B3.
BOOST_AUTO_TEST_CASE(a_peer_that_floods_a_pausing_reader_wakes_the_loop_a_few_times_only) {
    Recorded r;
    SocketPair pair;
    const int fd = pair.mine;
    const Options owned = Options().owned_descriptor();
    for (int round = 0; round < 2; ++round) {
        r.loop.add_reader(owned, fd, nothing);
        r.loop.remove_reader(fd);
        r.changes();
        for (int i = 0; i < 4; ++i) {
            r.selector->play({{fd, Interest::read}});
            r.turn();
        }
        BOOST_TEST(r.told({}));
        r.turn();
        BOOST_TEST(r.told({{Change::removed, fd, 0}}));
    }
    // With a writer that waits the same, and the writer stays.
    r.loop.add_reader(owned, fd, nothing);
    r.loop.add_writer(owned, fd, nothing);
    r.turn();
    r.loop.remove_reader(fd);
    r.changes();
    for (int i = 0; i < 4; ++i) {
        r.selector->play({{fd, Interest::read}});
        r.turn();
    }
    BOOST_TEST(r.told({}));
    r.turn();
    BOOST_TEST(r.told({{Change::modified, fd, Interest::write}}));
}

BOOST_AUTO_TEST_CASE(who_does_not_own_a_descriptor_leaves_nothing_registered) {
    Recorded r;
    SocketPair pair;
    const int fd = pair.mine;
    r.loop.add_reader(Options().owned_descriptor(), fd, nothing);
    r.loop.remove_reader(fd);
    r.turn();
    r.changes();
    r.loop.add_reader(fd, nothing);
    BOOST_TEST(r.told({{Change::removed, fd, 0}, {Change::added, fd, Interest::read}}));
    r.loop.remove_reader(fd);
    BOOST_TEST(r.told({{Change::removed, fd, 0}}));
}

BOOST_AUTO_TEST_CASE(a_refused_change_loses_that_descriptor_only_and_is_reported) {
    Recorded r;
    SocketPair pair;
    SocketPair other;
    std::vector<std::string> reports;
    r.loop.set_exception_handler([&](reactor::EventLoop&, const reactor::Report& report) {
        reports.push_back(report.message);
        // A number far beyond the table: it grows while the changes are being made.
        const int high = ::fcntl(pair.theirs, F_DUPFD_CLOEXEC, 600);
        r.loop.add_reader(high, nothing);
        r.loop.remove_reader(high);
        ::close(high);
    });
    r.loop.add_reader(pair.mine, nothing);
    r.loop.add_reader(other.mine, nothing);
    r.loop.add_writer(pair.mine, nothing);
    r.loop.add_writer(other.mine, nothing);
    r.changes();
    r.selector->refuse_next_change(ENOMEM);
    r.turn();
    BOOST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].find("cannot be watched any more") != std::string::npos);
    BOOST_TEST(r.loop.watch_count() == 2u);
    BOOST_TEST((r.selector->changes().back() == Change{Change::modified, other.mine, both}));
}

BOOST_AUTO_TEST_CASE(one_wait_per_iteration_whatever_is_queued) {
    Recorded r;
    for (int i = 0; i < 100; ++i) r.loop.call_soon(nothing);
    r.turn();
    BOOST_TEST(r.selector->timeouts().size() == 1u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(one_wake_up_write_per_batch_of_posts, S, EverySelector) {
    reactor::EventLoop loop(reactor::make_selector(S::name()));
    wakeup_writes = 0;
    on_another_thread([&loop] {
        for (int i = 0; i < 100; ++i) loop.call_soon_threadsafe(nothing);
    });
    loop.run_once();
    BOOST_TEST(wakeup_writes == 0);  // the loop did not sleep

    // While it sleeps only the first one writes. It may wake up between two of them, and sleep
    // again: so they are made in one go, under the eyes of the loop's own thread.
    const reactor::Poster poster = loop.poster();
    loop.call_soon([&] {
        for (int i = 0; i < 100; ++i) poster.post(nothing);
    });
    loop.run_once();
    BOOST_TEST(wakeup_writes == 0);
    loop.run_once();

    std::thread later;
    int ran = 0;
    loop.call_soon([&] {
        later = std::thread([&] {
            std::this_thread::sleep_for(milliseconds(20));
            poster.post([&ran] { ++ran; });
        });
    });
    while (ran == 0) loop.run_once();
    later.join();
    BOOST_TEST(wakeup_writes <= 1);
}

BOOST_AUTO_TEST_SUITE_END()
