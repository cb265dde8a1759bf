// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/pinned.hpp>

#include <boost/test/unit_test.hpp>

namespace {

cpu_set_t cpus() {
    cpu_set_t set;
    BOOST_TEST_REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
    return set;
}

}  // namespace

BOOST_AUTO_TEST_CASE(pinned_is_to_one_cpu_and_for_as_long_as_it_lives) {
    const cpu_set_t before = cpus();
    {
        const bench::Pinned pinned;
        const cpu_set_t one = cpus();
        BOOST_TEST(CPU_COUNT(&one) == 1);
    }
    const cpu_set_t after = cpus();
    BOOST_TEST(CPU_EQUAL(&before, &after));
}
