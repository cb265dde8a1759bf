// SPDX-License-Identifier: BSL-1.0
#include <reactor/handle.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <utility>
#include <vector>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Handle;
using reactor::TimerHandle;

BOOST_AUTO_TEST_SUITE(law03_cancel)

REACTOR_LOOP_TEST(H_01_a_cancelled_callback_never_runs) {
    int logged = 0;
    loop.set_log([&logged](reactor::LogLevel, const std::string&) { ++logged; });
    Handle handle = loop.call_soon(say("B"));
    BOOST_TEST(!handle.cancelled());
    BOOST_TEST(handle.cancel());
    BOOST_TEST(handle.cancelled());
    BOOST_TEST(!handle.cancel());
    BOOST_TEST(handle.cancelled());
    loop.run_iterations(2);
    BOOST_TEST(heard() == "");

    Handle ran = loop.call_soon(say("ran"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "ran");
    BOOST_TEST(!ran.cancel());
    BOOST_TEST(!ran.cancelled());  // only where a cancel() returned true
    BOOST_TEST(logged == 0);
}

REACTOR_LOOP_TEST(H_02_cancel_reaches_into_the_running_batch) {
    Handle b;
    loop.call_soon([this, &b] {
        say("A")();
        BOOST_TEST(b.cancel());
    });
    b = loop.call_soon(say("B"));
    loop.call_soon(say("C"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "A C");
}

REACTOR_LOOP_TEST(H_03_a_callback_that_cancels_itself_keeps_its_captures_until_it_returns) {
    std::shared_ptr<int> owned = std::make_shared<int>(7);
    const std::weak_ptr<int> watching = owned;
    Handle self;
    self = loop.call_soon([&self, owned, this] {
        BOOST_TEST(!self.cancel());  // it runs: too late
        BOOST_TEST(*owned == 7);
        say("done")();
    });
    owned.reset();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "done");
    BOOST_TEST(watching.expired());
    BOOST_TEST(!self.cancelled());
}

REACTOR_LOOP_TEST(a_repeating_callback_can_cancel_its_next_run_from_inside) {
    SocketPair pair;
    pair.send();
    auto owned = std::make_shared<int>(7);
    const std::weak_ptr<int> watching = owned;
    Handle reader;
    reader = loop.add_reader(pair.mine, [&reader, owned] {
        BOOST_TEST(reader.cancel());
        BOOST_TEST(!reader.cancel());
        BOOST_TEST(*owned == 7);
    });
    TimerHandle ticker;
    ticker = loop.call_every(seconds(1), [&ticker, owned] {
        BOOST_TEST(ticker.cancel());
        BOOST_TEST(*owned == 7);
    });
    owned.reset();
    loop.run_for(seconds(5));
    BOOST_TEST(watching.expired());
    BOOST_TEST(reader.cancelled());
    BOOST_TEST(ticker.cancelled());
}

REACTOR_LOOP_TEST(H_04_captures_are_destroyed_by_cancel_not_at_the_deadline) {
    auto owned = std::make_shared<int>(7);
    TimerHandle timer = loop.call_later(seconds(1000), [owned] {});
    Handle soon = loop.call_soon([owned] {});
    BOOST_TEST(owned.use_count() == 3);
    BOOST_TEST(timer.cancel());
    BOOST_TEST(owned.use_count() == 2);
    BOOST_TEST(soon.cancel());
    BOOST_TEST(owned.use_count() == 1);
    loop.run_iterations(1);
}

REACTOR_LOOP_TEST(H_05_letting_a_handle_go_is_no_cancellation) {
    loop.call_soon(say("f"));
    loop.call_later(seconds(0), say("g"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "f g");
}

REACTOR_LOOP_TEST(H_07_a_due_timer_can_be_cancelled_by_an_earlier_one_of_the_batch) {
    TimerHandle b;
    loop.call_later(seconds(-2), [this, &b] {
        say("A")();
        BOOST_TEST(b.cancel());
    });
    b = loop.call_later(seconds(-1), say("B"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "A");
    BOOST_TEST(loop.core().timers.dead_entries() == 0u);
}

REACTOR_LOOP_TEST(IO_04_a_watch_that_is_ready_can_be_removed_by_another_of_the_batch) {
    SocketPair a;
    SocketPair b;
    a.send();
    b.send();
    std::vector<std::pair<int, bool>> calls;  // whose, and what its removal of the other said
    const auto run = [&](int fd) {
        const int other = fd == a.mine ? b.mine : a.mine;
        calls.emplace_back(fd, loop.remove_reader(other));
    };
    loop.add_reader(a.mine, run, a.mine);
    loop.add_reader(b.mine, run, b.mine);
    loop.run_iterations(1);
    BOOST_REQUIRE(calls.size() == 1u);
    BOOST_TEST(calls[0].second);
    BOOST_TEST(loop.watch_count() == 1u);
    loop.run_iterations(1);
    BOOST_REQUIRE(calls.size() == 2u);
    BOOST_TEST(calls[1].first == calls[0].first);  // the other one was not called at all
    BOOST_TEST(!calls[1].second);
    BOOST_TEST(loop.remove_reader(calls[0].first));
}

REACTOR_LOOP_TEST(IO_05_a_reader_can_remove_itself_and_is_not_called_again) {
    SocketPair pair;
    pair.send("abc");
    loop.add_reader(pair.mine, [this, &pair] {
        say(pair.receive(1))();
        BOOST_TEST(loop.remove_reader(pair.mine));
    });
    loop.run_iterations(3);
    BOOST_TEST(heard() == "a");
}

REACTOR_LOOP_TEST(A4_cancelled_timers_do_not_pile_up) {
    std::vector<TimerHandle> live;
    for (int i = 0; i < 100; ++i) live.push_back(loop.call_later(hours(2), [] {}));
    const auto owned = std::make_shared<int>(7);
    std::size_t most = 0;
    for (int i = 0; i < 500000; ++i) {
        TimerHandle timer = loop.call_later(hours(1), [owned] {});
        timer.cancel();
        if (owned.use_count() != 1) BOOST_FAIL("the capture outlived cancel()");
        most = std::max(most, loop.core().timers.entries());
    }
    BOOST_TEST(most <= 400u);
    // A deadline that is pulled nearer again and again leaves its old entries there, too.
    reactor::TimePoint when = loop.time() + hours(10);
    TimerHandle pulled = loop.call_at(when, [] {});
    for (int i = 0; i < 100000; ++i) {
        pulled.reschedule(when -= nanoseconds(1));
        most = std::max(most, loop.core().timers.entries());
    }
    BOOST_TEST(most <= 400u);
    pulled.cancel();
    for (TimerHandle& timer : live) timer.cancel();
}

REACTOR_LOOP_TEST(cancelling_is_safe_inside_the_destruction_of_captures) {
    // Each capture's destructor cancels the next one's handle, and asks about its own.
    struct Chain {
        Handle* own;
        Handle* next;
        int* count;
        ~Chain() {
            BOOST_TEST(!own->cancel());
            if (next) next->cancel();
            ++*count;
        }
    };
    int count = 0;
    Handle handles[3];
    for (int i = 0; i < 3; ++i) {
        std::shared_ptr<Chain> chain(
            new Chain{&handles[i], i < 2 ? &handles[i + 1] : nullptr, &count});
        handles[i] =
            i == 1 ? Handle(loop.call_later(seconds(1), [chain] {})) : loop.call_soon([chain] {});
    }
    BOOST_TEST(handles[0].cancel());
    BOOST_TEST(count == 3);
    loop.run_iterations(1);
}

BOOST_AUTO_TEST_SUITE_END()
