// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>

#include "scenario.hpp"

#include <cstdint>
#include <string>

namespace {

using Run = fuzz::Outcome (*)(std::uint64_t seed, const std::string& selector);

void expect_no_fault(Run run, const char* name, std::uint64_t seed, const char* selector) {
    const fuzz::Outcome outcome = run(seed, selector);
    for (const std::string& fault : outcome.faults) {
        BOOST_ERROR(std::string(name) + ", seed " + std::to_string(seed) + " on " + selector +
                    ": " + fault + "\nagain, with its log: bin/fuzz_net --only " + name +
                    " --seed " + std::to_string(seed));
    }
}

constexpr const char* selectors[] = {"epoll", "poll", "select"};

}  // namespace

BOOST_AUTO_TEST_SUITE(net_fuzz)

// `b2 fuzz-net` begins with the same seeds, and goes on.
BOOST_AUTO_TEST_CASE(an_echo_loses_nothing_and_leaves_nothing) {
    for (std::uint64_t seed = 1; seed <= 36; ++seed) {
        expect_no_fault(&fuzz::run_echo, "echo", seed, selectors[seed % 3]);
    }
}

BOOST_AUTO_TEST_CASE(a_proxy_loses_nothing_and_leaves_nothing) {
    for (std::uint64_t seed = 1; seed <= 36; ++seed) {
        expect_no_fault(&fuzz::run_proxy, "proxy", seed, selectors[seed % 3]);
    }
}

BOOST_AUTO_TEST_CASE(a_chat_room_loses_nothing_and_leaves_nothing) {
    for (std::uint64_t seed = 1; seed <= 36; ++seed) {
        expect_no_fault(&fuzz::run_chat, "chat", seed, selectors[seed % 3]);
    }
}

BOOST_AUTO_TEST_CASE(a_seed_is_the_same_run_each_time_on_every_selector) {
    for (const Run run : {&fuzz::run_echo, &fuzz::run_proxy, &fuzz::run_chat}) {
        for (std::uint64_t seed = 101; seed <= 106; ++seed) {
            const std::string log = run(seed, selectors[0]).log;
            for (const char* const selector : selectors) {
                BOOST_TEST((run(seed, selector).log == log), "seed " << seed << " on " << selector);
            }
            BOOST_TEST((run(seed + 100, selectors[0]).log != log));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
