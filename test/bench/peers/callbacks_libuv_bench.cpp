// SPDX-License-Identifier: BSL-1.0
//
// Callbacks on libuv, which has no call for "soon": its idle handles are what is called in the next
// iteration. A post is a queue by hand and uv_async_send().
#include <uv.h>

#include <cstdint>
#include <thread>
#include <vector>

#include <test/bench/peers/callback_workloads.hpp>
#include <test/bench/peers/libuv_loop.hpp>

namespace {

using bench::Measurement;

std::uint64_t chain(std::uint64_t operations, Measurement& measured) {
    struct Chain {
        std::uint64_t left;
        uv_idle_t next;

        static void link(uv_idle_t* idle) {
            Chain& self = *static_cast<Chain*>(idle->data);
            uv_idle_stop(idle);
            if (--self.left != 0) uv_idle_start(&self.next, &Chain::link);
        }
    } links{operations, uv_idle_t()};
    bench::LibuvLoop loop;
    uv_idle_init(loop.get(), &links.next);
    links.next.data = &links;
    measured([&] {
        uv_idle_start(&links.next, &Chain::link);
        uv_run(loop.get(), UV_RUN_DEFAULT);
    });
    return operations;
}

std::uint64_t batch(std::uint64_t operations, Measurement& measured) {
    struct Batches {
        std::uint64_t left = 0;
        std::uint64_t ran = 0;
        uv_idle_t next;
        std::vector<uv_idle_t> ones = std::vector<uv_idle_t>(bench::callbacks_at_a_time);

        static void one(uv_idle_t* idle) {
            ++static_cast<Batches*>(idle->data)->ran;
            uv_idle_stop(idle);
        }
        static void all(uv_idle_t* idle) {
            Batches& self = *static_cast<Batches*>(idle->data);
            uv_idle_stop(idle);
            if (self.left-- == 0) return;
            for (uv_idle_t& each : self.ones) uv_idle_start(&each, &Batches::one);
            uv_idle_start(&self.next, &Batches::all);
        }
    } batches;
    bench::LibuvLoop loop;
    for (uv_idle_t& each : batches.ones) {
        uv_idle_init(loop.get(), &each);
        each.data = &batches;
    }
    uv_idle_init(loop.get(), &batches.next);
    batches.next.data = &batches;
    return bench::callback_batches(operations, measured, [&](std::uint64_t count) {
        batches.left = count;
        uv_idle_start(&batches.next, &Batches::all);
        uv_run(loop.get(), UV_RUN_DEFAULT);
    });
}

std::uint64_t post(std::uint64_t operations, Measurement& measured) {
    struct Work {
        bench::PostInbox inbox;
        std::uint64_t left;
        uv_async_t wakeup;
    } work;
    work.left = operations;
    bench::LibuvLoop loop;
    const auto woken = [](uv_async_t* async) {
        Work& self = *static_cast<Work*>(async->data);
        self.inbox.run();
        if (self.left == 0) uv_stop(async->loop);
    };
    bench::uv_checked(uv_async_init(loop.get(), &work.wakeup, woken), "uv_async_init");
    work.wakeup.data = &work;
    measured([&] {
        std::thread thread = bench::poster(operations, [&work] {
            if (work.inbox.push([](void* left) { --*static_cast<std::uint64_t*>(left); },
                                &work.left)) {
                uv_async_send(&work.wakeup);
            }
        });
        uv_run(loop.get(), UV_RUN_DEFAULT);
        thread.join();
    });
    return operations;
}

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(bench::libuv_version(),
                           bench::callback_workloads("libuv", chain, batch, post), {}, argc, argv);
}
