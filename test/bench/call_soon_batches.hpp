// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_CALL_SOON_BATCHES_HPP
#define REACTOR_TEST_BENCH_CALL_SOON_BATCHES_HPP

#include <reactor/event_loop.hpp>

#include <cstdint>
#include <utility>

#include <test/bench/measure.hpp>

namespace bench {

constexpr std::uint64_t batch_size = 1000;

/// Calls `one()` a thousand times in a callback, then lets the loop run what that queued; again
/// until there were `operations`. The first batches, in which free lists fill, are not measured.
template <class F>
class Batches {
public:
    Batches(reactor::EventLoop& loop, F one) : loop_(loop), one_(std::move(one)) {}

    std::uint64_t run(std::uint64_t operations, Measurement& measured) {
        const std::uint64_t batches = (operations + batch_size - 1) / batch_size;
        run(2);
        measured([&] { run(batches); });
        return batches * batch_size;
    }

private:
    void run(std::uint64_t batches) {
        left_ = batches;
        loop_.call_soon(&Batches::batch, this);
        loop_.run_forever();
    }
    void batch() {
        if (left_-- == 0) {
            loop_.stop();
            return;
        }
        for (std::uint64_t i = 0; i < batch_size; ++i) one_();
        loop_.call_soon(&Batches::batch, this);
    }

    reactor::EventLoop& loop_;
    F one_;
    std::uint64_t left_ = 0;
};

template <class F>
std::uint64_t in_batches(reactor::EventLoop& loop, std::uint64_t operations, Measurement& measured,
                         F one) {
    return Batches<F>(loop, std::move(one)).run(operations, measured);
}

/// The bare call_soon(), which what is built on it is compared with.
inline std::uint64_t call_soon_batches(std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    std::uint64_t ran = 0;
    return in_batches(loop, operations, measured, [&] { loop.call_soon([&ran] { ++ran; }); });
}

}  // namespace bench

#endif
