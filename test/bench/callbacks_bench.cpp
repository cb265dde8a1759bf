// SPDX-License-Identifier: BSL-1.0
//
// call_soon(): a thousand callbacks per iteration, and one that queues the next. The limit of the
// batch is a preallocated ring of function pointers, that of the chain a loop that polls and calls.
// The chain on io_uring looks without a system call: what that can save at most is the difference
// to a loop that does not poll at all ("limit-unpolled").
#include <reactor/context.hpp>
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <vector>

#include <test/bench/call_soon_batches.hpp>
#include <test/bench/measure.hpp>
#include <test/bench/raw_poll.hpp>

namespace {

using bench::Measurement;

std::uint64_t batch_with_context(std::uint64_t operations, Measurement& measured) {
    reactor::ContextVar<int> request("request");
    reactor::EventLoop loop;
    std::uint64_t ran = 0;
    reactor::Context context;
    return context.run([&] {
        request.set(1);
        return bench::in_batches(loop, operations, measured,
                                 [&] { loop.call_soon([&ran] { ++ran; }); });
    });
}

class RawRing {
public:
    explicit RawRing(std::size_t power)
        : calls_(std::size_t(1) << power), mask_(calls_.size() - 1) {}

    void push(void (*function)(void*), void* data) noexcept {
        calls_[end_++ & mask_] = bench::RawCall{function, data};
    }
    void run() noexcept {
        for (const std::size_t end = end_; begin_ != end; ++begin_) {
            const bench::RawCall& call = calls_[begin_ & mask_];
            call.function(call.data);
        }
    }

private:
    std::vector<bench::RawCall> calls_;
    std::size_t mask_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

std::uint64_t batch_limit(std::uint64_t operations, Measurement& measured) {
    bench::RawPoll poll;
    RawRing ring(10);
    std::uint64_t ran = 0;
    const std::uint64_t batches = (operations + bench::batch_size - 1) / bench::batch_size;
    measured([&] {
        for (std::uint64_t batch = 0; batch < batches; ++batch) {
            for (std::uint64_t i = 0; i < bench::batch_size; ++i) {
                ring.push([](void* data) { ++*static_cast<std::uint64_t*>(data); }, &ran);
            }
            poll.look();
            ring.run();
        }
    });
    return ran;
}

struct Chain {
    reactor::EventLoop& loop;
    std::uint64_t left;

    void link() {
        if (--left == 0) {
            loop.stop();
        } else {
            loop.call_soon([this] { link(); });
        }
    }
};

std::uint64_t chain_on(const char* selector, std::uint64_t operations, Measurement& measured) {
    reactor::EventLoop loop(reactor::make_selector(selector));
    Chain chain{loop, operations};
    measured([&] {
        loop.call_soon([&chain] { chain.link(); });
        loop.run_forever();
    });
    return operations;
}

std::uint64_t chain(std::uint64_t operations, Measurement& measured) {
    return chain_on("epoll", operations, measured);
}

std::uint64_t chain_on_io_uring(std::uint64_t operations, Measurement& measured) {
    return chain_on("io_uring", operations, measured);
}

/// Says on standard error why not.
bool has_io_uring() {
    try {
        reactor::make_selector("io_uring");
        return true;
    } catch (const std::system_error& error) {
        std::fprintf(stderr, "call_soon-chain ours-io_uring: left out, %s\n", error.what());
        return false;
    }
}

struct RawChain {
    RawRing ring;
    std::uint64_t left;

    static void link(void* data) {
        RawChain& self = *static_cast<RawChain*>(data);
        if (--self.left != 0) self.ring.push(&RawChain::link, data);
    }
};

template <bool polls>
std::uint64_t chain_limit(std::uint64_t operations, Measurement& measured) {
    bench::RawPoll poll;
    RawChain chain{RawRing(10), operations};
    measured([&] {
        chain.ring.push(&RawChain::link, &chain);
        while (chain.left != 0) {
            if (polls) poll.look();
            chain.ring.run();
        }
    });
    return operations;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<bench::Implementation> chains = {
        {"ours", chain}, {"limit", chain_limit<true>}, {"limit-unpolled", chain_limit<false>}};
    const bool listing = argc == 2 && std::strcmp(argv[1], "list") == 0;
    if (!listing || has_io_uring()) chains.push_back({"ours-io_uring", chain_on_io_uring});
    return bench::run(
        {
            {"call_soon-batch",
             20000000,
             200000,
             {{"ours", bench::call_soon_batches},
              {"ours-context", batch_with_context},
              {"limit", batch_limit}}},
            {"call_soon-chain", 1000000, 20000, chains},
        },
        argc, argv);
}
