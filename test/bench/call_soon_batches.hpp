// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_CALL_SOON_BATCHES_HPP
#define REACTOR_TEST_BENCH_CALL_SOON_BATCHES_HPP

#include <reactor/event_loop.hpp>

#include <cstdint>

#include <test/bench/measure.hpp>

namespace bench {

constexpr std::uint64_t batch_size = 1000;

/// Calls `one()` a thousand times, then lets the loop run what that queued; again until there were
/// `operations`. The first batches, in which free lists fill, are not measured.
template <class F>
std::uint64_t in_batches(reactor::EventLoop& loop, std::uint64_t operations, Measurement& measured,
                         F one) {
    const auto batches = [&](std::uint64_t count) {
        for (; count != 0; --count) {
            for (std::uint64_t i = 0; i < batch_size; ++i) one();
            loop.run_once(reactor::Duration::zero());
        }
    };
    const std::uint64_t count = (operations + batch_size - 1) / batch_size;
    batches(2);
    measured([&] { batches(count); });
    return count * batch_size;
}

/// The bare call_soon(), which what is built on it is compared with.
inline std::uint64_t call_soon_batches(std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    std::uint64_t ran = 0;
    return in_batches(loop, operations, measured, [&] { loop.call_soon([&ran] { ++ran; }); });
}

}  // namespace bench

#endif
