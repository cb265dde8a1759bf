// SPDX-License-Identifier: BSL-1.0
//
// Callbacks on libevent: event_active(), whose events are called before the loop looks for others:
// unlike ours it does not poll between two callbacks of a chain. A post is a queue by hand and
// event_active() on a base with locks.
#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/thread.h>

#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include <test/bench/peers/callback_workloads.hpp>
#include <test/bench/peers/libevent_base.hpp>

namespace {

using bench::LibeventBase;
using bench::Measurement;

void assign(event& event, const LibeventBase& base, event_callback_fn callback, void* data) {
    if (event_assign(&event, base.get(), -1, 0, callback, data) != 0) {
        throw std::runtime_error("event_assign");
    }
}

std::uint64_t chain(std::uint64_t operations, Measurement& measured) {
    struct Chain {
        std::uint64_t left;
        event next;

        static void link(int, short, void* data) {
            Chain& self = *static_cast<Chain*>(data);
            if (--self.left != 0) event_active(&self.next, EV_TIMEOUT, 0);
        }
    } links{operations, event()};
    const LibeventBase base = bench::make_libevent_base(bench::libevent_on_one_thread);
    assign(links.next, base, &Chain::link, &links);
    measured([&] {
        event_active(&links.next, EV_TIMEOUT, 0);
        event_base_dispatch(base.get());
    });
    return operations;
}

std::uint64_t batch(std::uint64_t operations, Measurement& measured) {
    struct Batches {
        std::uint64_t left = 0;
        std::uint64_t ran = 0;
        event next;
        std::vector<event> ones = std::vector<event>(bench::callbacks_at_a_time);

        static void one(int, short, void* data) { ++static_cast<Batches*>(data)->ran; }
        static void all(int, short, void* data) {
            Batches& self = *static_cast<Batches*>(data);
            if (self.left-- == 0) return;
            for (event& each : self.ones) event_active(&each, EV_TIMEOUT, 0);
            event_active(&self.next, EV_TIMEOUT, 0);
        }
    } batches;
    const LibeventBase base = bench::make_libevent_base(bench::libevent_on_one_thread);
    for (event& each : batches.ones) assign(each, base, &Batches::one, &batches);
    assign(batches.next, base, &Batches::all, &batches);
    return bench::callback_batches(operations, measured, [&](std::uint64_t count) {
        batches.left = count;
        event_active(&batches.next, EV_TIMEOUT, 0);
        event_base_dispatch(base.get());
    });
}

std::uint64_t post(std::uint64_t operations, Measurement& measured) {
    struct Work {
        bench::PostInbox inbox;
        std::uint64_t left;
        event wakeup;
        event_base* base;

        static void woken(int, short, void* data) {
            Work& self = *static_cast<Work*>(data);
            self.inbox.run();
            if (self.left == 0) event_base_loopbreak(self.base);
        }
    } work;
    if (evthread_use_pthreads() != 0) throw std::runtime_error("evthread_use_pthreads");
    const LibeventBase base = bench::make_libevent_base(EVENT_BASE_FLAG_IGNORE_ENV);
    work.left = operations;
    work.base = base.get();
    assign(work.wakeup, base, &Work::woken, &work);
    measured([&] {
        std::thread thread = bench::poster(operations, [&work] {
            if (work.inbox.push([](void* left) { --*static_cast<std::uint64_t*>(left); },
                                &work.left)) {
                event_active(&work.wakeup, EV_TIMEOUT, 0);
            }
        });
        event_base_loop(base.get(), EVLOOP_NO_EXIT_ON_EMPTY);
        thread.join();
    });
    return operations;
}

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(bench::libevent_version(),
                           bench::callback_workloads("libevent", chain, batch, post), {}, argc,
                           argv);
}
