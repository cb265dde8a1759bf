// SPDX-License-Identifier: BSL-1.0
//
// Nodes have room for a small callable or for a larger one, and are used again: whatever the sizes
// that follow each other, no callable may lie in another's room.
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::Promise;

namespace {

struct Tally {
    int intact = 0;
    int damaged = 0;
    unsigned char seed = 0;
};

/// A callable of a tally's pointer and so many bytes more, which knows whether they are as they
/// were.
template <std::size_t more>
class Filled {
public:
    explicit Filled(Tally& tally) : tally_(&tally) { bytes_.fill(++tally.seed); }

    void operator()() const {
        bool whole = true;
        for (const unsigned char byte : bytes_) whole = whole && byte == bytes_[0];
        ++(whole ? tally_->intact : tally_->damaged);
    }
    template <class T>
    void operator()(const T&) const {
        (*this)();
    }

private:
    Tally* tally_;
    std::array<unsigned char, more> bytes_;
};
static_assert(sizeof(Filled<8>) == 16 && sizeof(Filled<40>) == 48, "either side of each limit");

// The ways to hand a callable to a loop.

struct Soon {
    template <class F>
    static void one(EventLoop& loop, F f) {
        loop.call_soon(std::move(f));
    }
};

struct Posted {
    template <class F>
    static void one(EventLoop& loop, F f) {
        loop.poster().post(std::move(f));
    }
};

struct Later {
    template <class F>
    static void one(EventLoop& loop, F f) {
        loop.call_later(milliseconds(0), std::move(f));
    }
};

struct Done {
    template <class F>
    static void one(EventLoop& loop, F f) {
        const Promise<int> promise = loop.create_promise<int>();
        promise.add_done_callback(std::move(f));
        promise.set_result(1);
    }
};

/// Callables of all sizes by turns, in random order, several times over.
template <class Way>
void mix(reactor::testing::TestLoop& loop) {
    Tally tally;
    const std::vector<std::function<void()>> sizes = {
        [&] { Way::one(loop, Filled<1>(tally)); },  [&] { Way::one(loop, Filled<8>(tally)); },
        [&] { Way::one(loop, Filled<9>(tally)); },  [&] { Way::one(loop, Filled<24>(tally)); },
        [&] { Way::one(loop, Filled<40>(tally)); }, [&] { Way::one(loop, Filled<41>(tally)); },
        [&] { Way::one(loop, Filled<300>(tally)); }};
    std::mt19937 random(1);
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 200; ++i) sizes[random() % sizes.size()]();
        loop.run_iterations(2);
    }
    BOOST_TEST(tally.intact == 1000);
    BOOST_TEST(tally.damaged == 0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(callable_sizes)

REACTOR_LOOP_TEST(call_soon_keeps_them_apart) { mix<Soon>(loop); }

REACTOR_LOOP_TEST(posts_keep_them_apart) { mix<Posted>(loop); }

REACTOR_LOOP_TEST(timers_keep_them_apart) { mix<Later>(loop); }

REACTOR_LOOP_TEST(done_callbacks_keep_them_apart) { mix<Done>(loop); }

BOOST_AUTO_TEST_SUITE_END()
