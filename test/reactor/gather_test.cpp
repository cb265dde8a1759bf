// SPDX-License-Identifier: BSL-1.0
#include <reactor/combinators.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gathering.hpp"
#include <test/support/loop_test.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::gather;
using reactor::gather_settled;
using reactor::Promise;
using reactor::StateError;
using reactor::Unit;

namespace {

const std::runtime_error down("down");

}  // namespace

BOOST_AUTO_TEST_SUITE(gathering)

REACTOR_LOOP_TEST_IN(Gathering, G_01_values_come_in_the_order_of_the_arguments) {
    const auto a = pending(), b = pending();
    const auto c = loop.create_promise<std::string>();
    const auto d = loop.create_promise<void>();
    const Promise<std::tuple<int, int, std::string, Unit>> all = gather(a, b, c, d);
    d.set_result();
    b.set_result(1);
    a.set_result(2);
    turn(2);
    BOOST_TEST(!all.done());
    c.set_result("3");
    turn();
    BOOST_TEST((all.result() == std::make_tuple(2, 1, std::string("3"), Unit())));

    std::vector<Promise<int>> many = {pending(), pending(), pending()};
    const auto list = gather(many);
    many[1].set_result(1);
    many[0].set_result(2);
    turn(2);
    BOOST_TEST(!list.done());
    many[2].set_result(3);
    turn();
    BOOST_TEST((list.result() == std::vector<int>{2, 1, 3}));
}

REACTOR_LOOP_TEST_IN(Gathering, G_02_a_gather_of_nothing_is_done_at_once_on_the_threads_loop) {
    reactor::set_event_loop(&loop);
    BOOST_TEST(gather().done());
    BOOST_TEST((gather().result() == std::tuple<>()));
    BOOST_TEST(&gather().loop() == &loop);
    BOOST_TEST(gather(std::vector<Promise<int>>()).result().empty());
    BOOST_TEST(gather_settled(std::vector<Promise<void>>()).result().empty());
    reactor::set_event_loop(nullptr);
}

REACTOR_LOOP_TEST_IN(Gathering, G_03_the_result_follows_its_last_child_by_one_iteration) {
    const auto a = pending(), b = pending();
    const auto all = gather(a, b);
    all.add_done_callback([&](const Promise<std::tuple<int, int>>&) { say("d")(); });
    b.set_result(2);
    turn(2);
    loop.call_soon([&] { a.set_result(1); });
    turn();
    BOOST_TEST(!all.done());
    turn();
    BOOST_TEST(all.done());
    BOOST_TEST(heard() == "");
    turn();
    BOOST_TEST(heard() == "d");
}

REACTOR_LOOP_TEST_IN(Gathering, G_04_the_first_failure_seen_is_the_results_and_the_others_go_on) {
    auto a = pending(), b = pending(), c = pending(), d = pending(), e = pending();
    int calls = 0;
    auto all = gather(std::vector<Promise<int>>{a, b, c, d, e});
    all.add_done_callback([&](const Promise<std::vector<int>>&) { ++calls; });
    const std::exception_ptr error = std::make_exception_ptr(down);
    a.set_result(1);
    b.set_exception(error);
    turn();
    BOOST_TEST(all.done());
    BOOST_TEST((all.error() == error));
    for (const auto& other : {c, d, e}) BOOST_TEST(!other.done());
    c.set_result(3);
    d.cancel();
    e.set_exception(down);
    turn(2);
    BOOST_TEST(calls == 1);
    BOOST_TEST((all.error() == error));
    a = b = c = d = e = Promise<int>();
    BOOST_TEST(take_reports().empty());

    // The result's own error is nobody's business but the one who holds it.
    auto f = pending();
    all = gather(std::vector<Promise<int>>{f});
    f.set_exception(down);
    turn();
    f = Promise<int>();
    BOOST_TEST(take_reports().empty());
    all = Promise<std::vector<int>>();
    BOOST_TEST(take_reports().size() == 1u);
}

REACTOR_LOOP_TEST_IN(Gathering, G_05_settled_waits_for_all_and_gives_the_promises_themselves) {
    const auto a = pending(), b = pending(), c = pending(), d = pending();
    const std::exception_ptr e1 = std::make_exception_ptr(down);
    const std::exception_ptr e2 = std::make_exception_ptr(std::logic_error("late"));
    const auto all = gather_settled(a, b, c, d);
    a.set_result(3);
    b.set_result(1);
    c.set_exception(e1);
    turn(2);
    BOOST_TEST(!all.done());
    d.set_exception(e2);
    turn();
    BOOST_TEST(!all.error());
    BOOST_TEST(std::get<0>(all.result()).result() == 3);
    BOOST_TEST(std::get<1>(all.result()).result() == 1);
    BOOST_TEST((std::get<2>(all.result()).error() == e1));
    BOOST_TEST((std::get<3>(all.result()).error() == e2));

    const auto cancelled = pending();
    const auto list = gather_settled(std::vector<Promise<int>>{cancelled, a});
    cancelled.cancel();
    turn();
    BOOST_TEST((list.result() == std::vector<Promise<int>>{cancelled, a}));
    BOOST_TEST(list.result()[0].cancelled());
}

REACTOR_LOOP_TEST_IN(Gathering, G_10_a_promise_given_twice_is_awaited_once) {
    const auto a = pending(), b = pending();
    const std::size_t nodes = loop.core().live();
    const auto all = gather(a, b, a);
    BOOST_TEST(loop.core().live() == nodes + 3);  // the result, and one callback for each
    a.set_result(1);
    b.set_result(2);
    turn();
    BOOST_TEST((all.result() == std::make_tuple(1, 2, 1)));

    auto moved = loop.create_promise<std::string>();
    const auto twice = gather(moved, moved);
    moved.set_result(std::string(50, 'x'));
    moved = Promise<std::string>();
    turn();
    BOOST_TEST((std::get<0>(twice.result()) == std::get<1>(twice.result())));
    BOOST_TEST(std::get<1>(twice.result()).size() == 50u);
}

REACTOR_LOOP_TEST_IN(Gathering, G_11_children_of_two_loops_are_refused_and_go_on_undisturbed) {
    EventLoop other(reactor::make_selector(loop.selector_name()));
    const auto x = pending(), z = pending();
    const auto y = other.create_promise<int>();
    const std::size_t nodes = loop.core().live();
    BOOST_CHECK_THROW(gather(x, y), std::invalid_argument);
    BOOST_CHECK_THROW(gather(z, y), std::invalid_argument);
    BOOST_CHECK_THROW(gather(x, Promise<int>()), StateError);
    BOOST_TEST(loop.core().live() == nodes);
    x.set_result(1);
    z.set_exception(down);
    turn(2);
    BOOST_TEST(take_reports().empty());
    BOOST_CHECK_THROW(z.result(), std::runtime_error);
    loop.close();
    BOOST_CHECK_THROW(gather(x), StateError);
}

REACTOR_LOOP_TEST_IN(Gathering, G_12_children_that_are_done_are_taken_at_the_call) {
    const auto a = pending(), b = pending(), c = pending();
    a.set_result(1);
    b.set_result(2);
    BOOST_TEST((gather(a, b).result() == std::make_tuple(1, 2)));
    const auto failed = pending();
    failed.set_exception(down);
    for (const bool first : {false, true}) {
        const auto all = first ? gather(failed, c) : gather(c, failed);
        BOOST_TEST(all.done());
        BOOST_CHECK_THROW(all.result(), std::runtime_error);
    }
    BOOST_TEST(!c.done());
}

BOOST_AUTO_TEST_SUITE_END()
