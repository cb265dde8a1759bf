// SPDX-License-Identifier: BSL-1.0
//
// An echo server on libev. It watches descriptors and leaves the system calls to its user: those
// are the same as the limit's, by recv() into one buffer and send().
#include <ev.h>

#include <memory>
#include <stdexcept>
#include <string>

#include <sys/socket.h>
#include <unistd.h>

#include <test/bench/peers/echo_workloads.hpp>

namespace {

class Server {
public:
    explicit Server(bench::Clients& clients)
        : clients_(clients), loop_(ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV)) {
        if (!loop_) throw std::runtime_error("ev_loop_new");
        ev_set_userdata(loop_, this);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        if (ev_is_active(&listener_)) {
            ev_io_stop(loop_, &listener_);
            close(listener_.fd);
        }
        ev_loop_destroy(loop_);
    }

    void add(int fd) {
        ev_io* const connection = new ev_io;
        ev_io_init(connection, &Server::readable, fd, EV_READ);
        ev_io_start(loop_, connection);
        if (clients_.come()) ev_break(loop_, EVBREAK_ALL);
    }
    void listen(int fd) {
        ev_io_init(&listener_, &Server::acceptable, fd, EV_READ);
        ev_io_start(loop_, &listener_);
    }
    void run() { ev_run(loop_, 0); }

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
    struct ev_loop* loop_;
    ev_io listener_ = ev_io();
    bench::RawEcho echo_;
};

}  // namespace

int main(int argc, char** argv) {
    const std::string version =
        "libev " + std::to_string(ev_version_major()) + "." + std::to_string(ev_version_minor());
    return bench::run_echo_peer<Server>("libev", version, argc, argv);
}
