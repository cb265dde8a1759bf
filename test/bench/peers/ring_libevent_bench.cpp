// SPDX-License-Identifier: BSL-1.0
//
// The ring of sockets on libevent's events, where it comes from.
#include <event2/event.h>
#include <event2/event_struct.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

#include <test/bench/peers/libevent_base.hpp>
#include <test/bench/peers/ring_workloads.hpp>

namespace {

class Watcher {
public:
    explicit Watcher(bench::Ring& ring) : ring_(ring), places_(ring.sockets().size()) {
        for (std::size_t i = 0; i < places_.size(); ++i) {
            places_[i].owner = this;
            if (event_assign(&places_[i].watch, base_.get(), ring.sockets()[i],
                             EV_READ | EV_PERSIST, &Watcher::readable, &places_[i]) != 0 ||
                event_add(&places_[i].watch, nullptr) != 0) {
                throw std::runtime_error("event_add");
            }
        }
    }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    ~Watcher() {
        for (Place& place : places_) event_del(&place.watch);
    }

    void turn() { event_base_loop(base_.get(), EVLOOP_NONBLOCK); }
    void run() { event_base_dispatch(base_.get()); }

private:
    struct Place {
        event watch;
        Watcher* owner;
    };

    static void readable(int, short, void* data) {
        Place* const place = static_cast<Place*>(data);
        Watcher& self = *place->owner;
        if (self.ring_.pass(static_cast<std::size_t>(place - self.places_.data()))) {
            event_base_loopbreak(self.base_.get());
        }
    }

    bench::Ring& ring_;
    std::vector<Place> places_;
    bench::LibeventBase base_ = bench::make_libevent_base(bench::libevent_on_one_thread);
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(bench::libevent_version(), bench::ring_workloads<Watcher>("libevent"),
                           {}, argc, argv);
}
