// SPDX-License-Identifier: BSL-1.0
//
// The ring of sockets on libuv: uv_poll_t, which is for descriptors that it does not read by
// itself.
#include <uv.h>

#include <cstddef>
#include <vector>

#include <test/bench/peers/libuv_loop.hpp>
#include <test/bench/peers/ring_workloads.hpp>

namespace {

using bench::uv_checked;

class Watcher {
public:
    explicit Watcher(bench::Ring& ring) : ring_(ring), polls_(ring.sockets().size()) {
        for (std::size_t i = 0; i < polls_.size(); ++i) {
            uv_checked(uv_poll_init(loop_.get(), &polls_[i], ring.sockets()[i]), "uv_poll_init");
            polls_[i].data = this;
            uv_checked(uv_poll_start(&polls_[i], UV_READABLE, &Watcher::readable), "uv_poll_start");
        }
    }

    void turn() { uv_run(loop_.get(), UV_RUN_NOWAIT); }
    void run() { uv_run(loop_.get(), UV_RUN_DEFAULT); }

private:
    static void readable(uv_poll_t* poll, int status, int) {
        Watcher& self = *static_cast<Watcher*>(poll->data);
        uv_checked(status, "uv_poll_t");
        if (self.ring_.pass(static_cast<std::size_t>(poll - self.polls_.data()))) {
            uv_stop(self.loop_.get());
        }
    }

    bench::Ring& ring_;
    std::vector<uv_poll_t> polls_;
    bench::LibuvLoop loop_;
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(bench::libuv_version(), bench::ring_workloads<Watcher>("libuv"), {},
                           argc, argv);
}
