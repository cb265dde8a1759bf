// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>

#include <reactor/event_loop.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <test/support/allocations.hpp>
#include <test/support/forwarding_selector.hpp>
#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Interest;

BOOST_AUTO_TEST_SUITE(watch_without_memory)

namespace {

/// Knows what it was told last.
struct Told : ForwardingSelector {
    using ForwardingSelector::ForwardingSelector;
    void modify(int fd, unsigned interest, std::uint64_t token) override {
        ForwardingSelector::modify(fd, interest, token);
        interests[fd] = interest;
    }
    std::map<int, unsigned> interests;
};

}  // namespace

// More of them than there is room for: the loop cannot note which they are, and looks.
BOOST_AUTO_TEST_CASE(changes_are_told_to_the_selector_all_the_same) {
    Told* const told = new Told("epoll");
    reactor::EventLoop loop{std::unique_ptr<reactor::Selector>(told)};
    std::vector<std::unique_ptr<SocketPair>> pairs;
    const auto turn = [&loop] { loop.run_once(reactor::Duration::zero()); };
    for (int i = 0; i < 60; ++i) {
        pairs.emplace_back(new SocketPair);
        loop.add_reader(pairs.back()->mine, [] {});
        loop.add_writer(pairs.back()->mine, [] {});
        turn();  // one at a time, or there would be room for all
        BOOST_TEST(told->interests[pairs.back()->mine] == (Interest::read | Interest::write));
    }
    {
        const NoMemory none;
        for (const auto& pair : pairs) loop.remove_writer(pair->mine);
    }
    turn();
    for (const auto& pair : pairs) BOOST_TEST(told->interests[pair->mine] == +Interest::read);
    // The next ones are noted again.
    for (const auto& pair : pairs) loop.add_writer(pair->mine, [] {});
    turn();
    for (const auto& pair : pairs) {
        BOOST_TEST(told->interests[pair->mine] == (Interest::read | Interest::write));
        loop.forget_descriptor(pair->mine);
    }
}

BOOST_AUTO_TEST_SUITE_END()
