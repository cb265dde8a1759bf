// SPDX-License-Identifier: BSL-1.0
//
// An echo server on libevent's bufferevents: what has come moves from the input's to the output's
// buffer without a copy.
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>

#include <stdexcept>

#include <test/bench/peers/echo_workloads.hpp>
#include <test/bench/peers/libevent_base.hpp>

namespace {

class Server {
public:
    explicit Server(bench::Clients& clients) : clients_(clients) {}
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    void add(int fd) {
        bufferevent* const connection =
            bufferevent_socket_new(base_.get(), fd, BEV_OPT_CLOSE_ON_FREE);
        if (!connection) throw std::runtime_error("bufferevent_socket_new");
        bufferevent_setcb(connection, &Server::received, nullptr, &Server::ended, this);
        if (bufferevent_enable(connection, EV_READ) != 0) {
            throw std::runtime_error("bufferevent_enable");
        }
        if (clients_.come()) event_base_loopbreak(base_.get());
    }
    void listen(int fd) { listener_ = bench::libevent_listen(*base_, fd, *this); }
    void run() { event_base_dispatch(base_.get()); }

private:
    static void received(bufferevent* connection, void*) {
        evbuffer_add_buffer(bufferevent_get_output(connection), bufferevent_get_input(connection));
    }
    static void ended(bufferevent* connection, short, void* data) {
        Server& self = *static_cast<Server*>(data);
        bufferevent_free(connection);
        if (self.clients_.gone()) event_base_loopbreak(self.base_.get());
    }

    bench::Clients& clients_;
    bench::LibeventBase base_ = bench::make_libevent_base(bench::libevent_on_one_thread);
    bench::LibeventListener listener_;
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_echo_peer<Server>("bufferevent", bench::libevent_version(), argc, argv);
}
