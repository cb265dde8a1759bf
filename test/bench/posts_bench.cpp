// SPDX-License-Identifier: BSL-1.0
//
// call_soon_threadsafe() from another thread, as fast as it can, and from four. The limit is a
// vector of function pointers under a mutex, swapped whole, with an eventfd for when the loop
// sleeps. CPU time and instructions are those of all threads.
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <test/bench/measure.hpp>
#include <test/bench/poster.hpp>
#include <test/bench/raw_poll.hpp>

namespace {

using bench::Measurement;

/// So many threads, `each` operations apiece, while `consume` runs.
template <class F, class G>
void with_posters(std::size_t count, std::uint64_t each, F post, G consume) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) threads.push_back(bench::poster(each, post));
    consume();
    for (std::thread& thread : threads) thread.join();
}

template <std::size_t producers>
std::uint64_t post(std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop;
    const std::uint64_t each = (operations + producers - 1) / producers;
    struct Work {
        reactor::EventLoop& loop;
        std::uint64_t left;
    } work{loop, each * producers};
    measured([&] {
        const auto one = [&work] {
            work.loop.call_soon_threadsafe([&work] {
                if (--work.left == 0) work.loop.stop();
            });
        };
        with_posters(producers, each, one, [&loop] { loop.run_forever(); });
    });
    return each * producers;
}

class RawInbox {
public:
    void post(void (*function)(void*), void* data) {
        const std::lock_guard<std::mutex> lock(mutex_);
        calls_.push_back(bench::RawCall{function, data});
        if (sleeping_) {
            sleeping_ = false;
            poll_.wake();
        }
    }

    /// Waits for posts and runs them.
    void run() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            sleeping_ = calls_.empty();
            running_.swap(calls_);
        }
        if (running_.empty()) {
            poll_.sleep();
        } else {
            poll_.look();
        }
        for (const bench::RawCall& call : running_) call.function(call.data);
        running_.clear();
    }

private:
    std::mutex mutex_;
    std::vector<bench::RawCall> calls_;
    bool sleeping_ = false;
    std::vector<bench::RawCall> running_;
    bench::RawPoll poll_;
};

template <std::size_t producers>
std::uint64_t post_limit(std::uint64_t operations, Measurement& measured) {
    RawInbox inbox;
    const std::uint64_t each = (operations + producers - 1) / producers;
    std::uint64_t left = each * producers;
    measured([&] {
        const auto one = [&inbox, &left] {
            inbox.post([](void* data) { --*static_cast<std::uint64_t*>(data); }, &left);
        };
        const auto consume = [&inbox, &left] {
            while (left != 0) inbox.run();
        };
        with_posters(producers, each, one, consume);
    });
    return each * producers;
}

}  // namespace

int main(int argc, char** argv) {
    return bench::run(
        {
            {"post", 2000000, 50000, {{"ours", post<1>}, {"limit", post_limit<1>}}},
            {"post-4-producers", 2000000, 50000, {{"ours", post<4>}, {"limit", post_limit<4>}}},
        },
        argc, argv);
}
