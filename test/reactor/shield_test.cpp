// SPDX-License-Identifier: BSL-1.0
#include <reactor/shield.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include <reactor/combinators.hpp>
#include <reactor/task.hpp>
#include <test/support/loop_test.hpp>

namespace {

using reactor::BrokenPromise;
using reactor::gather;
using reactor::Promise;
using reactor::shield;
using reactor::StateError;

bool has_callback(const reactor::AnyPromise& promise) {
    return reactor::detail::PromiseAccess::state(promise)->first != nullptr;
}

/// Waits for the shield of a promise.
class Shielded : public reactor::Task<int> {
public:
    explicit Shielded(Promise<int> promise) : promise_(std::move(promise)) {}

private:
    Next start() override { return await(shield(promise_), &Shielded::done); }
    Next done(int value) { return finish(value); }

    Promise<int> promise_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(shielding)

REACTOR_LOOP_TEST(SH_01_the_outcome_comes_through_one_iteration_later) {
    const auto a = loop.create_promise<int>();
    const auto b = loop.create_promise<int>();
    const auto c = loop.create_promise<int>();
    const auto outer_a = shield(a);
    const auto outer_b = shield(b);
    const auto outer_c = shield(c);
    const auto error = std::make_exception_ptr(std::runtime_error("b"));
    a.set_result(1);
    b.set_exception(error);
    c.cancel();
    BOOST_TEST(!outer_a.done());
    BOOST_TEST(!outer_b.done());
    BOOST_TEST(!outer_c.done());
    loop.run_iterations(1);
    BOOST_TEST(outer_a.result() == 1);
    BOOST_TEST((outer_b.error() == error));
    BOOST_TEST(outer_c.cancelled());
}

REACTOR_LOOP_TEST(SH_02_cancelling_it_leaves_what_is_shielded_alone) {
    const auto inner = loop.create_promise<int>();
    const auto outer = shield(inner);
    BOOST_TEST(outer.cancel("m"));
    BOOST_TEST(outer.cancelled());
    BOOST_TEST(!has_callback(inner));
    loop.run_iterations(2);
    BOOST_TEST(!inner.done());
    inner.set_result(1);
    loop.run_iterations(1);
    BOOST_TEST(inner.result() == 1);
    BOOST_TEST(outer.cancelled());

    // Nobody but the shield's callback holds the second one's promise.
    const auto other = loop.create_promise<int>();
    const auto follower = shield(other).then([] {});
    BOOST_TEST(follower.cancel());
    BOOST_TEST(!has_callback(other));
    loop.run_iterations(1);
    BOOST_TEST(follower.cancelled());
}

REACTOR_LOOP_TEST(SH_02_a_task_that_is_cancelled_ends_and_the_work_goes_on) {
    const auto inner = loop.create_promise<int>();
    const auto task = loop.create_task<Shielded>(inner);
    loop.run_iterations(1);
    BOOST_TEST(task.cancel());
    loop.run_until_idle();
    BOOST_TEST(task.cancelled());
    BOOST_TEST(!inner.done());
}

REACTOR_LOOP_TEST(SH_03_a_promise_that_is_done_is_returned_itself) {
    const auto value = loop.create_promise<int>();
    const auto failed = loop.create_promise<int>();
    value.set_result(1);
    failed.set_exception(std::runtime_error("f"));
    BOOST_TEST((shield(value) == value));
    BOOST_TEST((shield(failed) == failed));
    BOOST_CHECK_THROW(failed.result(), std::runtime_error);
}

REACTOR_LOOP_TEST(SH_04_an_error_that_meets_the_cancellation_was_meant_for_the_shield) {
    auto inner = loop.create_promise<int>();
    auto outer = shield(inner);
    inner.set_exception(std::runtime_error("late"));
    BOOST_TEST(outer.cancel());
    loop.run_iterations(2);
    BOOST_TEST(outer.cancelled());
    inner = Promise<int>();
    outer = Promise<int>();
    BOOST_TEST(take_reports().empty());

    // After a cancellation in time it is not: then it is reported as ever.
    inner = loop.create_promise<int>();
    BOOST_TEST(shield(inner).cancel());
    inner.set_exception(std::runtime_error("unread"));
    loop.run_iterations(1);
    inner = Promise<int>();
    expect_report("Promise exception was never retrieved");
}

REACTOR_LOOP_TEST(SH_05_inside_a_gather_and_around_one) {
    const auto x = loop.create_promise<int>();
    const auto y = loop.create_promise<int>();
    const auto outer_x = shield(x);
    const auto outer_y = shield(y);
    const auto gathered = gather(outer_x, outer_y);
    const auto inner = gather(x, y);
    const auto around = shield(inner);
    BOOST_TEST(gathered.cancel());
    BOOST_TEST(around.cancel());
    BOOST_TEST(outer_x.cancelled());
    BOOST_TEST(outer_y.cancelled());
    BOOST_TEST(around.cancelled());
    loop.run_iterations(2);
    BOOST_TEST(!x.done());
    BOOST_TEST(!y.done());
    BOOST_TEST(!inner.done());
    x.set_result(1);
    y.set_result(2);
    loop.run_iterations(1);
    BOOST_TEST((inner.result() == std::make_tuple(1, 2)));
    BOOST_CHECK_THROW(gathered.result(), reactor::CancelledError);
}

REACTOR_LOOP_TEST(values_are_moved_if_nobody_else_can_read_them) {
    auto inner = loop.create_promise<std::unique_ptr<int>>();
    const auto outer = shield(inner);
    int* const value = new int(5);
    inner.set_result(value);
    loop.run_iterations(1);
    BOOST_TEST(outer.result().get() == value);
    const auto nothing = loop.create_promise<void>();
    const auto done = shield(nothing);
    nothing.set_result();
    loop.run_iterations(1);
    BOOST_CHECK_NO_THROW(done.result());
}

REACTOR_LOOP_TEST(what_is_dropped_while_pending_breaks_it_and_a_closed_loop_leaves_nothing) {
    const std::size_t before = loop.core().live();
    {
        auto inner = loop.create_promise<int>();
        const auto outer = shield(inner);
        inner = Promise<int>();
        BOOST_CHECK_THROW(outer.result(), BrokenPromise);
        BOOST_CHECK_THROW(shield(Promise<int>()), StateError);
        const auto last = loop.create_promise<int>();
        auto of_last = shield(last);
        loop.close();
        BOOST_TEST(of_last.cancel() == !of_last.done());
        BOOST_CHECK_THROW(shield(last), StateError);
    }
    BOOST_TEST(loop.core().live() == before);
}

BOOST_AUTO_TEST_SUITE_END()
