// SPDX-License-Identifier: BSL-1.0
#include <net/backoff.hpp>

#include <boost/test/unit_test.hpp>

#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

using reactor::Duration;
using reactor::net::Backoff;
using reactor::net::BackoffOptions;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

std::vector<Duration> pauses(Backoff backoff, int count) {
    std::vector<Duration> all;
    for (int i = 0; i < count; ++i) all.push_back(backoff.next());
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(back_off)

BOOST_AUTO_TEST_CASE(pauses_grow_by_the_factor_up_to_the_most) {
    const auto options =
        BackoffOptions().first(milliseconds(100)).factor(3).most(seconds(2)).jitter(0);
    const std::vector<Duration> expected{milliseconds(100), milliseconds(300), milliseconds(900),
                                         seconds(2), seconds(2)};
    BOOST_TEST((pauses(Backoff(options), 5) == expected));
    BOOST_TEST((pauses(Backoff(BackoffOptions().jitter(0)), 3) ==
                std::vector<Duration>{seconds(1), milliseconds(1600), milliseconds(2560)}));
    const Backoff large_first(BackoffOptions().first(seconds(9)).most(seconds(2)).jitter(0));
    BOOST_TEST((pauses(large_first, 1)[0] == seconds(2)));
    const Backoff steady(BackoffOptions().first(seconds(9)).factor(1).jitter(0));
    BOOST_TEST((pauses(steady, 9)[8] == seconds(9)));
}

BOOST_AUTO_TEST_CASE(reset_begins_again_with_the_first) {
    Backoff backoff(BackoffOptions().first(seconds(1)).factor(2).jitter(0));
    backoff.next();
    backoff.next();
    BOOST_TEST(backoff.count() == 2u);
    backoff.reset();
    BOOST_TEST(backoff.count() == 0u);
    BOOST_TEST((backoff.next() == seconds(1)));
    BOOST_TEST((backoff.next() == seconds(2)));
}

BOOST_AUTO_TEST_CASE(jitter_takes_its_part_and_never_more) {
    const auto options = BackoffOptions().first(seconds(1)).factor(1).jitter(0.25);
    Duration least = seconds(9), most = seconds(0);
    for (const Duration pause : pauses(Backoff(BackoffOptions(options).seed(1)), 1000)) {
        BOOST_TEST((pause >= milliseconds(750) && pause <= seconds(1)));
        least = pause < least ? pause : least;
        most = pause > most ? pause : most;
    }
    // All of the range is used; a thousand numbers of one seed are the same every time.
    BOOST_TEST((least < milliseconds(760) && most > milliseconds(990)));
}

BOOST_AUTO_TEST_CASE(a_seed_makes_it_repeatable_and_none_makes_it_different) {
    BOOST_TEST((pauses(Backoff(BackoffOptions().seed(7)), 9) ==
                pauses(Backoff(BackoffOptions().seed(7)), 9)));
    std::set<Duration> first;
    for (const std::uint64_t seed : {0u, 1u, 2u, 3u}) {
        first.insert(pauses(Backoff(BackoffOptions().seed(seed)), 1)[0]);
    }
    BOOST_TEST(first.size() == 4u);
    // Programs that lost their server together.
    BOOST_TEST((pauses(Backoff(), 9) != pauses(Backoff(), 9)));
}

BOOST_AUTO_TEST_CASE(extremes_do_not_overflow) {
    const auto huge = BackoffOptions().most(reactor::forever()).factor(1e300).jitter(0);
    BOOST_TEST((pauses(Backoff(huge), 3)[2] == reactor::forever()));
    const auto all = BackoffOptions().first(reactor::forever()).most(reactor::forever()).jitter(1);
    for (const Duration pause : pauses(Backoff(all), 99)) {
        BOOST_TEST((pause >= Duration::zero()));
    }
    const auto none = BackoffOptions().first(seconds(0));
    BOOST_TEST((pauses(Backoff(none), 9)[8] == Duration::zero()));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_refused) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    BackoffOptions options;
    BOOST_CHECK_THROW(options.first(seconds(-1)), std::invalid_argument);
    BOOST_CHECK_THROW(options.most(seconds(-1)), std::invalid_argument);
    BOOST_CHECK_THROW(options.first(std::chrono::duration<double>(nan)), std::invalid_argument);
    for (const double factor : {0.9, -1.0, nan}) {
        BOOST_CHECK_THROW(options.factor(factor), std::invalid_argument);
    }
    for (const double jitter : {-0.1, 1.1, nan}) {
        BOOST_CHECK_THROW(options.jitter(jitter), std::invalid_argument);
    }
    BOOST_TEST((options.first() == seconds(1)));
}

BOOST_AUTO_TEST_SUITE_END()
