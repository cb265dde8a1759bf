// SPDX-License-Identifier: BSL-1.0
#include <net/byte_view.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

using reactor::net::ByteView;

BOOST_AUTO_TEST_SUITE(byte_view)

BOOST_AUTO_TEST_CASE(it_is_made_from_what_has_bytes) {
    const ByteView empty;
    BOOST_TEST(empty.empty());
    BOOST_TEST(empty.size() == 0u);
    BOOST_TEST((empty == ByteView("")));
    const std::string bytes("a\0b", 3);
    const ByteView view = bytes;
    BOOST_TEST(view.size() == 3u);
    BOOST_TEST((view.data() == bytes.data()));
    BOOST_TEST(view[2] == 'b');
    BOOST_TEST(view.str() == bytes);
    BOOST_TEST(ByteView("a\0b").size() == 1u);
    BOOST_TEST(ByteView("a\0b", 3).size() == 3u);
    BOOST_TEST(std::string(view.begin(), view.end()) == bytes);
}

BOOST_AUTO_TEST_CASE(a_part_of_it_never_goes_beyond_the_end) {
    const ByteView view("abcdef");
    BOOST_TEST(view.from(2).str() == "cdef");
    BOOST_TEST(view.from(2, 3).str() == "cde");
    BOOST_TEST(view.from(2, 100).str() == "cdef");
    BOOST_TEST(view.from(6).empty());
    BOOST_TEST(view.from(7, 1).empty());
    BOOST_TEST(ByteView().from(1).empty());
}

BOOST_AUTO_TEST_CASE(it_compares_by_its_bytes) {
    BOOST_TEST((ByteView("abc") == std::string("abc")));
    BOOST_TEST((ByteView("abc") != ByteView("abd")));
    BOOST_TEST((ByteView("abc") != ByteView("ab")));
    BOOST_TEST((ByteView("a\0b", 3) != ByteView("a\0c", 3)));
}

BOOST_AUTO_TEST_SUITE_END()
