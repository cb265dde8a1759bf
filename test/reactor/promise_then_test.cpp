// SPDX-License-Identifier: BSL-1.0
#include <reactor/promise.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

using reactor::BrokenPromise;
using reactor::CancelledError;
using reactor::EventLoop;
using reactor::InvalidStateError;
using reactor::LoopExit;
using reactor::Promise;
using reactor::Report;
using reactor::StateError;

namespace {

struct Fixture {
    Fixture() {
        loop.set_exception_handler(
            [this](EventLoop&, const Report& report) { reports.push_back(report); });
    }
    void turns(int n = 8) {
        for (int i = 0; i < n; ++i) loop.run_once(reactor::Duration::zero());
    }

    std::vector<Report> reports;
    EventLoop loop;
};

struct Page {
    int size = 3;
    int length(const std::string& text) const noexcept { return size + int(text.size()); }
    int code(const std::system_error& e) { return size + e.code().value(); }
    void touch() { ++size; }
};

/// Counts the copies that were made of it on its way.
struct Tracked {
    explicit Tracked(int* n) : copies(n) {}
    Tracked(const Tracked& other) : copies(other.copies) { ++*copies; }
    Tracked(Tracked&& other) noexcept : copies(other.copies) {}
    Tracked& operator=(const Tracked&) = delete;
    int* copies;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(continuations, Fixture)

BOOST_AUTO_TEST_CASE(a_continuation_takes_the_value_a_reference_nothing_or_the_promise) {
    const auto p = loop.create_promise<int>();
    const auto text = p.then([](int n) { return std::to_string(n); });
    const auto longer = text.then([](const std::string& s) { return s + "!"; });
    int calls = 0;
    const Promise<void> nothing = p.then([&] { ++calls; });
    const Promise<int> after = nothing.then([&] { return ++calls; });
    const Promise<bool> whole = p.then([](Promise<int> done) { return done.cancelled(); });
    const Promise<int> any = p.then([](const Promise<int>& done) { return done.result(); });
    const Promise<double> converted = p.then([](double d) { return d / 2; });
    p.set_result(5);
    turns();
    BOOST_TEST(longer.result() == "5!");
    nothing.result();
    BOOST_TEST(after.result() == 2);
    BOOST_TEST(!whole.result());
    BOOST_TEST(any.result() == 5);
    BOOST_TEST(converted.result() == 2.5);
}

BOOST_AUTO_TEST_CASE(a_returned_promise_is_followed) {
    const auto p = loop.create_promise<int>();
    const auto inner = loop.create_promise<std::string>();
    const Promise<std::string> outer = p.then([inner] { return inner; });
    p.set_result(1);
    turns();
    BOOST_TEST(!outer.done());
    inner.set_result("in");
    BOOST_TEST(!outer.done());
    turns(1);
    BOOST_TEST(outer.result() == "in");
}

BOOST_AUTO_TEST_CASE(cancelling_reaches_the_promise_that_the_continuation_returned) {
    const auto p = loop.create_promise<int>();
    const auto inner = loop.create_promise<void>();
    const Promise<void> outer = p.then([inner] { return inner; }).then([] {});
    p.set_result(1);
    turns();
    BOOST_TEST(outer.cancel("enough"));
    BOOST_TEST(inner.cancelled());
    turns();
    BOOST_CHECK_EXCEPTION(outer.result(), CancelledError,
                          [](const CancelledError& e) { return e.message() == "enough"; });
}

BOOST_AUTO_TEST_CASE(what_cannot_be_followed_fails_the_result) {
    EventLoop other;
    const auto p = loop.create_promise<int>();
    const auto empty = p.then([] { return Promise<int>(); });
    const auto foreign = p.then([&] { return other.create_promise<int>(); });
    Promise<int> own;
    own = p.then([&] { return own; });
    p.set_result(1);
    turns();
    BOOST_CHECK_THROW(empty.result(), StateError);
    BOOST_CHECK_THROW(foreign.result(), std::invalid_argument);
    BOOST_CHECK_THROW(own.result(), StateError);
}

BOOST_AUTO_TEST_CASE(failure_passes_continuations_by_and_is_caught_by_type) {
    const auto p = loop.create_promise<int>();
    bool ran = false;
    const auto down = p.then([&](int n) {
        ran = true;
        return n;
    });
    const auto caught = down.except([](const std::system_error& e) { return e.code().value(); });
    const auto other = down.except([](const std::bad_alloc&) { return 0; });
    const auto all = down.except([](std::exception_ptr) { return 1; });
    p.set_exception(std::system_error(ECONNREFUSED, std::generic_category()));
    turns();
    BOOST_TEST(!ran);
    BOOST_TEST(caught.result() == ECONNREFUSED);
    BOOST_CHECK_THROW(other.result(), std::system_error);
    BOOST_TEST(all.result() == 1);
    BOOST_TEST(reports.empty());
}

BOOST_AUTO_TEST_CASE(a_clause_may_rethrow_replace_or_return_a_promise) {
    const auto p = loop.create_promise<int>();
    const auto again = p.except([](const std::exception&) -> int { throw; });
    const auto replaced =
        p.except([](const std::exception&) -> int { throw std::domain_error("other"); });
    const auto later = loop.create_promise<int>();
    const auto followed = p.except([later](std::runtime_error) { return later; });
    const auto untouched = later.except([](const std::exception&) { return -1; });
    p.set_exception(std::runtime_error("down"));
    later.set_result(9);
    turns();
    BOOST_CHECK_EXCEPTION(again.result(), std::runtime_error, [](const std::runtime_error& e) {
        return e.what() == std::string("down");
    });
    BOOST_CHECK_THROW(replaced.result(), std::domain_error);
    BOOST_TEST(followed.result() == 9);
    BOOST_TEST(untouched.result() == 9);
}

BOOST_AUTO_TEST_CASE(members_are_bound_with_their_object_first) {
    Page page;
    const auto p = loop.create_promise<std::string>();
    const Promise<int> length = p.then(&Page::length, &page);
    const Promise<void> touched = p.then(&Page::touch, std::ref(page));
    const auto failed = loop.create_promise<int>();
    const auto code = failed.except(&Page::code, &page);
    p.set_result("four");
    turns();
    failed.set_exception(std::system_error(1, std::generic_category()));
    turns();
    BOOST_TEST(length.result() == 7);
    BOOST_TEST(page.size == 4);
    BOOST_TEST(code.result() == 5);
}

BOOST_AUTO_TEST_CASE(cancellation_goes_both_ways) {
    const auto p = loop.create_promise<int>();
    const auto end = p.then([](int n) { return n; })
                         .then([](int n) { return n; })
                         .except([](const std::exception&) { return 1; });
    BOOST_TEST(end.cancel());
    BOOST_TEST(p.cancelled());
    BOOST_TEST(!end.done());
    turns();
    BOOST_TEST(end.cancelled());

    const auto q = loop.create_promise<int>();
    const auto follower = q.then([](int n) { return n; });
    const auto heard = q.except([](const CancelledError& e) { return int(e.message().size()); });
    q.cancel("four");
    turns();
    BOOST_CHECK_THROW(follower.result(), CancelledError);
    BOOST_TEST(follower.cancelled());
    BOOST_TEST(heard.result() == 4);
}

BOOST_AUTO_TEST_CASE(a_continuation_on_its_way_can_still_be_cancelled) {
    const auto p = loop.create_promise<int>();
    bool ran = false;
    const auto q = p.then([&](int) { ran = true; });
    p.set_result(1);
    BOOST_TEST(q.cancel());
    BOOST_TEST(q.cancelled());
    turns();
    BOOST_TEST(!ran);
    BOOST_TEST(p.result() == 1);
}

BOOST_AUTO_TEST_CASE(exceptions_of_a_continuation_become_the_outcome) {
    const auto p = loop.create_promise<int>();
    const auto failed = p.then([](int) -> int { throw std::runtime_error("in then"); });
    const auto cancelled = p.then([](int) { throw CancelledError("itself"); });
    p.set_result(1);
    turns();
    BOOST_CHECK_THROW(failed.result(), std::runtime_error);
    BOOST_TEST(cancelled.cancelled());
    BOOST_CHECK_EXCEPTION(cancelled.result(), CancelledError,
                          [](const CancelledError& e) { return e.message() == "itself"; });
    BOOST_TEST(reports.empty());
}

BOOST_AUTO_TEST_CASE(loop_exit_out_of_a_continuation_leaves_the_loop) {
    auto p = loop.create_promise<int>();
    auto q = p.then([](int) { throw LoopExit(4); });
    p.set_result(1);
    BOOST_CHECK_EXCEPTION(loop.run_forever(), LoopExit,
                          [](const LoopExit& e) { return e.code() == 4; });
    BOOST_TEST(q.done());
    BOOST_CHECK_THROW(std::rethrow_exception(q.error()), LoopExit);
    p = Promise<int>();
    q = Promise<void>();
    BOOST_TEST(reports.empty());
}

BOOST_AUTO_TEST_CASE(an_error_after_the_continuation_cancelled_its_own_result_is_reported) {
    const auto p = loop.create_promise<int>();
    Promise<void> q;
    q = p.then([&](int) {
        q.cancel();
        throw std::runtime_error("nobody would hear of this");
    });
    const auto inner = loop.create_promise<void>();
    Promise<void> r;
    r = p.then([&](int) {
        r.cancel();
        return inner;
    });
    p.set_result(1);
    turns();
    BOOST_TEST(q.cancelled());
    BOOST_TEST(reports.size() == 1u);
    BOOST_TEST(inner.cancelled());  // begun by a continuation whose result nobody wants
}

BOOST_AUTO_TEST_CASE(move_only_values_are_moved_once) {
    const auto p = loop.create_promise<std::unique_ptr<int>>();
    const auto raised = p.then([](std::unique_ptr<int> n) {
        ++*n;
        return n;
    });
    const auto seen = raised.then([](const std::unique_ptr<int>& n) { return *n; });
    const auto late = p.then([](std::unique_ptr<int> n) { return *n; });
    p.set_result(new int(1));
    turns();
    BOOST_TEST(seen.result() == 2);
    BOOST_TEST(*raised.result() == 2);
    BOOST_CHECK_THROW(p.result(), InvalidStateError);
    BOOST_CHECK_THROW(late.result(), InvalidStateError);

    const auto many = loop.create_promise<std::vector<std::unique_ptr<int>>>();
    const auto size =
        many.then([](std::vector<std::unique_ptr<int>> all) { return all; })
            .except([](const std::exception&) { return std::vector<std::unique_ptr<int>>(); })
            .then([](const std::vector<std::unique_ptr<int>>& all) { return all.size(); });
    many.set_result(3u);
    turns();
    BOOST_TEST(size.result() == 3u);
}

BOOST_AUTO_TEST_CASE(a_value_is_copied_only_if_somebody_else_can_read_it) {
    int copies = 0;
    Promise<Tracked> p = loop.create_promise<Tracked>();
    Promise<void> end = p.then([](Tracked t) { return t; })
                            .except([](const std::exception&) -> Tracked { throw; })
                            .then([](Tracked) {});
    p.set_result(&copies);
    p = Promise<Tracked>();
    turns();
    end.result();
    BOOST_TEST(copies == 0);

    p = loop.create_promise<Tracked>();
    end = p.then([](Tracked) {});
    const auto by_reference = p.then([](const Tracked&) {});
    p.set_result(&copies);
    turns();
    BOOST_TEST(copies == 1);
    BOOST_TEST(p.result().copies == &copies);
}

BOOST_AUTO_TEST_CASE(a_source_dropped_while_pending_breaks_what_follows_it) {
    Promise<int> held;
    {
        const auto p = loop.create_promise<int>();
        held = p.then([](int n) { return n; }).then([](int n) { return n; });
        p.then([](int) {});  // held by nobody: goes silently
    }
    BOOST_TEST(held.done());
    BOOST_CHECK_THROW(held.result(), BrokenPromise);
    BOOST_TEST(reports.empty());
}

BOOST_AUTO_TEST_CASE(an_outcome_arrives_one_iteration_after_its_source) {
    const auto p = loop.create_promise<int>();
    const auto q = p.except([](const std::exception&) { return 0; });
    const auto r = q.then([](int n) { return n; });
    p.set_result(3);
    turns(1);
    BOOST_TEST(q.done());
    BOOST_TEST(!r.done());
    turns(1);
    BOOST_TEST(r.done());
}

BOOST_AUTO_TEST_SUITE_END()
