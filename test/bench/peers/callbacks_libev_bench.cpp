// SPDX-License-Identifier: BSL-1.0
//
// Callbacks on libev: ev_feed_event(), whose events are called, the last one first, before the loop
// looks for others: unlike ours it does not poll between two callbacks of a chain. A post is a
// queue by hand and ev_async_send().
#include <ev.h>

#include <cstdint>
#include <thread>
#include <vector>

#include <test/bench/peers/callback_workloads.hpp>
#include <test/bench/peers/libev_loop.hpp>

namespace {

using bench::Measurement;

std::uint64_t chain(std::uint64_t operations, Measurement& measured) {
    struct Chain {
        std::uint64_t left;
        ev_prepare next;

        static void link(struct ev_loop* loop, ev_prepare* watcher, int) {
            Chain& self = *static_cast<Chain*>(watcher->data);
            if (--self.left != 0) ev_feed_event(loop, &self.next, EV_CUSTOM);
        }
    } links{operations, ev_prepare()};
    const bench::LibevLoop loop = bench::make_libev_loop();
    ev_init(&links.next, &Chain::link);
    links.next.data = &links;
    measured([&] {
        ev_feed_event(loop.get(), &links.next, EV_CUSTOM);
        ev_run(loop.get(), EVRUN_NOWAIT);
    });
    return operations;
}

std::uint64_t batch(std::uint64_t operations, Measurement& measured) {
    struct Batches {
        std::uint64_t left = 0;
        std::uint64_t ran = 0;
        ev_prepare next;
        std::vector<ev_prepare> ones = std::vector<ev_prepare>(bench::callbacks_at_a_time);

        static void one(struct ev_loop*, ev_prepare* watcher, int) {
            ++static_cast<Batches*>(watcher->data)->ran;
        }
        static void all(struct ev_loop* loop, ev_prepare* watcher, int) {
            Batches& self = *static_cast<Batches*>(watcher->data);
            if (self.left-- == 0) return;
            ev_feed_event(loop, &self.next, EV_CUSTOM);  // fed first, called last
            for (ev_prepare& each : self.ones) ev_feed_event(loop, &each, EV_CUSTOM);
        }
    } batches;
    const bench::LibevLoop loop = bench::make_libev_loop();
    for (ev_prepare& each : batches.ones) {
        ev_init(&each, &Batches::one);
        each.data = &batches;
    }
    ev_init(&batches.next, &Batches::all);
    batches.next.data = &batches;
    return bench::callback_batches(operations, measured, [&](std::uint64_t count) {
        batches.left = count;
        ev_feed_event(loop.get(), &batches.next, EV_CUSTOM);
        ev_run(loop.get(), EVRUN_NOWAIT);
    });
}

std::uint64_t post(std::uint64_t operations, Measurement& measured) {
    struct Work {
        bench::PostInbox inbox;
        std::uint64_t left;
        ev_async wakeup;

        static void woken(struct ev_loop* loop, ev_async* async, int) {
            Work& self = *static_cast<Work*>(async->data);
            self.inbox.run();
            if (self.left == 0) ev_break(loop, EVBREAK_ALL);
        }
    } work;
    work.left = operations;
    const bench::LibevLoop loop = bench::make_libev_loop();
    ev_async_init(&work.wakeup, &Work::woken);
    work.wakeup.data = &work;
    ev_async_start(loop.get(), &work.wakeup);
    measured([&] {
        std::thread thread = bench::poster(operations, [&work, &loop] {
            if (work.inbox.push([](void* left) { --*static_cast<std::uint64_t*>(left); },
                                &work.left)) {
                ev_async_send(loop.get(), &work.wakeup);
            }
        });
        ev_run(loop.get(), 0);
        thread.join();
    });
    ev_async_stop(loop.get(), &work.wakeup);
    return operations;
}

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(bench::libev_version(),
                           bench::callback_workloads("libev", chain, batch, post), {}, argc, argv);
}
