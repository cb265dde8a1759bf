// SPDX-License-Identifier: BSL-1.0
//
// The ring of sockets on libev's ev_io.
#include <ev.h>

#include <cstddef>
#include <vector>

#include <test/bench/peers/libev_loop.hpp>
#include <test/bench/peers/ring_workloads.hpp>

namespace {

class Watcher {
public:
    explicit Watcher(bench::Ring& ring) : ring_(ring), watchers_(ring.sockets().size()) {
        for (std::size_t i = 0; i < watchers_.size(); ++i) {
            ev_io_init(&watchers_[i], &Watcher::readable, ring.sockets()[i], EV_READ);
            watchers_[i].data = this;
            ev_io_start(loop_.get(), &watchers_[i]);
        }
    }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    ~Watcher() {
        for (ev_io& watcher : watchers_) ev_io_stop(loop_.get(), &watcher);
    }

    void turn() { ev_run(loop_.get(), EVRUN_NOWAIT); }
    void run() { ev_run(loop_.get(), 0); }

private:
    static void readable(struct ev_loop* loop, ev_io* watcher, int) {
        Watcher& self = *static_cast<Watcher*>(watcher->data);
        if (self.ring_.pass(static_cast<std::size_t>(watcher - self.watchers_.data()))) {
            ev_break(loop, EVBREAK_ALL);
        }
    }

    bench::Ring& ring_;
    std::vector<ev_io> watchers_;
    bench::LibevLoop loop_ = bench::make_libev_loop();
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(bench::libev_version(), bench::ring_workloads<Watcher>("libev"), {},
                           argc, argv);
}
