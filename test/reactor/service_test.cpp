// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <vector>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::StateError;

namespace {

struct Service {
    explicit Service(EventLoop& l) : loop(l) {}
    ~Service() {
        BOOST_TEST(loop.is_closed());
        if (destroyed) destroyed->push_back(1);
    }
    EventLoop& loop;
    std::vector<int>* destroyed = nullptr;
};
struct Upper {
    explicit Upper(EventLoop& loop) : lower(loop.service<Service>()) {}
    ~Upper() { lower.destroyed->push_back(2); }
    Service& lower;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(service)

REACTOR_LOOP_TEST(services_are_made_once_and_destroyed_in_reverse_order) {
    std::vector<int> destroyed;
    Upper& upper = loop.service<Upper>();
    upper.lower.destroyed = &destroyed;
    BOOST_TEST(&loop.service<Service>() == &upper.lower);
    BOOST_TEST(&loop.service<Upper>() == &upper);
    loop.close();
    const std::vector<int> expected = {2, 1};
    BOOST_TEST(destroyed == expected, boost::test_tools::per_element());
    BOOST_CHECK_THROW(loop.service<Service>(), StateError);
}

BOOST_AUTO_TEST_SUITE_END()
