// SPDX-License-Identifier: BSL-1.0
#include <reactor/promise.hpp>

#include <boost/test/unit_test.hpp>

#include <reactor/combinators.hpp>

#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <test/support/allocations.hpp>

using reactor::BrokenPromise;
using reactor::DoneKey;
using reactor::EventLoop;
using reactor::Promise;
using reactor::Report;

namespace {

struct Fixture {
    Fixture() {
        loop.set_exception_handler(
            [this](EventLoop&, const Report& report) { reports.push_back(report); });
    }
    void turn() { loop.run_once(reactor::Duration::zero()); }

    std::vector<Report> reports;
    EventLoop loop;
};

constexpr int long_chain = 300000;

Promise<int> chain(Promise<int> p) {
    for (int i = 0; i < long_chain; ++i) p = p.then([](int n) { return n + 1; });
    return p;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lives, Fixture)

BOOST_AUTO_TEST_CASE(what_a_callback_captured_goes_with_the_terminal_event) {
    std::weak_ptr<int> completed, cancelled, removed, dropped, abandoned;
    {
        EventLoop own;
        const auto self_capturing = [&own](std::weak_ptr<int>& out) {
            const auto capture = std::make_shared<int>(1);
            out = capture;
            auto p = own.create_promise<int>();
            p.add_done_callback([p, capture](const Promise<int>&) {});
            return p;
        };
        self_capturing(completed).set_result(1);
        self_capturing(cancelled).cancel();
        self_capturing(abandoned);
        own.run_once(reactor::Duration::zero());
        BOOST_TEST(completed.expired());
        BOOST_TEST(cancelled.expired());
        BOOST_TEST(!abandoned.expired());  // a cycle that close() breaks

        auto p = own.create_promise<int>();
        auto capture = std::make_shared<int>(1);
        removed = capture;
        const DoneKey key = p.add_done_callback([capture](const Promise<int>&) {});
        capture.reset();
        p.remove_done_callback(key);
        BOOST_TEST(removed.expired());

        capture = std::make_shared<int>(2);
        dropped = capture;
        p.add_done_callback([capture](const Promise<int>&) {});
        capture.reset();
        p = Promise<int>();
        BOOST_TEST(dropped.expired());
    }
    BOOST_TEST(abandoned.expired());
}

BOOST_AUTO_TEST_CASE(a_queued_callback_keeps_its_promise_and_nobody_else_has_to) {
    int seen = 0;
    {
        const auto p = loop.create_promise<int>();
        p.then([](int n) { return n + 1; }).add_done_callback([&](const Promise<int>& done) {
            seen = done.result();
        });
        p.set_result(1);
    }
    turn();
    turn();
    BOOST_TEST(seen == 2);
}

BOOST_AUTO_TEST_CASE(long_chains_need_no_stack) {
    const auto p = loop.create_promise<int>();
    const auto end = chain(p);
    p.set_result(0);
    BOOST_TEST(loop.run_until_complete(end) == long_chain);

    const auto cancelled = chain(loop.create_promise<int>());
    // The source is held by nobody: it broke the first link, and so on. Hence one that is held:
    const auto source = loop.create_promise<int>();
    const auto held = chain(source);
    BOOST_TEST(held.cancel());
    BOOST_TEST(source.cancelled());
    BOOST_CHECK_THROW(loop.run_until_complete(held), reactor::CancelledError);
    BOOST_CHECK_THROW(cancelled.result(), BrokenPromise);

    { const auto dropped = chain(loop.create_promise<int>()); }
    const auto wide = loop.create_promise<int>();
    for (int i = 0; i < long_chain; ++i) wide.then([](int n) { return n; });
}

BOOST_AUTO_TEST_CASE(long_chains_need_no_stack_when_the_loop_closes) {
    std::vector<Promise<int>> all;
    {
        EventLoop own;
        own.set_exception_handler([](EventLoop&, const Report&) { BOOST_ERROR("reported"); });
        // Every link is held, so each breaks the next one: from the first, whose callback is in the
        // queue that close() drops.
        all.push_back(own.create_promise<int>());
        for (int i = 0; i < long_chain; ++i) {
            all.push_back(all.back().then([](int n) { return n; }));
        }
        all.front().set_result(1);
        all.push_back(own.create_promise<int>());
        all.push_back(all.back().then([](int n) { return n; }));
    }
    BOOST_TEST(all.front().result() == 1);
    BOOST_CHECK_THROW(all[1].result(), BrokenPromise);
    BOOST_CHECK_THROW(all[long_chain].result(), BrokenPromise);
    BOOST_TEST(!all[long_chain + 1].done());
    BOOST_CHECK_THROW(all.back().result(), BrokenPromise);
}

BOOST_AUTO_TEST_CASE(a_promise_outlives_its_loop) {
    Promise<std::string> done, pending, moved;
    Promise<int> failed;
    {
        EventLoop own;
        done = own.create_promise<std::string>();
        own.call_soon([&] { done.set_result(std::string(100, 'x')); });
        own.run_until_complete(done);
        pending = own.create_promise<std::string>();
        pending.add_done_callback([](const Promise<std::string>&) { BOOST_ERROR("ran"); });
        failed = own.create_promise<int>();
        failed.set_exception(std::runtime_error("read below"));
    }
    const auto copy = done;
    BOOST_TEST(copy.result().size() == 100u);
    BOOST_CHECK_THROW(done.loop(), reactor::StateError);
    BOOST_TEST(!pending.done());
    pending.set_result("late");
    BOOST_TEST(pending.result() == "late");
    BOOST_TEST(bool(failed.error()));
    BOOST_CHECK_THROW(done.then([] {}), reactor::StateError);
}

BOOST_AUTO_TEST_CASE(callbacks_that_were_emptied_leave_no_reference_and_no_node_behind) {
    // As a Scope does it: the callable goes, the node stays in the promise's list for a while.
    struct Count {
        int* ran;
        void operator()(const Promise<int>&) { ++*ran; }
    };
    using Callable = reactor::detail::OnDone<Promise<int>, Count>;
    int ran = 0;
    for (const bool complete : {true, false}) {
        const std::size_t before = loop.core().live();
        {
            const auto p = loop.create_promise<int>();
            reactor::detail::PromiseState& state = *reactor::detail::PromiseAccess::state(p);
            for (int i = 0; i < 1000; ++i) {
                reactor::Handle handle = reactor::detail::HandleAccess::handle(
                    reactor::detail::attach_done<Callable>(state, 7, nullptr, &state, Count{&ran}));
                BOOST_TEST(handle.cancel());
            }
            // Swept by the next registration: not one node for each scope that came and went.
            BOOST_TEST(loop.core().live() <= before + 3);
            p.add_done_callback(Count{&ran});
            DoneKey seven;
            seven.id = 7;
            BOOST_TEST(p.remove_done_callback(seven) == 0u);
            reactor::detail::HandleAccess::handle(
                reactor::detail::attach_done<Callable>(state, 7, nullptr, &state, Count{&ran}))
                .cancel();
            if (complete) p.set_result(1);
            turn();
        }
        BOOST_TEST(loop.core().live() == before);
    }
    BOOST_TEST(ran == 1);
}

BOOST_AUTO_TEST_CASE(the_steady_state_allocates_nothing) {
    if (!reactor::detail::pooling_wanted()) return;
    int sum = 0;
    const auto round = [&] {
        const auto p = loop.create_promise<int>();
        p.add_done_callback([&](const Promise<int>& done) { sum += done.result(); });
        const auto q =
            p.then([](int n) { return n + 1; }).except([](const std::exception&) { return 0; });
        const auto r = loop.create_promise<int>();
        r.then([](int) {}).cancel();
        p.set_result(1);
        for (int i = 0; i < 3; ++i) turn();
        sum += q.result();
    };
    for (int i = 0; i < 10; ++i) round();
    const long before = support::allocation_count();
    for (int i = 0; i < 1000; ++i) round();
    // cancel() through a chain of two notes the way in a vector: the one allocation of a round.
    BOOST_TEST(support::allocation_count() - before <= 1000);
    const long between = support::allocation_count();
    for (int i = 0; i < 1000; ++i) {
        const auto p = loop.create_promise<int>();
        p.add_done_callback([&](const Promise<int>& done) { sum += done.result(); });
        p.then([](int n) { return n + 1; });
        p.set_result(1);
        turn();
    }
    BOOST_TEST(support::allocation_count() == between);
    BOOST_TEST(sum == 3 * 1010 + 1000);
}

/// The destructor of what a continuation captured cancels another one.
class Canceller {
public:
    explicit Canceller(Promise<int>* other) : other_(other) {}
    Canceller(Canceller&& other) noexcept : other_(other.other_) { other.other_ = nullptr; }
    ~Canceller() {
        if (other_) BOOST_TEST(other_->cancel());
    }
    int operator()(int n) { return n; }

private:
    Promise<int>* other_;
};

BOOST_FIXTURE_TEST_CASE(while_a_promise_goes_what_follows_it_may_be_cancelled, Fixture) {
    Promise<int> source = loop.create_promise<int>();
    Promise<int> second;
    const Promise<int> first = source.then(Canceller(&second));
    second = source.then([](int n) { return n; });
    const auto all = reactor::gather(source);
    source = Promise<int>();
    turn();
    BOOST_TEST(second.cancelled());
    BOOST_CHECK_THROW(first.result(), BrokenPromise);
    BOOST_CHECK_THROW(all.result(), BrokenPromise);
}

BOOST_AUTO_TEST_SUITE_END()
