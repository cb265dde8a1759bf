// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_CALLBACK_WORKLOADS_HPP
#define REACTOR_TEST_BENCH_PEERS_CALLBACK_WORKLOADS_HPP

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <test/bench/peers/peer_program.hpp>
#include <test/bench/poster.hpp>

namespace bench {

constexpr std::size_t callbacks_at_a_time = 1000;

/// Runs `run(batches)`, which is to queue a thousand callbacks in a callback so many times: for so
/// many operations, after two batches in which memory is taken.
template <class F>
std::uint64_t callback_batches(std::uint64_t operations, Measurement& measured, F run) {
    const std::uint64_t batches = (operations + callbacks_at_a_time - 1) / callbacks_at_a_time;
    run(2);
    measured([&] { run(batches); });
    return batches * callbacks_at_a_time;
}

/// What other threads want to be called, for a loop that can be woken and no more than that.
class PostInbox {
public:
    /// From any thread. Whether the loop is to be woken.
    bool push(void (*function)(void*), void* data) {
        const std::lock_guard<std::mutex> lock(mutex_);
        calls_.push_back(Call{function, data});
        return calls_.size() == 1;
    }
    /// On the loop's thread, when it has been woken.
    void run() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            running_.swap(calls_);
        }
        for (const Call& call : running_) call.function(call.data);
        running_.clear();
    }

private:
    struct Call {
        void (*function)(void*);
        void* data;
    };

    std::mutex mutex_;
    std::vector<Call> calls_;
    std::vector<Call> running_;
};

/// The workloads of callbacks, each with a peer's function for it.
inline std::vector<PeerWorkload> callback_workloads(const char* implementation, Run chain,
                                                    Run batch, Run post) {
    return {{"call_soon-chain", implementation, 1000000, 20000, chain, few},
            {"call_soon-batch", implementation, 5000000, 200000, batch, few},
            {"post", implementation, 2000000, 50000, post, few}};
}

}  // namespace bench

#endif
