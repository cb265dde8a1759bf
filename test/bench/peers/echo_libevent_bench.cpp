// SPDX-License-Identifier: BSL-1.0
//
// An echo server on libevent's bare events. They leave the system calls to their user: those are
// the same as the limit's, by recv() into one buffer and send().
#include <event2/event.h>
#include <event2/event_struct.h>

#include <memory>
#include <stdexcept>

#include <unistd.h>

#include <test/bench/peers/echo_workloads.hpp>
#include <test/bench/peers/libevent_base.hpp>

namespace {

class Server {
public:
    explicit Server(bench::Clients& clients) : clients_(clients) {}
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    void add(int fd) {
        std::unique_ptr<Connection> connection(new Connection);
        connection->server = this;
        if (event_assign(&connection->watch, base_.get(), fd, EV_READ | EV_PERSIST,
                         &Server::readable, connection.get()) != 0 ||
            event_add(&connection->watch, nullptr) != 0) {
            throw std::runtime_error("event_add");
        }
        connection.release();
        if (clients_.come()) event_base_loopbreak(base_.get());
    }
    void listen(int fd) { listener_ = bench::libevent_listen(*base_, fd, *this); }
    void run() { event_base_dispatch(base_.get()); }

private:
    struct Connection {
        event watch;
        Server* server;
    };

    static void readable(int fd, short, void* data) {
        Connection* const connection = static_cast<Connection*>(data);
        Server& self = *connection->server;
        if (self.echo_(fd)) return;
        event_del(&connection->watch);
        close(fd);
        delete connection;
        if (self.clients_.gone()) event_base_loopbreak(self.base_.get());
    }

    bench::Clients& clients_;
    bench::LibeventBase base_ = bench::make_libevent_base(bench::libevent_on_one_thread);
    bench::LibeventListener listener_;
    bench::RawEcho echo_;
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_echo_peer<Server>("libevent", bench::libevent_version(), argc, argv);
}
