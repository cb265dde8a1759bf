// SPDX-License-Identifier: BSL-1.0
//
// An echo server of datagrams on libevent, which leaves the system calls to its user: recvfrom()
// and sendto() for each, until nothing is left.
#include <event2/event.h>
#include <event2/event_struct.h>

#include <stdexcept>

#include <test/bench/peers/datagram_workloads.hpp>
#include <test/bench/peers/libevent_base.hpp>

namespace {

class Server {
public:
    Server(int fd, int ended) {
        watch(readable_, fd, &Server::readable);
        watch(ended_, ended, &Server::over);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        event_del(&ended_);
        event_del(&readable_);
    }

    void run() { event_base_dispatch(base_.get()); }

private:
    void watch(event& event, int fd, event_callback_fn callback) {
        if (event_assign(&event, base_.get(), fd, EV_READ | EV_PERSIST, callback, this) != 0 ||
            event_add(&event, nullptr) != 0) {
            throw std::runtime_error("event_add");
        }
    }
    static void readable(int fd, short, void* self) { static_cast<Server*>(self)->echo_(fd); }
    static void over(int, short, void* self) {
        event_base_loopbreak(static_cast<Server*>(self)->base_.get());
    }

    const bench::LibeventBase base_ = bench::make_libevent_base(bench::libevent_on_one_thread);
    event readable_;
    event ended_;
    bench::OneByOne echo_;
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_datagram_peer<Server>("libevent", bench::libevent_version(), argc, argv);
}
