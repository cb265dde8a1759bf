// SPDX-License-Identifier: BSL-1.0
//
// Callbacks on Boost.Asio: post(), from the loop's thread and from another one.
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/version.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include <test/bench/peers/callback_workloads.hpp>

namespace {

namespace asio = boost::asio;
using bench::Measurement;

/// A context that one thread runs, with a reactor as there is in every program that has sockets or
/// timers: without one it never looks for events.
struct Context : asio::io_context {
    Context() : asio::io_context(1) {}

    asio::steady_timer timer{*this};
};

struct Chain {
    asio::io_context& context;
    std::uint64_t left;

    void link() {
        if (--left != 0) asio::post(context, [this] { link(); });
    }
};

std::uint64_t chain(std::uint64_t operations, Measurement& measured) {
    Context context;
    Chain links{context, operations};
    measured([&] {
        asio::post(context, [&links] { links.link(); });
        context.run();
    });
    return operations;
}

struct Batches {
    asio::io_context& context;
    std::uint64_t left;
    std::uint64_t ran;

    void all() {
        if (left-- == 0) return;
        for (std::size_t i = 0; i < bench::callbacks_at_a_time; ++i) {
            asio::post(context, [this] { ++ran; });
        }
        asio::post(context, [this] { all(); });
    }
};

std::uint64_t batch(std::uint64_t operations, Measurement& measured) {
    Context context;
    Batches batches{context, 0, 0};
    return bench::callback_batches(operations, measured, [&](std::uint64_t count) {
        batches.left = count;
        asio::post(context, [&batches] { batches.all(); });
        context.restart();
        context.run();
    });
}

std::uint64_t post(std::uint64_t operations, Measurement& measured) {
    Context context;
    const auto work = asio::make_work_guard(context.get_executor());
    std::uint64_t left = operations;
    measured([&] {
        std::thread thread = bench::poster(operations, [&context, &left] {
            asio::post(context, [&context, &left] {
                if (--left == 0) context.stop();
            });
        });
        context.run();
        thread.join();
    });
    return operations;
}

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(std::string("Boost.Asio ") + BOOST_LIB_VERSION,
                           bench::callback_workloads("asio", chain, batch, post), {}, argc, argv);
}
