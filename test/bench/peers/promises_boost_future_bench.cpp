// SPDX-License-Identifier: BSL-1.0
//
// The life of a boost::promise whose future has a continuation: run where the value is set
// ("boost-future"), which spares it the queue that ours has, and on an executor's queue as ours is
// ("boost-future-executor").
#define BOOST_THREAD_VERSION 4
#define BOOST_THREAD_PROVIDES_EXECUTORS
#include <boost/thread/executors/loop_executor.hpp>
#include <boost/thread/future.hpp>
#include <boost/version.hpp>

#include <cstdint>
#include <string>
#include <utility>

#include <test/bench/peers/callback_workloads.hpp>

namespace {

using bench::Measurement;

int add_one(boost::future<int> value) { return value.get() + 1; }

std::uint64_t inline_then(std::uint64_t operations, Measurement& measured) {
    return bench::callback_batches(operations, measured, [](std::uint64_t batches) {
        for (std::uint64_t i = batches * bench::callbacks_at_a_time; i != 0; --i) {
            boost::promise<int> promise;
            const boost::future<int> after =
                promise.get_future().then(boost::launch::sync, &add_one);
            promise.set_value(1);
        }
    });
}

std::uint64_t queued_then(std::uint64_t operations, Measurement& measured) {
    boost::loop_executor executor;
    return bench::callback_batches(operations, measured, [&executor](std::uint64_t batches) {
        for (; batches != 0; --batches) {
            for (std::size_t i = 0; i < bench::callbacks_at_a_time; ++i) {
                boost::promise<int> promise;
                const boost::future<int> after = promise.get_future().then(executor, &add_one);
                promise.set_value(1);
            }
            executor.run_queued_closures();
        }
    });
}

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(
        std::string("Boost.Thread ") + BOOST_LIB_VERSION,
        {{"promise-then", "boost-future", 500000, 20000, inline_then, bench::few},
         {"promise-then", "boost-future-executor", 500000, 20000, queued_then, bench::few}},
        {}, argc, argv);
}
