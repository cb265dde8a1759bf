// SPDX-License-Identifier: BSL-1.0
#include <reactor/promise.hpp>

#include <reactor/context.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

using reactor::AnyPromise;
using reactor::CancelledError;
using reactor::DoneKey;
using reactor::EventLoop;
using reactor::InvalidStateError;
using reactor::Promise;
using reactor::Report;
using reactor::StateError;

namespace {

struct Fixture {
    Fixture() {
        loop.set_exception_handler(
            [this](EventLoop&, const Report& report) { reports.push_back(report); });
    }
    void turn() { loop.run_once(reactor::Duration::zero()); }

    std::vector<Report> reports;
    std::string order;
    EventLoop loop;
};

struct Legacy {
    std::vector<int> seen;
    void on_page(int tag, const Promise<int>& done) { seen.push_back(tag + done.result()); }
    void on_void(Promise<void> done) {
        done.result();
        seen.push_back(-1);
    }
};

template <class X, class F>
bool same_error(const F& f, const std::exception_ptr& expected) {
    try {
        f();
    } catch (const X&) {
        return std::current_exception() == expected;
    }
    return false;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(promises, Fixture)

BOOST_AUTO_TEST_CASE(a_new_promise_has_no_outcome_and_a_value_can_be_read_twice) {
    const auto p = loop.create_promise<int>();
    BOOST_TEST(!p.done());
    BOOST_TEST(!p.cancelled());
    BOOST_CHECK_THROW(p.result(), InvalidStateError);
    BOOST_CHECK_THROW(p.exception(), InvalidStateError);
    BOOST_CHECK_THROW(p.error(), InvalidStateError);
    p.set_result(42);
    BOOST_TEST(p.done());
    BOOST_TEST(!p.cancelled());
    BOOST_TEST(p.result() == 42);
    BOOST_TEST(p.result() == 42);
    BOOST_TEST(!p.exception());
    BOOST_TEST(!p.error());
}

BOOST_AUTO_TEST_CASE(an_error_comes_out_as_the_same_object_each_time) {
    const auto p = loop.create_promise<int>();
    const std::exception_ptr e = std::make_exception_ptr(std::runtime_error("down"));
    p.set_exception(e);
    BOOST_TEST((p.exception() == e));
    BOOST_TEST((p.error() == e));
    BOOST_TEST(same_error<std::runtime_error>([&] { p.result(); }, e));
    BOOST_TEST(same_error<std::runtime_error>([&] { p.result(); }, e));
    BOOST_TEST(!p.cancelled());
    BOOST_CHECK_THROW(loop.create_promise<int>().set_exception(nullptr), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_second_outcome_is_refused_and_changes_nothing) {
    const auto value = loop.create_promise<int>();
    const auto failed = loop.create_promise<int>();
    const auto gone = loop.create_promise<int>();
    value.set_result(1);
    failed.set_exception(std::system_error(ECONNRESET, std::generic_category()));
    gone.cancel();
    for (const auto& p : {value, failed, gone}) {
        BOOST_CHECK_THROW(p.set_result(2), InvalidStateError);
        BOOST_CHECK_THROW(p.set_exception(std::logic_error("late")), InvalidStateError);
        BOOST_TEST(!p.cancel());
    }
    BOOST_TEST(value.result() == 1);
    BOOST_CHECK_THROW(failed.result(), std::system_error);
    BOOST_TEST(gone.cancelled());
}

BOOST_AUTO_TEST_CASE(cancel_takes_effect_at_once_and_carries_its_message) {
    const auto p = loop.create_promise<int>();
    BOOST_TEST(p.cancel("why"));
    BOOST_TEST(p.done());
    BOOST_TEST(p.cancelled());
    BOOST_CHECK_EXCEPTION(p.result(), CancelledError,
                          [](const CancelledError& e) { return e.message() == "why"; });
    BOOST_CHECK_THROW(p.exception(), CancelledError);
    BOOST_CHECK_THROW(std::rethrow_exception(p.error()), CancelledError);
    BOOST_TEST(!p.cancel());

    const auto plain = loop.create_promise<void>();
    plain.cancel();
    BOOST_CHECK_EXCEPTION(plain.result(), CancelledError,
                          [](const CancelledError& e) { return e.message().empty(); });
}

BOOST_AUTO_TEST_CASE(callbacks_join_the_queue_when_the_promise_is_done_in_order_of_adding) {
    const auto p = loop.create_promise<int>();
    const auto note = [&](char c) {
        return [this, c](const Promise<int>& done) {
            BOOST_TEST(done.done());
            order += c;
        };
    };
    p.add_done_callback(note('1'));
    p.add_done_callback(note('2'));
    loop.call_soon([&] { order += 'x'; });
    p.set_result(1);
    loop.call_soon([&] { order += 'y'; });
    BOOST_TEST(order.empty());
    turn();
    BOOST_TEST(order == "x12y");

    // On a done promise: not inside the call either.
    p.add_done_callback(note('c'));
    loop.call_soon([&] { order += 'y'; });
    BOOST_TEST(order == "x12y");
    turn();
    BOOST_TEST(order == "x12ycy");
}

BOOST_AUTO_TEST_CASE(a_key_may_name_several_callbacks_and_removal_keeps_the_others_order) {
    const auto p = loop.create_promise<int>();
    int first = 0;
    const DoneKey k1 = p.add_done_callback([&](const Promise<int>&) { ++first; });
    p.add_done_callback([&](const Promise<int>&) { order += 'a'; });
    for (int i = 0; i < 5; ++i) p.add_done_callback(k1, [&](const Promise<int>&) { ++first; });
    const DoneKey k2 = p.add_done_callback([&](const Promise<int>&) { order += 'b'; });
    BOOST_TEST((k1 != k2));
    BOOST_TEST(p.remove_done_callback(k1) == 6u);
    BOOST_TEST(p.remove_done_callback(k1) == 0u);
    BOOST_TEST(p.remove_done_callback(DoneKey()) == 0u);
    p.set_result(1);
    BOOST_TEST(p.remove_done_callback(k2) == 0u);  // queued: out of the promise's hands
    turn();
    BOOST_TEST(first == 0);
    BOOST_TEST(order == "ab");
}

BOOST_AUTO_TEST_CASE(a_callback_may_remove_and_add_others_of_its_own_promise) {
    const auto p = loop.create_promise<int>();
    DoneKey second;
    p.add_done_callback([&](const Promise<int>& done) {
        order += '1';
        BOOST_TEST(done.remove_done_callback(second) == 0u);
        done.add_done_callback([&](const Promise<int>&) { order += '3'; });
    });
    second = p.add_done_callback([&](const Promise<int>&) { order += '2'; });
    p.set_result(1);
    turn();
    BOOST_TEST(order == "12");
    turn();
    BOOST_TEST(order == "123");
}

BOOST_AUTO_TEST_CASE(a_throwing_callback_is_reported_and_harms_nobody) {
    const auto p = loop.create_promise<int>();
    p.add_done_callback([](const Promise<int>&) { throw std::runtime_error("bad"); });
    p.add_done_callback([&](const Promise<int>&) { order += '2'; });
    p.set_result(1);
    turn();
    BOOST_TEST(order == "2");
    BOOST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message.find("Exception in callback") == 0u);
    BOOST_TEST(p.result() == 1);
}

BOOST_AUTO_TEST_CASE(an_error_nobody_read_is_reported_once_when_the_promise_goes) {
    const std::exception_ptr e = std::make_exception_ptr(std::runtime_error("lost"));
    {
        const auto p = loop.create_promise<int>();
        const auto copy = p;
        p.add_done_callback([](const Promise<int>&) {});  // who ignores the error has not read it
        p.set_exception(e);
        turn();
        BOOST_TEST(reports.empty());
    }
    BOOST_REQUIRE(reports.size() == 1u);
    const std::string text = "exception was never retrieved";
    const std::string& message = reports[0].message;
    BOOST_TEST(message.substr(message.size() - text.size()) == text);
    BOOST_TEST((reports[0].exception == e));
    BOOST_TEST(reports[0].promise.find("promise_test.cpp:") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(nothing_is_reported_of_what_was_read_or_is_no_error) {
    const std::runtime_error e("read");
    {
        auto by_exception = loop.create_promise<int>();
        by_exception.set_exception(e);
        by_exception.exception();
        auto by_result = loop.create_promise<int>();
        by_result.set_exception(e);
        BOOST_CHECK_THROW(by_result.result(), std::runtime_error);
        BOOST_TEST(!by_result.cancel());
        loop.create_promise<int>();
        loop.create_promise<int>().cancel("m");
        loop.create_promise<int>().set_result(1);
    }
    BOOST_TEST(reports.empty());
}

BOOST_AUTO_TEST_CASE(a_closed_loop_keeps_outcomes_and_reports_but_takes_no_callbacks) {
    auto failed = loop.create_promise<int>();
    failed.set_exception(std::runtime_error("lost"));
    const auto pending = loop.create_promise<int>();
    bool ran = false;
    const auto capture = std::make_shared<int>(1);
    pending.add_done_callback([&ran, capture](const Promise<int>&) { ran = true; });
    loop.close();
    BOOST_TEST(capture.use_count() == 1);
    pending.set_result(5);
    BOOST_TEST(pending.result() == 5);
    BOOST_TEST(!ran);
    BOOST_CHECK_THROW(pending.add_done_callback([](const Promise<int>&) {}), StateError);
    BOOST_CHECK_THROW(pending.then([](int) {}), StateError);
    const auto late = loop.create_promise<int>();
    BOOST_TEST(late.cancel());
    BOOST_TEST(late.cancelled());
    BOOST_TEST(reports.empty());
    failed = Promise<int>();
    BOOST_TEST(reports.size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_empty_promise_answers_every_call_with_a_state_error) {
    const Promise<int> empty;
    BOOST_TEST(!empty);
    BOOST_CHECK_THROW(empty.done(), StateError);
    BOOST_CHECK_THROW(empty.cancelled(), StateError);
    BOOST_CHECK_THROW(empty.cancel(), StateError);
    BOOST_CHECK_THROW(empty.error(), StateError);
    BOOST_CHECK_THROW(empty.exception(), StateError);
    BOOST_CHECK_THROW(empty.result(), StateError);
    BOOST_CHECK_THROW(empty.take(), StateError);
    BOOST_CHECK_THROW(empty.set_result(1), StateError);
    BOOST_CHECK_THROW(empty.set_exception(std::runtime_error("")), StateError);
    BOOST_CHECK_THROW(empty.add_done_callback([](const Promise<int>&) {}), StateError);
    BOOST_CHECK_THROW(empty.remove_done_callback(DoneKey()), StateError);
    BOOST_CHECK_THROW(empty.then([](int) {}), StateError);
    BOOST_CHECK_THROW(empty.loop(), StateError);
    auto p = loop.create_promise<int>();
    const auto q = std::move(p);
    BOOST_TEST(bool(q));
    BOOST_CHECK_THROW(p.done(), StateError);
    BOOST_TEST(&q.loop() == &loop);
}

BOOST_AUTO_TEST_CASE(set_result_unless_cancelled_overlooks_a_cancelled_promise_only) {
    const auto pending = loop.create_promise<int>();
    const auto cancelled = loop.create_promise<int>();
    cancelled.cancel();
    reactor::set_result_unless_cancelled(pending, 7);
    reactor::set_result_unless_cancelled(cancelled, 7);
    BOOST_TEST(pending.result() == 7);
    BOOST_TEST(cancelled.cancelled());
    BOOST_CHECK_THROW(reactor::set_result_unless_cancelled(pending, 8), InvalidStateError);
}

BOOST_AUTO_TEST_CASE(take_moves_the_value_out_once) {
    const auto p = loop.create_promise<std::unique_ptr<int>>();
    p.set_result(new int(3));
    BOOST_TEST(*p.result() == 3);
    BOOST_TEST(*p.take() == 3);
    BOOST_CHECK_THROW(p.take(), InvalidStateError);
    BOOST_CHECK_THROW(p.result(), InvalidStateError);
    const auto v = loop.create_promise<void>();
    v.set_result();
    v.take();
}

BOOST_AUTO_TEST_CASE(a_value_whose_construction_fails_leaves_the_promise_pending) {
    struct Picky {
        explicit Picky(int n) {
            if (n < 0) throw std::out_of_range("negative");
        }
    };
    const auto p = loop.create_promise<Picky>();
    BOOST_CHECK_THROW(p.set_result(-1), std::out_of_range);
    BOOST_TEST(!p.done());
    p.set_result(1);
    BOOST_TEST(p.done());
}

BOOST_AUTO_TEST_CASE(callbacks_bind_members_references_and_move_only_arguments) {
    Legacy legacy;
    const auto p = loop.create_promise<int>();
    p.add_done_callback(&Legacy::on_page, &legacy, 10);
    p.add_done_callback(&Legacy::on_page, std::ref(legacy), 20);
    p.add_done_callback([&](const std::unique_ptr<int>& bound,
                            const Promise<int>&) { legacy.seen.push_back(*bound); },
                        std::unique_ptr<int>(new int(30)));
    const std::function<void(Promise<int>)> function = [&](Promise<int> done) {
        legacy.seen.push_back(done.result());
    };
    p.add_done_callback(function);
    p.add_done_callback(reactor::Options().label("any"),
                        [&](const AnyPromise& done) { BOOST_TEST((done == p)); });
    BOOST_CHECK_THROW(p.add_done_callback(std::function<void(Promise<int>)>()),
                      std::invalid_argument);
    const auto v = loop.create_promise<void>();
    v.add_done_callback(&Legacy::on_void, &legacy);
    p.set_result(1);
    v.set_result();
    turn();
    BOOST_TEST((legacy.seen == std::vector<int>{11, 21, 30, 1, -1}));
    BOOST_TEST(reports.empty());
}

BOOST_AUTO_TEST_CASE(callbacks_run_in_the_context_of_their_adding) {
    reactor::ContextVar<std::string> v("v");
    const auto p = loop.create_promise<int>();
    const auto note = [&](const Promise<int>&) { order += v.get() + " "; };
    v.set("add");
    p.add_done_callback(note);
    v.set("set");
    p.set_result(1);
    p.add_done_callback(note);
    reactor::Context own = reactor::copy_context();
    own.run([&] { v.set("own"); });
    p.add_done_callback(reactor::Options().context(own), note);
    v.set("later");
    turn();
    BOOST_TEST(order == "add set own ");
}

BOOST_AUTO_TEST_CASE(run_until_complete_gives_the_outcome) {
    const auto value = loop.create_promise<std::string>();
    const auto failed = loop.create_promise<int>();
    const auto cancelled = loop.create_promise<void>();
    const std::exception_ptr e = std::make_exception_ptr(std::runtime_error("down"));
    loop.call_soon([&] { value.set_result("found"); });
    BOOST_TEST(loop.run_until_complete(value) == "found");
    BOOST_TEST(value.result() == "found");
    loop.call_soon([&] { failed.set_exception(e); });
    BOOST_TEST(same_error<std::runtime_error>([&] { loop.run_until_complete(failed); }, e));
    loop.call_soon([&] { cancelled.cancel(); });
    BOOST_CHECK_THROW(loop.run_until_complete(cancelled), CancelledError);

    auto only = loop.create_promise<std::unique_ptr<int>>();
    only.set_result(new int(4));
    BOOST_TEST(*loop.run_until_complete(std::move(only)) == 4);
}

BOOST_AUTO_TEST_CASE(run_until_complete_of_a_done_promise_takes_one_iteration) {
    const auto p = loop.create_promise<int>();
    p.set_result(7);
    loop.call_soon([&] {
        order += 'A';
        loop.call_soon([&] { order += 'B'; });
    });
    BOOST_TEST(loop.run_until_complete(p) == 7);
    BOOST_TEST(order == "A");
    BOOST_TEST(loop.ready_count() == 1u);
}

BOOST_AUTO_TEST_CASE(a_run_that_ended_otherwise_leaves_no_hook_behind) {
    const auto p = loop.create_promise<int>();
    loop.call_soon([&] { loop.stop(); });
    BOOST_CHECK_THROW(loop.run_until_complete(p), StateError);
    BOOST_TEST(!p.done());
    loop.call_soon([&] {
        p.set_result(1);
        loop.call_later(std::chrono::milliseconds(1), [&] {
            order += 't';
            loop.stop();
        });
    });
    loop.run_forever();
    BOOST_TEST(order == "t");

    // The same for a promise whose hook was queued when another callback left the loop.
    const auto q = loop.create_promise<int>();
    q.add_done_callback([](const Promise<int>&) { throw reactor::LoopExit(3); });
    loop.call_soon([&] { q.set_result(1); });
    BOOST_CHECK_THROW(loop.run_until_complete(q), reactor::LoopExit);
    loop.call_soon([&] {
        loop.call_soon([&] {
            order += 'u';
            loop.stop();
        });
    });
    loop.run_forever();
    BOOST_TEST(order == "tu");
}

BOOST_AUTO_TEST_CASE(run_until_complete_refuses_what_cannot_end) {
    EventLoop other;
    BOOST_CHECK_THROW(loop.run_until_complete(other.create_promise<int>()), StateError);
    BOOST_CHECK_THROW(loop.run_until_complete(Promise<int>()), StateError);
    const auto p = loop.create_promise<int>();
    loop.close();
    BOOST_CHECK_THROW(loop.run_until_complete(p), StateError);
}

BOOST_AUTO_TEST_CASE(promises_compare_and_hash_by_identity) {
    const auto p = loop.create_promise<int>();
    const auto q = loop.create_promise<int>();
    const auto copy = p;
    BOOST_TEST((p == copy));
    BOOST_TEST((p != q));
    BOOST_TEST(std::hash<Promise<int>>()(p) == std::hash<Promise<int>>()(copy));
}

BOOST_AUTO_TEST_SUITE_END()
