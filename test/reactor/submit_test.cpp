// SPDX-License-Identifier: BSL-1.0
#include <reactor/submit.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "loop_thread.hpp"
#include <reactor/combinators.hpp>
#include <test/support/loop_test.hpp>

namespace {

using reactor::BrokenPromise;
using reactor::CancelledError;
using reactor::EventLoop;
using reactor::InvalidStateError;
using reactor::StateError;
using reactor::submit;
using support::milliseconds;
using support::seconds;
using Strings = std::vector<std::string>;

/// Tells when it begins and when it is gone.
struct Told {
    std::promise<void> begun;
    std::promise<void> gone;
};

class Sleeps : public reactor::Task<int> {
public:
    explicit Sleeps(std::shared_ptr<Told> told) : told_(std::move(told)) {}
    ~Sleeps() { told_->gone.set_value(); }

private:
    Next start() override {
        told_->begun.set_value();
        return await(reactor::sleep(support::hours(1)), &Sleeps::awake);
    }
    Next awake() { return finish(1); }

    std::shared_ptr<Told> told_;
};

class Doubles : public reactor::Task<std::unique_ptr<int>> {
public:
    explicit Doubles(std::unique_ptr<int> value) : value_(std::move(value)) {}

private:
    Next start() override {
        if (!value_) throw std::domain_error("null");
        *value_ *= 2;
        return finish(std::move(value_));
    }

    std::unique_ptr<int> value_;
};

class ThrowsWhenMade : public reactor::Task<void> {
public:
    explicit ThrowsWhenMade(const std::string& why) { throw std::runtime_error(why); }

private:
    Next start() override { return finish(); }
};

std::size_t pending_promises(LoopThread& thread) {
    return thread.call([&] {
        std::size_t count = 0;
        for (auto* state = thread.loop().core().pending; state; state = state->next) ++count;
        return count;
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(submitting_from_a_thread)

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_11_a_time_out_and_then_cancel, On, support::EverySelector) {
    LoopThread thread(On::name());
    const auto told = std::make_shared<Told>();
    auto sleeping = submit<Sleeps>(thread.loop(), told);
    told->begun.get_future().wait();
    BOOST_TEST(!sleeping.wait_for(milliseconds(0)));
    BOOST_TEST(!sleeping.wait_for(milliseconds(1)));
    BOOST_TEST(!sleeping.done());
    BOOST_TEST(sleeping.cancel("enough"));
    BOOST_TEST(sleeping.cancelled());
    BOOST_TEST(!sleeping.cancel());
    BOOST_CHECK_EXCEPTION(sleeping.result(), CancelledError,
                          [](const CancelledError& e) { return e.message() == "enough"; });
    told->gone.get_future().wait();
    thread.settle();
    BOOST_TEST(pending_promises(thread) == 0u);
    BOOST_TEST(thread.call([&] { return thread.loop().timer_count(); }) == 0u);
    BOOST_TEST(thread.end().empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_11_cancelled_before_it_began_it_is_never_made, On,
                              support::EverySelector) {
    LoopThread thread(On::name());
    std::promise<void> open;
    thread.loop().call_soon_threadsafe([&open] { open.get_future().wait(); });
    const auto argument = std::make_shared<Told>();
    auto submitted = submit<Sleeps>(thread.loop(), argument);
    BOOST_TEST(submitted.cancel());
    open.set_value();
    thread.settle();
    BOOST_TEST(argument.use_count() == 1);
    BOOST_CHECK_THROW(submitted.result(), CancelledError);
    BOOST_TEST(thread.end().empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_11_value_and_error_come_back, On, support::EverySelector) {
    LoopThread thread(On::name());
    auto value = submit<Doubles>(thread.loop(), std::unique_ptr<int>(new int(21)));
    BOOST_TEST(value.wait_for(seconds(60)));
    BOOST_TEST(*value.result() == 42);
    BOOST_TEST(!value.error());
    BOOST_TEST(*value.take() == 42);
    BOOST_CHECK_THROW(value.take(), InvalidStateError);
    auto failed =
        submit<Doubles>(thread.loop(), reactor::Options().label("fails"), std::unique_ptr<int>());
    BOOST_CHECK_THROW(failed.result(), std::domain_error);
    BOOST_CHECK_THROW(failed.take(), std::domain_error);
    BOOST_TEST(thread.end().empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_11_a_constructor_that_throws_is_told_to_both, On,
                              support::EverySelector) {
    LoopThread thread(On::name());
    auto submitted = submit<ThrowsWhenMade>(thread.loop(), "no");
    BOOST_CHECK_EXCEPTION(submitted.result(), std::runtime_error, [](const std::runtime_error& e) {
        return e.what() == std::string("no");
    });
    BOOST_TEST(thread.end() == Strings{"Exception while a submitted task was made"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(TH_11_a_loop_that_closes_leaves_nobody_waiting, On,
                              support::EverySelector) {
    LoopThread thread(On::name());
    const reactor::Poster poster = thread.loop().poster();
    const auto told = std::make_shared<Told>();
    auto waits = submit<Sleeps>(thread.loop(), told);
    told->begun.get_future().wait();
    std::thread ends([&thread] { thread.end(); });
    BOOST_CHECK_THROW(waits.result(), BrokenPromise);
    ends.join();
    BOOST_TEST(!waits.cancel());
    BOOST_CHECK_THROW(submit<Sleeps>(poster, told), StateError);
    BOOST_CHECK_THROW(submit(poster, [] {}), StateError);

    // Posted, and never run: the loop ends before.
    EventLoop loop(reactor::make_selector(On::name()));
    auto never_run = submit<Sleeps>(loop, told);
    auto cancelled = submit(loop, [] { return 1; });
    BOOST_TEST(cancelled.cancel());
    loop.close();
    BOOST_CHECK_THROW(never_run.result(), BrokenPromise);
    BOOST_CHECK_THROW(cancelled.result(), CancelledError);
    BOOST_CHECK_THROW(submit<Sleeps>(loop, told), StateError);
}

// Threads that submit, wait a little, give up or not, while the loop ends: nobody hangs.
BOOST_AUTO_TEST_CASE_TEMPLATE(many_threads_and_a_loop_that_ends, On, support::EverySelector) {
    LoopThread thread(On::name());
    const reactor::Poster poster = thread.loop().poster();
    std::atomic<int> ended{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&poster, &ended, i] {
            for (;;) {
                try {
                    auto value = submit<Doubles>(poster, std::unique_ptr<int>(new int(i)));
                    if (i % 2 == 0) value.cancel();
                    *value.take() += 1;
                    ++ended;
                } catch (const CancelledError&) {
                    ++ended;
                } catch (const BrokenPromise&) {
                } catch (const StateError&) {
                    return;
                }
            }
        });
    }
    while (ended.load() < 200) std::this_thread::yield();
    BOOST_TEST(thread.end().empty());
    for (std::thread& one : threads) one.join();
}

BOOST_AUTO_TEST_SUITE_END()
