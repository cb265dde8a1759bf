// SPDX-License-Identifier: BSL-1.0
#include <reactor/task.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <reactor/combinators.hpp>

#include "task_fixture.hpp"

namespace {

using namespace task_test;

/// Waits for a promise in the way of `how`, and says which state or clause ran.
class Catcher : public Task<std::string> {
public:
    Catcher(Promise<int> promise, std::string how)
        : promise_(std::move(promise)), how_(std::move(how)) {}

private:
    Next start() override {
        Promise<int> promise = std::move(promise_);
        if (how_ == "system") return await(std::move(promise), &Catcher::got, &Catcher::system);
        if (how_ == "fault, all") {
            return await(std::move(promise), &Catcher::got, &Catcher::fault, &Catcher::all);
        }
        if (how_ == "all, fault") {
            return await(std::move(promise), &Catcher::got, &Catcher::all, &Catcher::fault);
        }
        if (how_ == "three") {
            return await(std::move(promise), &Catcher::got, &Catcher::fault, &Catcher::system,
                         &Catcher::cancelled);
        }
        if (how_ == "rethrow") {
            return await(std::move(promise), &Catcher::got, &Catcher::rethrow, &Catcher::all);
        }
        if (how_ == "other") {
            return await(std::move(promise), &Catcher::got, &Catcher::other, &Catcher::all,
                         &Catcher::system);
        }
        return await(std::move(promise), &Catcher::got);
    }
    Next got(int value) { return finish("value " + std::to_string(value)); }
    Next system(const std::system_error& e) { return finish("system " + e.code().message()); }
    Next fault(const Fault& e) { return finish(std::string("fault ") + e.what()); }
    Next cancelled(const CancelledError& e) { return finish("cancelled " + e.message()); }
    Next all(std::exception_ptr e) { return finish("all " + text_of(e)); }
    Next rethrow(const Fault&) { throw; }
    Next other(const Fault&) { throw std::system_error(std::make_error_code(std::errc::io_error)); }

    Promise<int> promise_;
    std::string how_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(task_clauses, TaskFixture)

BOOST_AUTO_TEST_CASE(parameter_type_is_the_clause_and_the_first_that_fits_runs) {
    struct Row {
        const char* how;
        const char* fault;
        const char* system;
        const char* cancelled;
    };
    const Row rows[] = {
        {"system", "!", "system Connection refused", "!"},
        {"fault, all", "fault f", "all Connection refused", "all cancelled: m"},
        {"all, fault", "all f", "all Connection refused", "all cancelled: m"},
        {"three", "fault f", "system Connection refused", "cancelled m"},
        {"none", "!", "!", "!"},
    };
    const auto outcome = [this](const char* how, const std::function<void(Promise<int>)>& act) {
        auto promise = loop.create_promise<int>();
        auto task = loop.create_task<Catcher>(promise, how);
        iterate();
        act(promise);
        settle();
        return task.error() ? std::string("!") : task.result();
    };
    for (const Row& row : rows) {
        BOOST_TEST_CONTEXT(row.how) {
            BOOST_TEST(outcome(row.how, [](Promise<int> p) { p.set_result(3); }) == "value 3");
            BOOST_TEST(outcome(row.how, [](Promise<int> p) { p.set_exception(Fault("f")); }) ==
                       row.fault);
            BOOST_TEST(outcome(row.how, [](Promise<int> p) {
                           p.set_exception(std::system_error(
                               std::make_error_code(std::errc::connection_refused)));
                       }) == row.system);
            BOOST_TEST(outcome(row.how, [](Promise<int> p) { p.cancel("m"); }) == row.cancelled);
        }
    }
}

BOOST_AUTO_TEST_CASE(what_a_clause_throws_meets_no_other_clause) {
    for (const std::string how : {"rethrow", "other"}) {
        auto promise = loop.create_promise<int>();
        auto task = loop.create_task<Catcher>(promise, how);
        iterate();
        promise.set_exception(Fault("f"));
        settle();
        BOOST_TEST(text_of(task.exception()) == (how == "rethrow" ? "f" : "Input/output error"));
    }
}

BOOST_AUTO_TEST_CASE(loop_exit_in_a_clause_leaves_the_loop_past_a_catch_all) {
    class Machine : public Task<int> {
    public:
        explicit Machine(Promise<int> promise) : promise_(std::move(promise)) {}

    private:
        Next start() override {
            return await(std::move(promise_), &Machine::got, &Machine::leave, &Machine::all);
        }
        Next got(int value) { return finish(value); }
        Next leave(const Fault&) { throw reactor::LoopExit(4); }
        Next all(std::exception_ptr) { return finish(0); }
        Promise<int> promise_;
    };
    auto promise = loop.create_promise<int>();
    auto task = loop.create_task<Machine>(promise);
    iterate();
    promise.set_exception(Fault("f"));
    BOOST_TEST(throws<reactor::LoopExit>([&] { settle(); }));
    BOOST_TEST(task.done());
    BOOST_TEST(throws<reactor::LoopExit>([&] { task.result(); }));
}

BOOST_AUTO_TEST_CASE(value_is_moved_when_nobody_else_sees_the_promise_else_copied) {
    struct Copies {
        int* copies;
        explicit Copies(int& count) : copies(&count) {}
        Copies(const Copies& other) : copies(other.copies) { ++*copies; }
        Copies(Copies&& other) noexcept : copies(other.copies) {}
        Copies& operator=(const Copies&) = delete;
    };
    class Machine : public Task<int> {
    public:
        explicit Machine(Promise<Copies> promise) : promise_(std::move(promise)) {}

    private:
        Next start() override { return await(std::move(promise_), &Machine::got); }
        Next got(Copies copies) { return finish(*copies.copies); }
        Promise<Copies> promise_;
    };
    int count = 0;
    auto promise = loop.create_promise<Copies>();
    auto alone = loop.create_task<Machine>(promise);
    iterate();
    promise.set_result(count);
    promise = Promise<Copies>();
    settle();
    BOOST_TEST(alone.result() == 0);
    auto shared = loop.create_promise<Copies>();
    auto watched = loop.create_task<Machine>(shared);
    iterate();
    shared.set_result(count);
    settle();
    BOOST_TEST(watched.result() == 1);
}

BOOST_AUTO_TEST_CASE(move_only_values_go_in_and_out) {
    using Owner = std::unique_ptr<int>;
    class Machine : public Task<Owner> {
    public:
        explicit Machine(Promise<Owner> promise) : promise_(std::move(promise)) {}

    private:
        Next start() override { return await(std::move(promise_), &Machine::got); }
        Next got(Owner owner) {
            ++*owner;
            return finish(std::move(owner));
        }
        Promise<Owner> promise_;
    };
    auto promise = loop.create_promise<Owner>();
    auto task = loop.create_task<Machine>(promise);
    iterate();
    promise.set_result(Owner(new int(4)));
    settle();
    BOOST_TEST(*task.take() == 5);
    BOOST_TEST(throws<reactor::InvalidStateError>([&] { promise.result(); }));
}

BOOST_AUTO_TEST_CASE(tuple_is_spread_over_several_parameters) {
    using Pair = std::tuple<int, std::string>;
    class Machine : public Task<std::string> {
    public:
        explicit Machine(Promise<Pair> promise) : promise_(promise) {}

    private:
        Next start() override { return await(promise_, &Machine::whole); }
        Next whole(const Pair& pair) {
            log_ = std::get<1>(pair);
            return await(promise_, &Machine::parts);
        }
        Next parts(int number, const std::string& text) {
            log_ += text + std::to_string(number);
            return await(std::move(promise_), &Machine::nothing);
        }
        Next nothing() { return finish(log_); }
        Promise<Pair> promise_;
        std::string log_;
    };
    auto promise = loop.create_promise<Pair>();
    promise.set_result(3, "x");
    BOOST_TEST(loop.run_until_complete<Machine>(promise) == "xx3");
}

BOOST_AUTO_TEST_CASE(states_may_be_lambdas_functions_and_inherited_members) {
    class Base : public Task<int> {
    public:
        explicit Base(int n) : n_(n) {}

    protected:
        Next start() override { return yield(&Base::middle); }
        Next middle() { return last(); }
        virtual Next last() { return finish(n_); }
        int n_;
    };
    class Derived : public Base {
    public:
        using Base::Base;

    protected:
        Next last() override { return yield(&Derived::more); }
        Next more() {
            const int k = n_ + 1;
            const auto kept = std::make_shared<int>(k);
            auto promise = loop().create_promise<int>();
            promise.set_exception(Fault("x"));
            return await(
                std::move(promise), [this](int) { return finish(0); },
                [this, kept](const Fault&) { return finish(*kept); });
        }
    };
    BOOST_TEST(loop.run_until_complete<Derived>(5) == 6);
}

BOOST_AUTO_TEST_CASE(class_templates_work_with_this) {
    struct Programs {
        static TaskHandle<int> attempt(EventLoop& l, int& left) {
            return l.create_task<Script>([&left](Script& s) -> Next {
                if (--left > 0) throw std::system_error(std::make_error_code(std::errc::io_error));
                return s.finish(8);
            });
        }
    };
    int left = 3;
    class Retry : public Task<int> {
    public:
        explicit Retry(int& left) : left_(left) {}

    private:
        Next start() override {
            return this->await(Programs::attempt(this->loop(), left_), &Retry::succeeded,
                               &Retry::failed);
        }
        Next succeeded(int value) { return this->finish(value); }
        Next failed(const std::system_error&) { return this->yield(&Retry::start); }
        int& left_;
    };
    BOOST_TEST(loop.run_until_complete<Retry>(left) == 8);
}

BOOST_AUTO_TEST_CASE(combinators_are_found_inside_a_state_and_follow_its_rules) {
    class Machine : public Task<std::string> {
    public:
        Machine(Promise<int> first, Promise<std::string> second)
            : first_(std::move(first)), second_(std::move(second)) {}

    private:
        Next start() override { return await(reactor::sleep(seconds(1)), &Machine::slept); }
        Next slept() { return await(wait_for(never_, seconds(1)), &Machine::no, &Machine::late); }
        Next no(int) { return finish("no"); }
        Next late(const reactor::TimeoutError&) {
            return await(gather(std::move(first_), std::move(second_)), &Machine::both);
        }
        Next both(int number, std::string text) { return finish(text + std::to_string(number)); }
        Promise<int> first_;
        Promise<std::string> second_;
        Promise<int> never_ = loop().create_promise<int>();
    };
    auto first = loop.create_promise<int>();
    auto second = loop.create_promise<std::string>();
    auto task = loop.create_task<Machine>(first, second);
    auto other = loop.create_task<Machine>(first, second);
    run_until_idle();
    second.set_result("x");
    first.set_result(3);
    settle();
    BOOST_TEST(task.result() == "x3");
    BOOST_TEST(other.result() == "x3");

    // A cancelled part is an error of the whole, but who awaits that is cancelled as well.
    auto part = loop.create_promise<int>();
    auto whole = loop.create_task<Machine>(part, second);
    run_until_idle();
    part.cancel();
    settle();
    BOOST_TEST(whole.cancelled());
}

BOOST_AUTO_TEST_SUITE_END()
