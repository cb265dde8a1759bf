// SPDX-License-Identifier: BSL-1.0
#include <reactor/promise.hpp>

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::CancelledError;
using reactor::DoneKey;
using reactor::EventLoop;
using reactor::InvalidStateError;
using reactor::Promise;
using reactor::StateError;

namespace {

struct Fixture {
    std::string order;
    EventLoop loop;
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

std::string message_of(const Promise<int>& cancelled) {
    try {
        cancelled.result();
    } catch (const CancelledError& error) {
        return error.message();
    }
    return "not cancelled";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(promise)

REACTOR_LOOP_TEST(P_01_a_new_promise_has_no_outcome_and_a_value_can_be_read_twice) {
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

REACTOR_LOOP_TEST(P_02_an_error_comes_out_as_the_same_object_each_time) {
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

REACTOR_LOOP_TEST(P_03_a_second_outcome_is_refused_and_changes_nothing) {
    const auto value = loop.create_promise<int>();
    const auto failed = loop.create_promise<int>();
    const auto gone = loop.create_promise<int>();
    const std::exception_ptr e = std::make_exception_ptr(std::runtime_error("down"));
    value.set_result(1);
    failed.set_exception(e);
    gone.cancel("first");
    for (const auto& p : {value, failed, gone}) {
        BOOST_CHECK_THROW(p.set_result(2), InvalidStateError);
        BOOST_CHECK_THROW(p.set_exception(std::logic_error("late")), InvalidStateError);
        BOOST_TEST(!p.cancel("late"));
        BOOST_TEST(p.done());
    }
    BOOST_TEST(value.result() == 1);
    BOOST_TEST(!value.error());
    BOOST_TEST((failed.exception() == e));
    BOOST_TEST(!failed.cancelled());
    BOOST_TEST(gone.cancelled());
    BOOST_TEST(message_of(gone) == "first");
}

REACTOR_LOOP_TEST(P_04_cancel_takes_effect_at_once) {
    const auto p = loop.create_promise<int>();
    BOOST_TEST(p.cancel());
    BOOST_TEST(p.done());
    BOOST_TEST(p.cancelled());
    BOOST_CHECK_THROW(p.result(), CancelledError);
    BOOST_CHECK_THROW(p.exception(), CancelledError);
    BOOST_CHECK_THROW(std::rethrow_exception(p.error()), CancelledError);
    BOOST_TEST(!p.cancel());
}

REACTOR_LOOP_TEST(P_14_a_cancellation_carries_its_message_or_none) {
    const auto p = loop.create_promise<int>();
    p.cancel("why");
    BOOST_TEST(message_of(p) == "why");
    BOOST_TEST(message_of(p) == "why");
    const auto plain = loop.create_promise<int>();
    plain.cancel();
    BOOST_TEST(message_of(plain) == "");
}

REACTOR_LOOP_TEST(P_15_set_result_unless_cancelled_overlooks_a_cancelled_promise_only) {
    const auto pending = loop.create_promise<int>();
    const auto cancelled = loop.create_promise<int>();
    cancelled.cancel();
    reactor::set_result_unless_cancelled(pending, 7);
    reactor::set_result_unless_cancelled(cancelled, 7);
    BOOST_TEST(pending.result() == 7);
    BOOST_TEST(cancelled.cancelled());
    BOOST_CHECK_THROW(reactor::set_result_unless_cancelled(pending, 8), InvalidStateError);
    BOOST_TEST(pending.result() == 7);
    const auto failed = loop.create_promise<int>();
    failed.set_exception(std::runtime_error("down"));
    BOOST_CHECK_THROW(reactor::set_result_unless_cancelled(failed, 8), InvalidStateError);
    BOOST_CHECK_THROW(failed.result(), std::runtime_error);
}

BOOST_FIXTURE_TEST_CASE(an_empty_promise_answers_every_call_with_a_state_error, Fixture) {
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

BOOST_FIXTURE_TEST_CASE(take_moves_the_value_out_once, Fixture) {
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

BOOST_FIXTURE_TEST_CASE(a_value_whose_construction_fails_leaves_the_promise_pending, Fixture) {
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

BOOST_FIXTURE_TEST_CASE(run_until_complete_gives_the_outcome, Fixture) {
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

BOOST_FIXTURE_TEST_CASE(run_until_complete_of_a_done_promise_takes_one_iteration, Fixture) {
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

BOOST_FIXTURE_TEST_CASE(a_run_that_ended_otherwise_leaves_no_hook_behind, Fixture) {
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

BOOST_FIXTURE_TEST_CASE(run_until_complete_refuses_what_cannot_end, Fixture) {
    EventLoop other;
    BOOST_CHECK_THROW(loop.run_until_complete(other.create_promise<int>()), StateError);
    BOOST_CHECK_THROW(loop.run_until_complete(Promise<int>()), StateError);
    const auto p = loop.create_promise<int>();
    loop.close();
    BOOST_CHECK_THROW(loop.run_until_complete(p), StateError);
}

BOOST_FIXTURE_TEST_CASE(promises_compare_and_hash_by_identity, Fixture) {
    const auto p = loop.create_promise<int>();
    const auto q = loop.create_promise<int>();
    const auto copy = p;
    BOOST_TEST((p == copy));
    BOOST_TEST((p != q));
    BOOST_TEST(std::hash<Promise<int>>()(p) == std::hash<Promise<int>>()(copy));
}

BOOST_AUTO_TEST_SUITE_END()
