// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <reactor/detail/descriptor_watch.hpp>

#include <test/support/refusing_loop.hpp>

using namespace support;
using reactor::Interest;
using reactor::detail::WatchTable;

// Some descriptors a selector that is made anew does not take. Nobody is let wait in silence.

namespace {

struct Anew : RefusingLoop {
    Anew() {
        loop.set_exception_handler([this](reactor::EventLoop&, const reactor::Report& report) {
            reports.push_back(report.text());
            if (on_report) on_report();
        });
    }
    ~Anew() { expected = 0; }

    bool reported(const std::string& part) const {
        for (const std::string& text : reports) {
            if (text.find(part) != std::string::npos) return true;
        }
        return false;
    }

    std::vector<std::string> reports;
    std::function<void()> on_report;
};

struct Owner {
    explicit Owner(reactor::EventLoop& l) noexcept : loop(l) {}
    reactor::detail::LoopCore& watch_core() const noexcept { return loop.core(); }
    void watch_ready(unsigned index) { said += "ready " + std::to_string(index) + ' '; }
    void watch_lost(unsigned index, const reactor::detail::WatchLoss& loss) noexcept {
        watch.stop();
        said += "lost " + std::to_string(index) + ' ';
        kind = loss.kind;
        code = loss.code;
    }

    reactor::EventLoop& loop;
    reactor::detail::DescriptorWatch<Owner> watch;
    std::string said;
    int kind = -1;
    int code = -1;
};

/// One that holds the number, and looks what it still has when it is told.
struct Holding final : Owner, reactor::detail::DescriptorHolder {
    using Owner::Owner;
    void number_taken(int n) noexcept override {
        said += "taken ";
        if (number == n) number = -1;
    }
    void number_lost(int n) noexcept override {
        watch.stop();
        said += "lost " + std::to_string(n) + ' ';
    }
    void hold(int n, WatchTable::Hold how = WatchTable::Hold::exclusive) {
        table = &static_cast<reactor::detail::LoopState&>(loop.core()).watches;
        number = n;
        table->hold("hold", n, *this, how);
    }
    void let_go() { table->let_go(number, *this); }

    WatchTable* table = nullptr;
    int number = -1;
};

std::string taken_report(int number) {
    return "Descriptor " + std::to_string(number) +
           " cannot be watched any more: its number is that of another file now";
}

const reactor::Options owned = reactor::Options().owned_descriptor();

}  // namespace

BOOST_AUTO_TEST_SUITE(lost_watch)

BOOST_AUTO_TEST_CASE(a_plain_reader_is_cancelled_and_its_descriptor_named) {
    Anew r;
    SocketPair lost, other;
    const reactor::Handle reader = r.loop.add_reader(lost.mine, [] {});
    const reactor::Handle writer = r.loop.add_writer(lost.mine, [] {});
    int ready = 0;
    r.loop.add_reader(other.mine, [&] { ++ready; });
    r.make_anew_and_refuse();
    BOOST_TEST(reader.cancelled());
    BOOST_TEST(writer.cancelled());
    BOOST_TEST(r.reports.size() == 1u);
    BOOST_TEST(r.reported("Descriptor " + std::to_string(lost.mine) +
                          " cannot be watched any more: scripted selector: "),
               r.reports.front());
    BOOST_TEST(r.reported("Cannot allocate memory"));
    BOOST_TEST(r.loop.watch_count() == 1u);
    r.selector->play({{other.mine, Interest::read}});
    r.loop.run_once(reactor::Duration::zero());
    BOOST_TEST(ready == 1);
    r.loop.add_reader(lost.mine, [] {});  // it may be tried again
    BOOST_TEST(r.loop.watch_count() == 2u);
}

// One who hears of a loss while others have yet to be told to the new selector.
BOOST_AUTO_TEST_CASE(the_handler_may_watch_and_remove_while_the_selector_is_filled) {
    Anew r;
    SocketPair lost, removed, kept, fresh;
    BOOST_REQUIRE(lost.mine < removed.mine);
    int ready = 0;
    r.loop.add_reader(lost.mine, [] {});
    r.loop.add_reader(removed.mine, [] { BOOST_ERROR("removed"); });
    r.loop.add_reader(kept.mine, [&] { ++ready; });
    r.on_report = [&] {
        r.loop.remove_reader(removed.mine);
        r.loop.add_reader(fresh.mine, [&] { ready += 10; });
    };
    r.make_anew_and_refuse();
    BOOST_TEST(r.reports.size() == 1u);
    BOOST_TEST(r.loop.watch_count() == 2u);
    r.selector->play({{kept.mine, Interest::read}, {fresh.mine, Interest::read}});
    r.loop.run_once(reactor::Duration::zero());
    BOOST_TEST(ready == 11);
}

BOOST_AUTO_TEST_CASE(a_loop_whose_wake_up_is_refused_says_so_and_looks_each_second) {
    Anew r;
    SocketPair other;
    int ready = 0;
    r.loop.add_reader(other.mine, [&] { ++ready; });
    r.make_anew_and_refuse(0);
    BOOST_TEST(r.reported("The loop's wake-up descriptor cannot be watched any more"));
    BOOST_TEST(r.reports.size() == 1u);
    r.selector->play({{other.mine, Interest::read}});
    r.loop.run_once(reactor::Duration::zero());
    BOOST_TEST(ready == 1);  // who was watched is watched
    const int wake_up = r.selector->changes().front().fd;
    BOOST_TEST(r.selector->changes().back().fd == wake_up);  // tried again, and taken

    r.loop.remove_reader(other.mine);
    r.make_anew_and_refuse(0, 5);  // at once, and in the three iterations that are left of five
    const std::size_t before = r.selector->changes().size();
    r.loop.run_once(hours(1));
    BOOST_TEST(r.selector->changes().size() == before);
    BOOST_TEST((r.selector->timeouts().back() == seconds(1)));
    r.loop.run_once(hours(1));
    BOOST_TEST(r.selector->changes().back().fd == wake_up);
    BOOST_TEST((r.selector->timeouts().back() == hours(1)));
    BOOST_TEST(r.reports.size() == 2u);  // once for each selector
}

BOOST_AUTO_TEST_CASE(an_owner_hears_why_once) {
    using reactor::detail::NodeKind;
    using reactor::detail::WatchLoss;
    Anew r;
    SocketPair pair;
    Owner owner(r.loop);
    owner.watch.start(r.loop, NodeKind::reader, owned, pair.mine, owner, 3);
    r.selector->play({{pair.mine, Interest::read}});
    r.loop.run_once(reactor::Duration::zero());
    BOOST_TEST(owner.said == "ready 3 ");
    r.make_anew_and_refuse();
    BOOST_TEST(owner.said == "ready 3 lost 3 ");
    BOOST_TEST(owner.kind == WatchLoss::refused);
    BOOST_TEST(owner.code == ENOMEM);
    BOOST_TEST(!owner.watch);

    owner.watch.start(r.loop, NodeKind::reader, owned, pair.mine, owner, 4);
    r.loop.add_reader(pair.mine, [] {});
    BOOST_TEST(owner.kind == WatchLoss::taken);
    r.loop.remove_reader(pair.mine);

    owner.watch.start(r.loop, NodeKind::reader, owned, pair.mine, owner);
    owner.said.clear();
    r.loop.close();  // no loss
    BOOST_TEST(owner.said == "");
    owner.watch.stop();
}

BOOST_AUTO_TEST_CASE(what_is_held_exclusively_is_nobody_elses) {
    using reactor::detail::NodeKind;
    using Watch = reactor::detail::DescriptorWatch<Owner>;
    Anew r;
    SocketPair pair;
    Holding holder(r.loop);
    holder.hold(pair.mine);
    BOOST_CHECK_THROW(r.loop.add_reader(pair.mine, [] {}), reactor::StateError);
    BOOST_CHECK_THROW(holder.watch.start(r.loop, NodeKind::reader, owned, pair.mine, holder),
                      reactor::StateError);
    holder.watch.start(r.loop, NodeKind::reader, owned, pair.mine, holder, 5, Watch::Number::ours);
    BOOST_CHECK_THROW(r.loop.add_reader(pair.mine, [] {}), reactor::StateError);
    holder.hold(pair.mine, WatchTable::Hold::shared);
    r.loop.add_writer(pair.mine, [] {});
    holder.hold(pair.mine);
    BOOST_CHECK_THROW(r.loop.remove_writer(pair.mine), reactor::StateError);
    holder.let_go();
    BOOST_TEST(r.loop.remove_writer(pair.mine));  // everybody's again
    BOOST_TEST(holder.said == "");
    BOOST_TEST(static_cast<bool>(holder.watch));
    holder.watch.stop();
    BOOST_CHECK_THROW(
        holder.watch.start(r.loop, NodeKind::reader, owned, -1, holder, 0, Watch::Number::ours),
        std::system_error);
}

// The number was closed behind the back of its holder, who knows at once and is told later.
REACTOR_LOOP_TEST(who_has_the_number_now_takes_it_over) {
    using reactor::detail::NodeKind;
    using Watch = reactor::detail::DescriptorWatch<Owner>;
    for (const bool watched : {true, false}) {
        SocketPair pair, other;
        const int number = pair.mine;
        Holding before(loop), now(loop);
        before.hold(number);
        if (watched) {
            before.watch.start(loop, NodeKind::writer, owned, number, before, 1,
                               Watch::Number::ours);
        }
        pair.close_mine();
        BOOST_TEST_REQUIRE(::dup(other.mine) == number);  // the lowest free one
        now.hold(number);
        BOOST_TEST(before.said == "taken ");
        BOOST_TEST(before.number == -1);
        now.watch.start(loop, NodeKind::reader, owned, number, now, 2, Watch::Number::ours);
        BOOST_TEST(before.said == "taken ");  // not inside of a call of somebody else's
        BOOST_TEST(loop.watch_count() == 1u);
        BOOST_CHECK_THROW(loop.add_reader(number, [] {}), reactor::StateError);
        loop.run_iterations(1);
        expect_report(taken_report(number));
        BOOST_TEST(before.said == "taken lost " + std::to_string(number) + ' ');
        BOOST_TEST(now.said == "");
        BOOST_TEST(::write(other.theirs, "x", 1) == 1);
        loop.run_iterations(2);
        BOOST_TEST(now.said.find("ready 2 ") == 0u);
        now.watch.stop();
        now.let_go();
        BOOST_TEST(loop.watch_count() == 0u);
        ::close(number);
    }
}

// Also one that nobody holds, and two losers of one number are two that have lost something.
REACTOR_LOOP_TEST(each_who_has_lost_a_number_is_told_in_its_turn) {
    using reactor::detail::NodeKind;
    SocketPair pair, second, third;
    const int number = pair.mine;
    const reactor::Handle plain = loop.add_reader(number, [] { BOOST_ERROR("read"); });
    Holding holder(loop), last(loop);
    BOOST_REQUIRE(::dup3(second.mine, number, O_CLOEXEC) == number);
    holder.hold(number, WatchTable::Hold::shared);
    BOOST_TEST(!plain.cancelled());
    holder.watch.start(loop, NodeKind::reader, owned, number, holder, 1);
    BOOST_REQUIRE(::dup3(third.mine, number, O_CLOEXEC) == number);
    last.hold(number);
    BOOST_TEST(holder.said == "taken ");
    loop.run_iterations(1);
    BOOST_TEST(plain.cancelled());
    expect_report(taken_report(number));
    expect_report("Descriptor " + std::to_string(number) +
                  " cannot be watched any more: a socket or transport of this loop has its number");
    BOOST_TEST(holder.said == "taken lost " + std::to_string(number) + ' ');
    BOOST_TEST(last.said == "");
    BOOST_TEST(loop.watch_count() == 0u);
    last.let_go();
}

// It ends a watch of the one who has the number now, whose descriptor is not lost by that.
BOOST_AUTO_TEST_CASE(who_is_told_may_remove_the_watch_of_who_has_the_number_now) {
    using reactor::detail::NodeKind;
    using reactor::detail::WatchLoss;
    struct Meddling final : reactor::detail::DescriptorHolder {
        explicit Meddling(reactor::EventLoop& l) : loop(l) {}
        void number_taken(int) noexcept override {}
        void number_lost(int number) noexcept override { BOOST_TEST(loop.remove_reader(number)); }
        reactor::EventLoop& loop;
    };
    Anew r;
    SocketPair pair;
    WatchTable& table = static_cast<reactor::detail::LoopState&>(r.loop.core()).watches;
    Meddling before(r.loop);
    table.hold("hold", pair.mine, before, WatchTable::Hold::exclusive);
    Holding now(r.loop);
    now.hold(pair.mine, WatchTable::Hold::shared);
    now.watch.start(r.loop, NodeKind::reader, owned, pair.mine, now, 1);
    r.loop.run_once(reactor::Duration::zero());
    BOOST_TEST(now.said == "lost 1 ");
    BOOST_TEST(now.kind == WatchLoss::taken);
    table.let_go(pair.mine, before);
    now.let_go();
}

// What a handler changes while the selector is brought up to date is told to it in the next turn,
// which must not wait for an event.
BOOST_AUTO_TEST_CASE(the_loop_does_not_sleep_on_what_a_handler_has_changed) {
    Anew r;
    SocketPair pair, other;
    r.loop.add_reader(other.mine, [] {});
    r.loop.add_reader(pair.mine, [] {});
    r.loop.run_once(reactor::Duration::zero());
    r.loop.add_writer(pair.mine, [] {});
    r.selector->refuse_next_change(ENOMEM);
    r.on_report = [&] { r.loop.add_writer(other.mine, [] {}); };
    r.loop.run_once(hours(1));
    BOOST_TEST(r.reports.size() == 1u);
    BOOST_TEST((r.selector->timeouts().back() == seconds(0)));
    r.loop.run_once(hours(1));
    BOOST_TEST((r.selector->timeouts().back() == hours(1)));
    BOOST_TEST(r.selector->changes().back().fd == other.mine);

    // Nor on who has lost a number meanwhile.
    Holding first(r.loop), second(r.loop), third(r.loop);
    first.hold(pair.mine);
    second.hold(pair.mine);
    r.on_report = [&] {
        if (r.reports.size() == 2) third.hold(pair.mine);
    };
    r.loop.run_once(hours(1));
    BOOST_TEST(second.said == "taken ");
    BOOST_TEST((r.selector->timeouts().back() == seconds(0)));
    r.loop.run_once(hours(1));
    BOOST_TEST(second.said == "taken lost " + std::to_string(pair.mine) + ' ');
    BOOST_TEST((r.selector->timeouts().back() == hours(1)));
    third.let_go();
}

BOOST_AUTO_TEST_CASE(what_goes_with_a_lost_reader_may_watch_the_number_anew) {
    struct Guard {
        ~Guard() { f(); }
        std::function<void()> f;
    };
    Anew r;
    SocketPair lost;
    auto guard = std::make_shared<Guard>();
    guard->f = [&] { r.loop.add_writer(lost.mine, [] {}); };
    r.loop.add_reader(lost.mine, [guard] {});
    const std::weak_ptr<Guard> gone = guard;
    guard.reset();
    r.make_anew_and_refuse();
    BOOST_TEST(gone.expired());
    BOOST_TEST(r.loop.watch_count() == 1u);
    BOOST_TEST(r.loop.remove_writer(lost.mine));
}

// Who has let go meanwhile, or whose loop is closed, has nothing to be told.
BOOST_AUTO_TEST_CASE(who_has_lost_the_number_may_have_gone) {
    using reactor::detail::NodeKind;
    using Watch = reactor::detail::DescriptorWatch<Owner>;
    Anew r;
    SocketPair pair;
    Holding gone(r.loop), closed(r.loop), now(r.loop);
    gone.hold(pair.mine);
    gone.watch.start(r.loop, NodeKind::reader, owned, pair.mine, gone, 1, Watch::Number::ours);
    closed.hold(pair.mine);
    gone.let_go();
    gone.watch.stop();
    r.loop.run_once(reactor::Duration::zero());
    BOOST_TEST(gone.said == "taken ");
    BOOST_TEST(r.reports.empty());
    closed.watch.start(r.loop, NodeKind::reader, owned, pair.mine, closed, 2, Watch::Number::ours);
    now.hold(pair.mine);
    now.watch.start(r.loop, NodeKind::reader, owned, pair.mine, now, 3, Watch::Number::ours);
    r.loop.close();
    BOOST_TEST(closed.said == "taken ");
    BOOST_TEST(now.said == "");
    closed.watch.stop();
    closed.let_go();
    now.watch.stop();
}

// The same number, for another file, at once.
REACTOR_LOOP_TEST(an_owner_may_watch_the_number_again_while_it_is_told) {
    using reactor::detail::NodeKind;
    struct Renewing {
        reactor::detail::LoopCore& watch_core() const noexcept { return loop->core(); }
        void watch_ready(unsigned) { ++ready; }
        void watch_lost(unsigned, const reactor::detail::WatchLoss&) noexcept {
            watch.stop();
            const int fresh = ::dup(replacement);  // the lowest free number: that one
            BOOST_TEST(fresh == number);
            watch.start(*loop, NodeKind::reader, owned, fresh, *this);
        }
        reactor::EventLoop* loop;
        int replacement;
        int number;
        int ready = 0;
        reactor::detail::DescriptorWatch<Renewing> watch;
    };
    SocketPair pair, other;
    Renewing owner;
    owner.loop = &loop;
    owner.replacement = other.mine;
    owner.number = pair.mine;
    owner.watch.start(loop, NodeKind::reader, owned, pair.mine, owner);
    loop.run_iterations(1);
    const int number = pair.mine;
    pair.close_mine();
    if (forgets_what_is_closed(loop.selector_name())) {
        loop.add_urgent_reader(number, [] {});  // or it would never notice
    }
    loop.run_iterations(1);
    expect_report("Descriptor " + std::to_string(number));
    other.send();
    loop.run_iterations(2);
    BOOST_TEST(owner.ready == 2);
    owner.watch.stop();
    loop.forget_descriptor(number);
    ::close(number);
}

BOOST_AUTO_TEST_SUITE_END()
