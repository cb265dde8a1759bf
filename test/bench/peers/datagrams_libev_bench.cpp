// SPDX-License-Identifier: BSL-1.0
//
// An echo server of datagrams on libev, which leaves the system calls to its user: recvfrom() and
// sendto() for each, until nothing is left.
#include <ev.h>

#include <test/bench/peers/datagram_workloads.hpp>
#include <test/bench/peers/libev_loop.hpp>

namespace {

class Server {
public:
    Server(int fd, int ended) {
        ev_io_init(&readable_, &Server::readable, fd, EV_READ);
        readable_.data = this;
        ev_io_start(loop_.get(), &readable_);
        ev_io_init(&ended_, &Server::over, ended, EV_READ);
        ev_io_start(loop_.get(), &ended_);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        ev_io_stop(loop_.get(), &ended_);
        ev_io_stop(loop_.get(), &readable_);
    }

    void run() { ev_run(loop_.get(), 0); }

private:
    static void readable(struct ev_loop*, ev_io* watcher, int) {
        static_cast<Server*>(watcher->data)->echo_(watcher->fd);
    }
    static void over(struct ev_loop* loop, ev_io*, int) { ev_break(loop, EVBREAK_ALL); }

    const bench::LibevLoop loop_ = bench::make_libev_loop();
    ev_io readable_;
    ev_io ended_;
    bench::OneByOne echo_;
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_datagram_peer<Server>("libev", bench::libev_version(), argc, argv);
}
