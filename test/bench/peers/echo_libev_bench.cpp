// SPDX-License-Identifier: BSL-1.0
//
// An echo server on libev. It watches descriptors and leaves the system calls to its user: those
// are the same as the limit's, by recv() into one buffer and send().
#include <ev.h>

#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/peers/echo_workloads.hpp>
#include <test/bench/peers/libev_loop.hpp>

namespace {

class Server {
public:
    explicit Server(bench::Clients& clients) : clients_(clients) {
        ev_set_userdata(loop_.get(), this);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        if (ev_is_active(&listener_)) {
            ev_io_stop(loop_.get(), &listener_);
            close(listener_.fd);
        }
    }

    void add(int fd) {
        ev_io* const connection = new ev_io;
        ev_io_init(connection, &Server::readable, fd, EV_READ);
        ev_io_start(loop_.get(), connection);
        if (clients_.come()) ev_break(loop_.get(), EVBREAK_ALL);
    }
    void listen(int fd) {
        ev_io_init(&listener_, &Server::acceptable, fd, EV_READ);
        ev_io_start(loop_.get(), &listener_);
    }
    void run() { ev_run(loop_.get(), 0); }

private:
    static Server& of(struct ev_loop* loop) { return *static_cast<Server*>(ev_userdata(loop)); }

    static void acceptable(struct ev_loop* loop, ev_io* listener, int) {
        of(loop).add(bench::checked(
            accept4(listener->fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK), "accept4"));
    }
    static void readable(struct ev_loop* loop, ev_io* connection, int) {
        Server& self = of(loop);
        if (self.echo_(connection->fd)) return;
        ev_io_stop(loop, connection);
        close(connection->fd);
        delete connection;
        if (self.clients_.gone()) ev_break(loop, EVBREAK_ALL);
    }

    bench::Clients& clients_;
    bench::LibevLoop loop_ = bench::make_libev_loop();
    ev_io listener_ = ev_io();
    bench::RawEcho echo_;
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_echo_peer<Server>("libev", bench::libev_version(), argc, argv);
}
