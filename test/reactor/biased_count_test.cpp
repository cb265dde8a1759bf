// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/biased_count.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

using reactor::detail::BiasedCount;

namespace {

constexpr bool here = true;
constexpr bool elsewhere = false;

}  // namespace

BOOST_AUTO_TEST_CASE(the_last_reference_stays_with_who_destroys_the_object) {
    for (const bool running : {true, false}) {
        BiasedCount count(running);
        count.add(here);
        BOOST_TEST(!count.drop_here());
        BOOST_TEST(count.drop_here());
        BOOST_TEST(count.total() == 1);
        // Shared while it is being destroyed: nobody else has the last one.
        count.add(here);
        BOOST_TEST(!count.drop_here());
        BOOST_TEST(count.total() == 1);
    }
}

BOOST_AUTO_TEST_CASE(what_another_thread_drops_last_is_handed_over_and_added_up) {
    for (const bool running : {true, false}) {
        BiasedCount count(running);
        count.add(elsewhere);
        BOOST_TEST(!count.drop_here());
        BOOST_TEST(count.drop_elsewhere());
        BOOST_TEST(count.add_up());
        BOOST_TEST(count.total() == 1);
    }
}

BOOST_AUTO_TEST_CASE(an_object_made_before_the_loop_ran_is_counted_plainly_from_then_on) {
    BiasedCount count(false);
    count.add(elsewhere);
    count.add(here);
    count.bias();
    BOOST_TEST(count.total() == 3);
    count.bias();  // again: no effect
    BOOST_TEST(count.total() == 3);
    BOOST_TEST(!count.drop_elsewhere());
    BOOST_TEST(!count.drop_elsewhere());
    BOOST_TEST(count.total() == 1);
    BOOST_TEST(count.drop_here());
}

BOOST_AUTO_TEST_CASE(more_is_dropped_elsewhere_than_was_taken_there_after_the_change_too) {
    BiasedCount count(false);
    count.bias();
    count.add(here);
    BOOST_TEST(count.drop_elsewhere());  // handed over, for the other half to be looked at
    BOOST_TEST(!count.add_up());
    BOOST_TEST(count.total() == 1);
    BOOST_TEST(count.drop_here());
}

/// Whatever meets whatever: one, and only one, is told that nobody has it any more.
BOOST_AUTO_TEST_CASE(references_go_on_all_threads_while_the_halves_change) {
    constexpr int rounds = 2000;
    constexpr int others = 2;
    for (int round = 0; round < rounds; ++round) {
        BiasedCount count(false);
        for (int i = 0; i < 2 * others; ++i) count.add(elsewhere);
        std::atomic<int> handed_over{0};
        std::atomic<int> ready{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < others; ++i) {
            threads.emplace_back([&] {
                ++ready;
                while (ready < others + 1) std::this_thread::yield();
                for (int k = 0; k < 2; ++k) {
                    if (count.drop_elsewhere()) ++handed_over;
                }
            });
        }
        ++ready;
        int ends = 0;
        count.bias();
        count.add(here);
        ends += count.drop_here();
        ends += count.drop_here();
        for (std::thread& thread : threads) thread.join();
        BOOST_REQUIRE(handed_over <= 1);
        if (handed_over == 1) ends += count.add_up();
        BOOST_REQUIRE(ends == 1);
    }
}
