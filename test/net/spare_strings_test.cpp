// SPDX-License-Identifier: BSL-1.0
#include <net/detail/spare_strings.hpp>
#include <reactor/detail/pool.hpp>

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <vector>

using reactor::net::ByteView;
using reactor::net::detail::SpareStrings;

namespace {

// Not under the tools that look for errors in the use of memory.
const bool pooling = reactor::detail::pooling_wanted();

std::size_t blocks(const SpareStrings& strings) {
    std::size_t count = 0;
    strings.for_each_block([&count](const void*) { ++count; });
    return count;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_read_next_has_the_memory_of_what_was_written) {
    SpareStrings strings;
    std::string written(64, 'w');
    const char* const memory = written.data();
    strings.put(written);
    BOOST_TEST(written.empty() == pooling);
    const std::string read = strings.take(ByteView(std::string(50, 'r')));
    BOOST_TEST(read == std::string(50, 'r'));
    if (pooling) BOOST_TEST(static_cast<const void*>(read.data()) == memory);
}

BOOST_AUTO_TEST_CASE(a_string_that_does_not_fit_goes) {
    for (const std::size_t size : {200u, 1000u}) {
        SpareStrings strings;
        std::string written(500, 'w');
        strings.put(written);
        BOOST_TEST(strings.take(ByteView(std::string(size, 'r'))) == std::string(size, 'r'));
        std::string next(600, 'w');
        const char* const memory = next.data();
        strings.put(next);
        const std::string read = strings.take(ByteView(std::string(600, 'r')));
        BOOST_TEST(read == std::string(600, 'r'));
        if (pooling) BOOST_TEST(static_cast<const void*>(read.data()) == memory);
    }
}

BOOST_AUTO_TEST_CASE(short_strings_have_no_memory_to_keep) {
    SpareStrings strings;
    std::string written("short");
    strings.put(written);
    BOOST_TEST(written == "short");
    BOOST_TEST(blocks(strings) == 0u);
    BOOST_TEST(strings.take(ByteView("brief")) == "brief");
    BOOST_TEST(strings.take(ByteView()).empty());
}

BOOST_AUTO_TEST_CASE(no_more_is_kept_than_is_read_at_once) {
    SpareStrings strings;
    std::size_t kept = 0;
    for (int i = 0; i < 100; ++i) {
        std::string written(10000, 'w');
        strings.put(written);
        if (written.empty()) ++kept;
    }
    BOOST_TEST(kept == (pooling ? 6u : 0u));
    std::string too_long(100000, 'w');
    strings.put(too_long);
    BOOST_TEST(too_long.size() == 100000u);
}
