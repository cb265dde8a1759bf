// SPDX-License-Identifier: BSL-1.0
#include <reactor/timer_queue.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <reactor/detail/stored.hpp>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::TimePoint;
using reactor::TimerHandle;
using reactor::TimerQueue;
using Node = TimerQueue::Node;

namespace {

struct Nothing {
    void operator()() const {}
};

TimePoint at(long ns) { return TimePoint(nanoseconds(ns)); }

// A queue without a loop around it: the loop's part of a node's life, in short.
struct Queue : TimerQueue {
    ~Queue() {
        while (Node* node = pop_any()) drop(node);
        BOOST_TEST(nodes_out() == 0u);
    }
    Node* add(TimePoint when) {
        Node* const node = take();
        node->ops = reactor::detail::Stored<Nothing>::make(node->storage());
        arm(node, when);
        release(node);  // the heap's reference is left
        return node;
    }
    void release(Node* node) {
        if (node->drop_reference()) recycle(node);
    }
    void drop(Node* node) {
        node->drop_callable();
        release(node);
    }
    void cancel(Node* node) {
        disarm(node);  // the reference is ours now
        drop(node);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(timer_queue)

BOOST_AUTO_TEST_CASE(gives_the_earliest_first_and_only_what_is_due) {
    Queue queue;
    BOOST_TEST((queue.next_deadline() == reactor::never()));
    BOOST_TEST(queue.pop_due(reactor::never()) == nullptr);
    Node* const b = queue.add(at(20));
    Node* const a = queue.add(at(10));
    Node* const c = queue.add(at(20));
    BOOST_TEST((queue.next_deadline() == at(10)));
    BOOST_TEST(queue.pop_due(at(9)) == nullptr);
    for (Node* expected : {a, b, c}) {
        Node* const node = queue.pop_due(at(20));
        BOOST_TEST(node == expected);
        queue.drop(node);
    }
    BOOST_TEST(queue.empty());
}

BOOST_AUTO_TEST_CASE(a_hundred_thousand_random_operations_agree_with_a_sorted_model) {
    Queue queue;
    std::mt19937 random(42);
    std::map<std::pair<TimePoint, long>, Node*> model;
    std::vector<std::pair<TimePoint, long>> keys;
    long sequence = 0;
    TimePoint now = at(0);
    const auto below = [&random](unsigned n) { return static_cast<long>(random() % n); };
    const auto pick = [&]() -> std::pair<TimePoint, long> {
        auto found = model.lower_bound({now + nanoseconds(below(500)), 0});
        return found == model.end() ? model.begin()->first : found->first;
    };
    std::size_t purges = 0;
    for (int i = 0; i < 100000; ++i) {
        const long what = below(100);
        if (what < 45 || model.empty()) {
            const TimePoint when = now + nanoseconds(below(500));
            model[{when, sequence++}] = queue.add(when);
        } else if (what < 60) {
            const auto key = pick();
            Node* const node = model[key];
            model.erase(key);
            const std::size_t before = queue.entries();
            queue.cancel(node);
            if (queue.entries() < before) ++purges;
        } else if (what < 85) {
            const auto key = pick();
            Node* const node = model[key];
            model.erase(key);
            const TimePoint when = now + nanoseconds(below(500));
            queue.rearm(node, when);
            model[{when, sequence++}] = node;
        } else {
            now += nanoseconds(below(30));
            while (Node* const node = queue.pop_due(now)) {
                BOOST_REQUIRE(!model.empty());
                BOOST_REQUIRE(model.begin()->second == node);
                BOOST_REQUIRE((model.begin()->first.first == node->when));
                BOOST_REQUIRE((node->when <= now));
                model.erase(model.begin());
                queue.drop(node);
            }
            BOOST_REQUIRE((model.empty() || model.begin()->first.first > now));
        }
        BOOST_REQUIRE(queue.entries() - queue.dead_entries() == model.size());
    }
    BOOST_TEST(purges > 0u);
    std::size_t visited = 0;
    queue.for_each([&visited](const Node&) { ++visited; });
    BOOST_TEST(visited == model.size());
}

// Numbering begins just before the end of 32 bits.
BOOST_AUTO_TEST_CASE(equal_deadlines_keep_their_order_when_sequence_numbers_come_round) {
    Queue queue;
    std::vector<Node*> expected;
    Node* const moved = queue.add(at(100));
    Node* const nearer = queue.add(at(600));
    const std::uint32_t first = moved->sequence;
    queue.rearm(moved, at(500));  // in the heap it still has its old place when they come round
    queue.rearm(nearer, at(500));
    expected = {moved, nearer};
    for (int i = 0; i < 1000; ++i) expected.push_back(queue.add(at(500)));
    BOOST_TEST(expected.back()->sequence < first);
    BOOST_TEST(queue.dead_entries() == 0u);  // no old entry is left to meet its number again
    queue.rearm(expected[3], at(500));
    std::rotate(expected.begin() + 3, expected.begin() + 4, expected.end());
    for (Node* node : expected) {
        BOOST_REQUIRE(queue.pop_due(at(500)) == node);
        queue.drop(node);
    }
}

// Whichever of the calls it is in which they come round.
BOOST_AUTO_TEST_CASE(a_deadline_moved_to_and_fro_is_kept_when_sequence_numbers_come_round) {
    for (const int odd : {0, 1}) {
        Queue queue;
        Node* const node = queue.add(at(100));
        std::uint32_t before = 0;
        bool came_round = false;
        for (int i = odd; i < 300; ++i) {
            before = node->sequence;
            queue.rearm(node, i % 2 == 0 ? at(300) : at(200));
            if (node->sequence > before) continue;
            came_round = true;
            break;
        }
        BOOST_TEST(came_round);
        const TimePoint when = node->when;
        BOOST_TEST(queue.pop_due(when - nanoseconds(1)) == nullptr);
        BOOST_TEST((queue.next_deadline() == when));
        BOOST_REQUIRE(queue.pop_due(when) == node);
        queue.drop(node);
    }
}

BOOST_AUTO_TEST_CASE(a_node_is_used_again_while_old_entries_of_it_are_about) {
    Queue queue;
    Node* const other = queue.add(at(30));
    for (long i = 0; i < 40; ++i) {
        Node* const node = queue.add(at(10 + i));
        queue.rearm(node, at(9));
        queue.cancel(node);
    }
    BOOST_TEST(queue.nodes_out() == 1u);
    Node* const node = queue.add(at(20));
    BOOST_TEST(queue.pop_due(at(19)) == nullptr);
    BOOST_TEST(queue.pop_due(at(100)) == node);
    queue.drop(node);
    BOOST_TEST(queue.pop_due(at(100)) == other);
    queue.drop(other);
    BOOST_TEST((queue.next_deadline() == reactor::never()));
    BOOST_TEST(queue.dead_entries() == 0u);
}

BOOST_AUTO_TEST_CASE(a_deadline_pulled_nearer_leaves_no_pile_of_old_entries) {
    Queue queue;
    Node* const node = queue.add(at(1000000));
    for (long i = 1; i < 10000; ++i) queue.rearm(node, at(1000000 - i));
    BOOST_TEST(queue.entries() <= 101u);
    BOOST_TEST(queue.entries() - queue.dead_entries() == 1u);
    BOOST_TEST(queue.pop_due(at(990000)) == nullptr);
    BOOST_TEST(queue.pop_due(at(990001)) == node);
    queue.drop(node);
}

REACTOR_LOOP_TEST(L_11_when_cancelled_entries_are_removed) {
    struct Variant {
        int entries;
        int cancelled;
        std::size_t left;
    };
    for (const Variant v : {Variant{100, 99, 100}, Variant{102, 51, 102}, Variant{101, 51, 50}}) {
        reactor::testing::TestLoop own(loop.selector_name());
        std::vector<TimerHandle> timers;
        for (int i = 0; i < v.entries; ++i) timers.push_back(own.call_later(seconds(i + 1), [] {}));
        for (int i = 1; i <= v.cancelled; ++i) timers[static_cast<std::size_t>(i)].cancel();
        own.run_iterations(1);
        BOOST_TEST(own.core().timers.entries() == v.left);
        BOOST_TEST(own.timer_count() == static_cast<std::size_t>(v.entries - v.cancelled));
        BOOST_TEST(own.core().timers.dead_entries() == v.left - own.timer_count());
        timers[0].cancel();  // now dead ones are at the head, and go whatever their number
        own.run_iterations(1);
        BOOST_TEST(own.core().timers.dead_entries() == 0u);
    }
}

REACTOR_LOOP_TEST(L_12_the_live_ones_survive_the_removal) {
    std::vector<int> delays(150);
    for (int i = 0; i < 150; ++i) delays[static_cast<std::size_t>(i)] = i + 1;
    std::shuffle(delays.begin(), delays.end(), std::mt19937(7));
    std::vector<int> fired;
    std::vector<int> expected;
    std::vector<TimerHandle> dead;
    for (int delay : delays) {
        const bool doomed = delay > 1 && delay <= 91;
        if (!doomed) expected.push_back(delay);
        TimerHandle timer =
            loop.call_later(seconds(delay), [&fired, delay] { fired.push_back(delay); });
        if (doomed) dead.push_back(timer);
    }
    for (TimerHandle& timer : dead) BOOST_TEST(timer.cancel());
    loop.run_iterations(1);
    BOOST_TEST(loop.core().timers.entries() < 150u);  // some were removed
    const std::size_t before = loop.core().timers.dead_entries();
    for (TimerHandle& timer : dead) BOOST_TEST(!timer.cancel());
    BOOST_TEST(loop.core().timers.dead_entries() == before);
    BOOST_TEST(loop.timer_count() == 60u);
    std::sort(expected.begin(), expected.end());
    loop.run_for(seconds(150));
    BOOST_TEST(fired == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
