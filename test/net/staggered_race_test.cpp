// SPDX-License-Identifier: BSL-1.0
#include <net/staggered_race.hpp>

#include <boost/test/unit_test.hpp>

#include <reactor/combinators.hpp>

#include <test/support/loop_test.hpp>

#include <limits>
#include <memory>
#include <string>
#include <system_error>

using reactor::CancelledError;
using reactor::LoopExit;
using reactor::Promise;
using reactor::net::RaceOutcome;
using reactor::net::staggered_race;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using Value = std::unique_ptr<std::string>;  // a value can only be moved, like a socket
using Starters = std::vector<std::function<Promise<Value>()>>;

/// Starters that do what a test wants, and when they were called.
struct Race : support::LoopTest {
    using LoopTest::LoopTest;

    /// An attempt that ends when the test ends it, or is cancelled.
    void hangs() {
        starters.push_back([this] {
            note();
            hanging.push_back(loop.create_promise<Value>());
            return hanging.back();
        });
    }
    void succeeds(const std::string& value, milliseconds after = milliseconds(0)) {
        starters.push_back([=] {
            note();
            return reactor::sleep(loop, after).then([value] {
                return Value(new std::string(value));
            });
        });
    }
    void fails(int error) {
        starters.push_back([=]() -> Promise<Value> {
            note();
            throw std::system_error(error, std::generic_category());
        });
    }
    void note() {
        begun.push_back(std::chrono::duration_cast<milliseconds>(loop.time() - begin).count());
    }

    template <class Delay>
    Promise<RaceOutcome<Value>> start(Delay delay) {
        begin = loop.time();
        begun.clear();
        return staggered_race(loop, std::move(starters), delay);
    }
    template <class Delay>
    RaceOutcome<Value> run(Delay delay) {
        return loop.run_until_complete(start(delay));
    }

    Starters starters;
    std::vector<Promise<Value>> hanging;
    std::vector<long long> begun;  // in milliseconds
    reactor::TimePoint begin;
};

/// "", "cancelled" or a number.
std::string text(const std::exception_ptr& error) {
    if (!error) return "";
    try {
        std::rethrow_exception(error);
    } catch (const CancelledError&) {
        return "cancelled";
    } catch (const std::system_error& failure) {
        return std::to_string(failure.code().value());
    } catch (const reactor::BrokenPromise&) {
        return "broken";
    } catch (const reactor::StateError&) {
        return "empty";
    }
}
std::string errors(const RaceOutcome<Value>& outcome) {
    std::string all;
    for (const std::exception_ptr& error : outcome.errors) all += "[" + text(error) + "]";
    return all;
}

using Times = std::vector<long long>;

}  // namespace

BOOST_AUTO_TEST_SUITE(racing)

REACTOR_LOOP_TEST_IN(Race, HE_02_the_second_attempt_begins_after_the_delay_and_wins) {
    hangs();
    succeeds("second");
    const RaceOutcome<Value> outcome = run(milliseconds(100));
    BOOST_TEST(begun == (Times{0, 100}), boost::test_tools::per_element());
    BOOST_TEST(*outcome.winner.take() == "second");
    BOOST_TEST(outcome.index == 1u);
    BOOST_TEST(errors(outcome) == "[cancelled][]");
    BOOST_TEST(hanging[0].cancelled());
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST_IN(Race, HE_03_a_failure_starts_the_next_attempt_at_once) {
    fails(5);
    succeeds("second");
    const RaceOutcome<Value> outcome = run(seconds(10));
    BOOST_TEST(begun == (Times{0, 0}), boost::test_tools::per_element());
    BOOST_TEST(*outcome.winner.result() == "second");
    BOOST_TEST(outcome.index == 1u);
    BOOST_TEST(errors(outcome) == "[5][]");
}

REACTOR_LOOP_TEST_IN(Race, HE_04_nobody_wins) {
    const RaceOutcome<Value> nothing = run(milliseconds(100));
    BOOST_TEST(!nothing.winner);
    BOOST_TEST(nothing.errors.empty());
    for (const int error : {5, 6, 7}) fails(error);
    const RaceOutcome<Value> outcome = run(milliseconds(100));
    BOOST_TEST(!outcome.winner);
    BOOST_TEST(errors(outcome) == "[5][6][7]");
    BOOST_TEST(begun == (Times{0, 0, 0}), boost::test_tools::per_element());
}

REACTOR_LOOP_TEST_IN(Race,
                     HE_04_without_a_delay_an_attempt_begins_when_the_one_before_it_has_failed) {
    succeeds("first", milliseconds(5000));
    succeeds("second");
    const RaceOutcome<Value> first = run(reactor::forever());
    BOOST_TEST(*first.winner.result() == "first");
    BOOST_TEST(errors(first) == "[]");
    BOOST_TEST(begun.size() == 1u);

    fails(5);
    succeeds("second");
    fails(7);
    BOOST_TEST(errors(run(std::chrono::duration<double>(
                   std::numeric_limits<double>::infinity()))) == "[5][]");
}

REACTOR_LOOP_TEST_IN(Race, an_earlier_attempt_may_win_and_its_failure_starts_nobody) {
    succeeds("first", milliseconds(250));
    hangs();
    hangs();
    hangs();
    const RaceOutcome<Value> outcome = run(milliseconds(100));
    BOOST_TEST(outcome.index == 0u);
    BOOST_TEST(errors(outcome) == "[][cancelled][cancelled]");
    BOOST_TEST(begun == (Times{0, 100, 200}), boost::test_tools::per_element());

    // Only the latest one's failure is a reason to hurry.
    hanging.clear();
    hangs();
    hangs();
    succeeds("third");
    const Promise<RaceOutcome<Value>> race = start(milliseconds(100));
    loop.run_for(milliseconds(150));
    hanging[0].set_exception(std::system_error(5, std::generic_category()));
    loop.run_until_complete(race);
    BOOST_TEST(begun == (Times{0, 100, 200}), boost::test_tools::per_element());
}

REACTOR_LOOP_TEST_IN(Race, of_two_winners_the_first_is_taken) {
    hangs();
    hangs();
    hangs();
    const Promise<RaceOutcome<Value>> race = start(milliseconds(0));
    loop.run_until_idle();
    BOOST_TEST(hanging.size() == 3u);
    hanging[1].set_result(new std::string("second"));
    hanging[0].set_result(new std::string("first"));
    const RaceOutcome<Value> outcome = loop.run_until_complete(race);
    BOOST_TEST(*outcome.winner.result() == "second");
    BOOST_TEST(errors(outcome) == "[cancelled][][cancelled]");
}

REACTOR_LOOP_TEST_IN(Race, the_end_comes_after_the_end_of_those_that_were_cancelled) {
    // It says no to the first cancellation, and ends later: with a value that nobody wants.
    starters.push_back([this] {
        hanging.push_back(loop.create_promise<Value>());
        return hanging.back().except([this](std::exception_ptr) {
            say("asked")();
            return reactor::sleep(loop, milliseconds(300)).then([] { return Value(); });
        });
    });
    succeeds("second");
    const RaceOutcome<Value> outcome = run(milliseconds(100));
    BOOST_TEST(heard() == "asked");
    BOOST_TEST((loop.time() - begin == milliseconds(400)));
    BOOST_TEST(*outcome.winner.result() == "second");
    BOOST_TEST(errors(outcome) == "[cancelled][]");
}

REACTOR_LOOP_TEST_IN(Race, cancelling_the_race_cancels_its_attempts) {
    hangs();
    hangs();
    hangs();
    Promise<RaceOutcome<Value>> race = start(milliseconds(100));
    BOOST_TEST(race.cancel());
    loop.run_until_idle();
    BOOST_TEST(race.cancelled());
    BOOST_TEST(hanging.empty());

    hangs();
    hangs();
    hangs();
    race = start(milliseconds(100));
    loop.run_for(milliseconds(150));
    BOOST_TEST(race.cancel());
    loop.run_until_idle();
    BOOST_TEST(race.cancelled());
    BOOST_TEST(hanging.size() == 2u);
    for (const Promise<Value>& attempt : hanging) BOOST_TEST(attempt.cancelled());
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST_IN(Race, an_attempt_that_nobody_can_complete_has_lost) {
    starters.push_back([this] { return loop.create_promise<Value>(); });
    starters.push_back([] { return Promise<Value>(); });
    succeeds("third");
    const RaceOutcome<Value> outcome = run(reactor::forever());
    BOOST_TEST(outcome.index == 2u);
    BOOST_TEST(errors(outcome) == "[broken][empty][]");
}

REACTOR_LOOP_TEST_IN(Race, what_cannot_be_a_race_is_refused) {
    hangs();
    BOOST_CHECK_THROW(
        start(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())),
        std::invalid_argument);
    BOOST_CHECK_THROW(staggered_race(loop, Starters(1), milliseconds(100)), std::invalid_argument);
}

REACTOR_LOOP_TEST_IN(Race, a_loop_may_close_in_the_middle_of_a_race) {
    hangs();
    hangs();
    const Promise<RaceOutcome<Value>> race = start(milliseconds(100));
    loop.run_for(milliseconds(150));
    loop.close();
    BOOST_TEST(!race.done());
}

BOOST_AUTO_TEST_SUITE_END()
