// SPDX-License-Identifier: BSL-1.0
#include <reactor/inspect.hpp>

#include <boost/test/unit_test.hpp>

#include <reactor/as_completed.hpp>
#include <reactor/combinators.hpp>
#include <reactor/executor.hpp>
#include <reactor/runner.hpp>
#include <reactor/shield.hpp>
#include <reactor/signals.hpp>
#include <reactor/task.hpp>
#include <reactor/timeout.hpp>
#include <reactor/wait.hpp>

#include <signal.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Alive;
using reactor::EventLoop;
using reactor::Next;
using reactor::Options;
using reactor::Promise;
using reactor::StateError;
using reactor::Task;
using reactor::TimerHandle;
using reactor::Waiting;
using reactor::why_alive;
using Kind = reactor::Waiting::Kind;

namespace {

/// The place of a line of this file.
std::string here(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

void nothing() {}

/// Two promises that wait for each other.
struct Circle {
    explicit Circle(reactor::testing::TestLoop& loop) {
        auto first = loop.create_promise<void>();
        auto second = loop.create_promise<void>();
        a = first.then([this] { return b; }, reactor::Here("f", "a.cpp", 1));
        b = second.then([this] { return a; }, reactor::Here("f", "b.cpp", 2));
        first.set_result();
        second.set_result();
        loop.run_until_idle();
    }

    Promise<void> a;
    Promise<void> b;
};

}  // namespace

namespace inspected {

/// Waits in two states, one after the other.
class Fetch : public Task<int> {
public:
    Fetch(Promise<int> first, Promise<int> second, reactor::Duration limit = reactor::forever())
        : first_(std::move(first)), second_(std::move(second)), limit_(limit) {}

    static int connect_line;

private:
    Next start() override {
        if (limit_ != reactor::forever()) timeout_.enter(limit_);
        return connect();
    }
    Next connect() {
        connect_line = __LINE__ + 1;
        return await(std::move(first_), &Fetch::read);
    }
    Next read() { return await(std::move(second_), &Fetch::got); }
    Next got(int value) { return finish(value); }

    Promise<int> first_;
    Promise<int> second_;
    reactor::Duration limit_;
    reactor::Timeout timeout_;
};
int Fetch::connect_line = 0;

}  // namespace inspected

using inspected::Fetch;

BOOST_AUTO_TEST_SUITE(inspect)

REACTOR_LOOP_TEST(a_loop_without_work_waits_for_nothing) {
    BOOST_TEST(why_alive(loop).empty());
    BOOST_TEST(why_alive(loop).text() == "");
    loop.run_iterations(1);
    BOOST_TEST(why_alive(loop).empty());
    bool empty_inside = false;
    loop.call_soon([&] { empty_inside = why_alive().empty(); });
    loop.run_iterations(1);
    BOOST_TEST(empty_inside);
}

REACTOR_LOOP_TEST(callbacks_are_told_with_their_labels_or_types) {
    loop.call_soon(Options().label("first"), [] {});
    loop.call_soon(&nothing).cancel();  // keeps nothing alive
    loop.call_soon(&nothing);
    const Alive before = why_alive(loop);
    BOOST_TEST(before.text() ==
               "queued callback  first\n"
               "queued callback  void (*)()\n");
    loop.call_soon_threadsafe(Options().label("from a thread"), [] {});
    loop.poster().post(&nothing);
    const Alive alive = why_alive(loop);
    BOOST_TEST(alive.count(Kind::queued) == 2u);
    BOOST_TEST(alive.only({Kind::posted}).text() ==
               "posted callback  from a thread\n"
               "posted callback  void (*)()\n");
    loop.run_until_idle();
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(timers_are_told_by_deadline) {
    TimerHandle every = loop.call_every(Options().label("tick"), seconds(2), [] {});
    TimerHandle late = loop.call_later(Options().label("late"), milliseconds(3500), [] {});
    TimerHandle never = loop.call_later(Options().label("never"), reactor::forever(), [] {});
    TimerHandle now = loop.call_at(Options().label("now"), loop.time(), [] {});
    TimerHandle gone = loop.call_later(Options().label("gone"), seconds(1), [] {});
    gone.cancel();
    const Alive alive = why_alive(loop);
    BOOST_TEST(alive.text() ==
               "timer  now    due\n"
               "timer  tick   due in 2.000 s, every 2.000 s\n"
               "timer  late   due in 3.500 s\n"
               "timer  never  never due\n");
    BOOST_TEST((alive.entries[2].when == late.when()));
    for (TimerHandle* timer : {&every, &late, &never, &now}) timer->cancel();
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(a_ticker_is_told_inside_its_own_callback) {
    std::string inside;
    TimerHandle every = loop.call_every(Options().label("tick"), seconds(2), [&] {
        inside = why_alive(loop).text();
        every.cancel();
        inside += why_alive(loop).text();
    });
    loop.run_for(seconds(2));
    BOOST_TEST(inside == "timer  tick  due, every 2.000 s\n");
}

REACTOR_LOOP_TEST(watches_are_told_with_descriptor_place_and_age) {
    SocketPair pair;
    loop.add_reader(pair.mine, &nothing);
    loop.set_debug(true);
    const int line = __LINE__ + 1;
    loop.add_writer(Options().label("answers"), pair.mine, &nothing);
    loop.add_urgent_reader(pair.mine, &nothing);
    loop.clock().advance(milliseconds(1500));
    const Alive alive = why_alive(loop);
    const std::string fd = std::to_string(pair.mine);
    BOOST_TEST(alive.text() == "reader         void (*)()  descriptor " + fd +
                                   "\n"
                                   "writer         answers     descriptor " +
                                   fd + ", made at " + here(line) +
                                   ", 1.500 s old\n"
                                   "urgent reader  void (*)()  descriptor " +
                                   fd + ", 1.500 s old\n");
    BOOST_TEST(alive.entries[0].descriptor == pair.mine);
    // A replaced one leaves nothing of itself.
    loop.set_debug(false);
    loop.add_writer(pair.mine, &nothing);
    BOOST_TEST(why_alive(loop).only({Kind::writer}).text() ==
               "writer  void (*)()  descriptor " + fd + "\n");
    loop.forget_descriptor(pair.mine);
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(signal_handlers_are_told_and_not_the_wake_up_behind_them) {
    loop.add_signal_handler(SIGUSR1, &nothing);
    BOOST_TEST(why_alive(loop).text() == "signal handler  void (*)()  SIGUSR1\n");
    loop.remove_signal_handler(SIGUSR1);
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(a_promise_is_told_with_its_place_age_and_callbacks) {
    Promise<int> known = loop.create_promise<int>(reactor::Here("f", "kitchen.cpp", 7));
    loop.set_debug(true);
    Promise<int> aged = loop.create_promise<int>(reactor::Here("f", "kitchen.cpp", 8));
    aged.add_done_callback([](const Promise<int>&) {});
    loop.run_for(seconds(3));
    BOOST_TEST(why_alive(loop).text() ==
               "promise  with no callback, made at kitchen.cpp:7\n"
               "promise  with 1 callback, made at kitchen.cpp:8, 3.000 s old\n");
    aged.set_result(1);
    BOOST_TEST(why_alive(loop).count(Kind::promise) == 1u);
    BOOST_TEST(why_alive(loop).count(Kind::queued) == 1u);
    known = Promise<int>();
    loop.run_until_idle();
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(of_a_chain_the_end_is_told_with_what_it_waits_for) {
    Promise<int> root = loop.create_promise<int>(reactor::Here("f", "root.cpp", 1));
    Promise<int> end = root.then([](int value) { return value; }, reactor::Here("f", "a.cpp", 2));
    BOOST_TEST(why_alive(loop).text() ==
               "promise  then  waiting for promise made at root.cpp:1, with no callback, made at "
               "a.cpp:2\n");
    for (unsigned i = 3; i <= 10; ++i) {
        end = end.then([](int value) { return value; }, reactor::Here("f", "a.cpp", i));
    }
    BOOST_TEST(why_alive(loop).text() ==
               "promise  then  waiting for then made at a.cpp:9, then made at a.cpp:8, then made "
               "at a.cpp:7, 5 more, promise made at root.cpp:1, with no callback, made at "
               "a.cpp:10\n");
    root.set_result(1);
    loop.run_until_idle();
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(who_waits_for_parts_of_one_chain_tells_it_from_there) {
    const auto same = [](int value) { return value; };
    Promise<int> root = loop.create_promise<int>(reactor::Here("f", "root.cpp", 1));
    std::vector<Promise<int>> links{root};
    for (unsigned i = 1; i <= 6; ++i) {
        links.push_back(links.back().then(same, reactor::Here("f", "a.cpp", i)));
    }
    auto short_one = links[1].then(same, reactor::Here("f", "b.cpp", 1));
    auto middle = links[4].then(same, reactor::Here("f", "b.cpp", 2));
    auto long_one = links[6].then(same, reactor::Here("f", "b.cpp", 3));
    auto beside = links[6].then(same, reactor::Here("f", "b.cpp", 4));
    const Alive alive = why_alive(loop);
    BOOST_TEST_REQUIRE(alive.entries.size() == 4u);
    BOOST_TEST(alive.entries[0].awaits == "then made at a.cpp:1, promise made at root.cpp:1");
    BOOST_TEST(alive.entries[1].awaits ==
               "then made at a.cpp:4, then made at a.cpp:3, then made at a.cpp:2, 1 more, promise "
               "made at root.cpp:1");
    const std::string whole =
        "then made at a.cpp:6, then made at a.cpp:5, then made at a.cpp:4, 3 more, promise made at "
        "root.cpp:1";
    BOOST_TEST(alive.entries[2].awaits == whole);
    BOOST_TEST(alive.entries[3].awaits == whole);
    root.set_result(1);
    loop.run_until_idle();
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(who_waits_for_a_circle_from_outside_tells_it_as_well) {
    const Circle circle(loop);
    auto outside = circle.a.then([] {}, reactor::Here("f", "c.cpp", 3));
    auto beside = circle.a.then([] {}, reactor::Here("f", "d.cpp", 4));
    const Alive alive = why_alive(loop);
    BOOST_TEST_REQUIRE(alive.entries.size() == 2u);
    for (const Waiting& entry : alive.entries) {
        BOOST_TEST(entry.awaits ==
                   "then made at a.cpp:1, then made at b.cpp:2, and so on in a circle");
    }
}

REACTOR_LOOP_TEST(promises_that_wait_for_each_other_in_a_circle_are_told) {
    const Circle circle(loop);
    const Alive alive = why_alive(loop);
    BOOST_TEST(alive.text() ==
               "promise  then  waiting for then made at b.cpp:2, and so on in a circle, with 1 "
               "callback, made at a.cpp:1\n");
}

REACTOR_LOOP_TEST(a_long_chain_is_told_in_one_line) {
    Promise<int> root = loop.create_promise<int>();
    Promise<int> end = root;
    for (int i = 0; i < 100000; ++i) {
        end = end.then([](int value) { return value; });
    }
    const Alive alive = why_alive(loop);
    BOOST_TEST_REQUIRE(alive.entries.size() == 1u);
    BOOST_TEST(has(alive.text(), ", 99996 more, promise made at "));
    root.set_result(1);
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(a_task_is_told_with_its_state_and_what_it_awaits) {
    Promise<int> first = loop.create_promise<int>(reactor::Here("f", "first.cpp", 1));
    Promise<int> second = loop.create_promise<int>(reactor::Here("f", "second.cpp", 2));
    loop.set_debug(true);
    const int line = __LINE__ + 1;
    auto task = loop.create_task<Fetch>(Options().label("page"), first, second, seconds(9));
    const std::string made = ", made at " + here(line);
    BOOST_TEST(why_alive(loop).only({Kind::task}).text() ==
               "task  page (inspected::Fetch)  not started" + made + ", 0.000 s old\n");
    BOOST_TEST(why_alive(loop).only({Kind::queued}).text() == "queued callback  page\n");
    loop.run_for(seconds(1));
    const Alive alive = why_alive(loop);
    BOOST_TEST(alive.only({Kind::task}).text() ==
               "task  page (inspected::Fetch)  waiting in connect at " + here(Fetch::connect_line) +
                   " for promise made at first.cpp:1, time limit due in 8.000 s" + made +
                   ", 1.000 s old\n");
    BOOST_TEST(alive.entries[0].state == "connect");
    BOOST_TEST(alive.entries[0].awaits == "promise made at first.cpp:1");
    // The other promise is awaited by nobody yet; the timer is the limit's.
    BOOST_TEST(has(alive.only({Kind::promise}).text(), "made at second.cpp:2"));
    BOOST_TEST(alive.only({Kind::timer}).text() == "timer  Timeout  due in 8.000 s\n");
    first.set_result(1);
    BOOST_TEST(has(why_alive(loop).text(), "about to go on from connect at "));
    loop.run_until_idle();
    BOOST_TEST(has(why_alive(loop).text(), "waiting in read at "));
    second.set_result(2);
    loop.run_until_idle();
    BOOST_TEST(why_alive(loop).empty());
    BOOST_TEST(task.result() == 2);
}

REACTOR_LOOP_TEST(a_task_that_awaits_a_task_names_it_and_both_are_told) {
    Promise<int> root = loop.create_promise<int>(reactor::Here("f", "root.cpp", 1));
    auto inner = loop.create_task<Fetch>(Options().label("inner"), root, root);
    auto outer = loop.create_task<Fetch>(
        Options().label("outer"),
        inner.then([](int value) { return value; }, reactor::Here("f", "then.cpp", 2)), inner);
    loop.run_until_idle();
    const Alive alive = why_alive(loop);
    BOOST_TEST_REQUIRE(alive.entries.size() == 2u);
    BOOST_TEST(alive.entries[0].awaits == "promise made at root.cpp:1");
    BOOST_TEST(alive.entries[1].awaits == "then made at then.cpp:2, task inner (inspected::Fetch)");
    root.set_result(1);
    loop.run_until_idle();
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(combinators_say_what_they_are) {
    Promise<int> one = loop.create_promise<int>(reactor::Here("f", "one.cpp", 1));
    Promise<int> two = loop.create_promise<int>(reactor::Here("f", "two.cpp", 2));
    auto all = reactor::gather(one, two, two);
    auto limited = reactor::wait_for(one, seconds(5), reactor::Here("f", "limit.cpp", 3));
    auto nap = reactor::sleep(loop, seconds(4), reactor::Here("f", "nap.cpp", 4));
    BOOST_TEST(why_alive(loop).text() ==
               "promise            with 1 callback, made at two.cpp:2\n"
               "promise  gather    waiting for 3 of 3 promises, with no callback\n"
               "promise  wait_for  waiting for promise made at one.cpp:1, with no callback, made "
               "at limit.cpp:3\n"
               "promise  sleep     with no callback, made at nap.cpp:4\n"
               "timer    sleep     due in 4.000 s\n"
               "timer    wait_for  due in 5.000 s\n");
    one.set_result(1);
    loop.run_iterations(1);
    BOOST_TEST(has(why_alive(loop).text(), "waiting for 2 of 3 promises"));
    two.set_result(2);
    loop.run_until_idle();
    nap.cancel();
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(what_waits_for_some_of_many_says_for_how_many) {
    Promise<int> one = loop.create_promise<int>(reactor::Here("f", "one.cpp", 1));
    Promise<int> two = loop.create_promise<int>(reactor::Here("f", "two.cpp", 2));
    const std::vector<Promise<int>> both{one, two};
    auto all = reactor::wait(both, seconds(5));
    auto first = reactor::as_completed(both, seconds(6));
    auto shielded = reactor::shield(two);
    const std::string before = why_alive(loop).text();
    BOOST_TEST(has(before, "wait          waiting for 2 of 2 promises"));
    BOOST_TEST(has(before, "as_completed  waiting for 2 of 2 promises"));
    BOOST_TEST(has(before, "shield        waiting for promise made at two.cpp:2"));
    BOOST_TEST(has(before, "wait          due in 5.000 s"));
    BOOST_TEST(has(before, "as_completed  due in 6.000 s"));
    one.set_result(1);
    loop.run_iterations(1);
    BOOST_TEST(has(why_alive(loop).text(), "wait          waiting for 1 of 2 promises"));
    two.set_result(2);
    loop.run_until_idle();
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(what_several_wait_for_together_is_said_by_each) {
    std::vector<Promise<int>> all;
    for (int i = 0; i < 3; ++i) all.push_back(loop.create_promise<int>());
    auto ordered = reactor::as_completed(all);
    auto others = reactor::as_completed(std::vector<Promise<int>>{all[0]});
    auto limited = reactor::wait_for(reactor::gather(all), seconds(5));
    all[1].set_result(1);  // nobody has been told yet
    std::size_t of_three = 0;
    std::size_t of_one = 0;
    for (const Waiting& entry : why_alive(loop).entries) {
        if (entry.name == "as_completed" && entry.awaits == "2 of 3 promises") ++of_three;
        if (entry.name == "as_completed" && entry.awaits == "1 of 1 promises") ++of_one;
        if (entry.name == "wait_for" && entry.kind == Kind::promise) {
            BOOST_TEST(entry.awaits == "gather (2 of 3 pending)");
        }
    }
    BOOST_TEST(of_three == 3u);
    BOOST_TEST(of_one == 1u);
    for (int i : {0, 2}) all[static_cast<std::size_t>(i)].set_result(1);
    loop.run_until_idle();
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(jobs_say_whether_a_thread_has_taken_them) {
    struct Held final : reactor::Executor {
        void submit(reactor::Callback job) override { jobs.push_back(std::move(job)); }
        std::vector<reactor::Callback> jobs;
    } executor;
    struct Work {
        int operator()() const { return 4; }
    };
    auto job = reactor::run_in_executor(loop, executor, Work());
    BOOST_TEST(why_alive(loop).count(Kind::job) == 1u);
    const Waiting entry = why_alive(loop).entries[0];
    BOOST_TEST(has(entry.name, "Work"), entry.name);
    BOOST_TEST(!has(entry.name, "reactor::"), entry.name);
    BOOST_TEST(entry.status == "waiting for a thread");
    executor.jobs[0]();
    BOOST_TEST(why_alive(loop).entries[0].status == "running on a thread");
    BOOST_TEST(loop.run_until_complete(job) == 4);
    BOOST_TEST(why_alive(loop).empty());
}

REACTOR_LOOP_TEST(neither_the_run_call_nor_a_runner_lists_itself) {
    std::string inside;
    Promise<void> end = loop.create_promise<void>(reactor::Here("f", "end.cpp", 1));
    loop.call_soon([&] {
        inside = why_alive(loop).text();
        end.set_result();
        inside += why_alive(loop).text();
    });
    loop.run_until_complete(end);
    BOOST_TEST(inside == "promise  with no callback, made at end.cpp:1\n");
    reactor::Runner runner;  // with Ctrl-C handled
    const Alive alive = runner.run([](EventLoop& l) {
        Promise<Alive> told = l.create_promise<Alive>();
        l.call_soon([told] { told.set_result(why_alive()); });
        return told;
    });
    BOOST_TEST(alive.entries.size() == 1u, alive.text());
    BOOST_TEST(alive.count(Kind::task) == 1u);
}

REACTOR_LOOP_TEST(a_closed_loop_waits_for_nothing_and_a_long_list_is_cut) {
    for (int i = 0; i < 5; ++i) loop.call_later(Options().label("one"), seconds(i + 1), [] {});
    BOOST_TEST(why_alive(loop).text(2) ==
               "timer  one  due in 1.000 s\n"
               "timer  one  due in 2.000 s\n"
               "and 3 more\n");
    Promise<int> pending = loop.create_promise<int>();
    loop.close();
    BOOST_TEST(why_alive(loop).empty());
    BOOST_TEST(reactor::all_tasks(loop).empty());
}

REACTOR_LOOP_TEST(another_thread_is_refused_while_the_loop_runs) {
    std::vector<std::string> refusals;
    loop.call_soon([&] {
        on_another_thread([&] {
            for (void (*ask)(EventLoop&) :
                 {+[](EventLoop& l) { why_alive(l); }, +[](EventLoop& l) { reactor::all_tasks(l); },
                  +[](EventLoop& l) { reactor::task_states<Fetch>(l); }}) {
                try {
                    ask(loop);
                } catch (const StateError& error) {
                    refusals.push_back(error.what());
                }
            }
        });
    });
    loop.run_iterations(1);
    BOOST_TEST_REQUIRE(refusals.size() == 3u);
    BOOST_TEST(refusals[0].find("why_alive: ") == 0u);
    BOOST_TEST(refusals[1].find("all_tasks: ") == 0u);
    BOOST_TEST(refusals[2].find("task_states: ") == 0u);
}

REACTOR_LOOP_TEST(the_graph_of_a_class_shows_where_its_tasks_are) {
    Promise<int> first = loop.create_promise<int>();
    Promise<int> second = loop.create_promise<int>();
    loop.set_debug(true);
    auto a = loop.create_task<Fetch>(first, second);
    auto b = loop.create_task<Fetch>(first, second);
    auto c = loop.create_task<Fetch>(second, second);
    loop.run_until_idle();
    first.set_result(1);
    loop.run_until_idle();
    const std::map<std::string, std::size_t> expected = {{"connect", 1}, {"read", 2}};
    BOOST_TEST((reactor::task_states<Fetch>(loop) == expected));
    BOOST_TEST(reactor::state_graph<Fetch>(loop).dot("Fetch", reactor::task_states<Fetch>(loop)) ==
               "digraph \"Fetch\" {\n"
               "  \"connect\" [style=filled label=\"connect (1 now)\"];\n"
               "  \"read\" [style=filled label=\"read (2 now)\"];\n"
               "  \"connect\" -> \"read\" [label=2];\n"
               "}\n");
    second.set_result(2);
    loop.run_until_idle();
    BOOST_TEST(reactor::task_states<Fetch>(loop).empty());
}

BOOST_AUTO_TEST_SUITE_END()
