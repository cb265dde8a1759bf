// SPDX-License-Identifier: BSL-1.0
//
// An echo server on Poco's SocketReactor, with receiveBytes() and sendBytes() on its sockets and
// one buffer for all of them.
#include <Poco/Net/NetException.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/ServerSocketImpl.h>
#include <Poco/Net/SocketNotification.h>
#include <Poco/Net/SocketReactor.h>
#include <Poco/Net/StreamSocket.h>
#include <Poco/Net/StreamSocketImpl.h>
#include <Poco/Observer.h>
#include <Poco/Version.h>

#include <memory>
#include <string>

#include <test/bench/peers/echo_workloads.hpp>

namespace {

using Poco::Net::ReadableNotification;
using Poco::Net::StreamSocket;

class Server {
public:
    explicit Server(bench::Clients& clients) : clients_(clients) {}
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    void add(int fd) { begin(StreamSocket(new Poco::Net::StreamSocketImpl(fd))); }
    void listen(int fd) {
        listener_.reset(new Listener(fd));
        reactor_.addEventHandler(
            *listener_, Poco::Observer<Server, ReadableNotification>(*this, &Server::acceptable));
    }
    void run() { reactor_.run(); }

private:
    struct Listener : Poco::Net::ServerSocket {
        explicit Listener(int fd) : Poco::Net::ServerSocket(new Impl(fd), true) {}

        struct Impl : Poco::Net::ServerSocketImpl {
            explicit Impl(int fd) { reset(fd); }
        };
    };

    /// Owns itself, as its handlers do in the library's documentation.
    class Connection {
    public:
        Connection(const StreamSocket& socket, Server& server) : socket_(socket), server_(server) {
            server_.reactor_.addEventHandler(socket_, observer());
        }

    private:
        Poco::Observer<Connection, ReadableNotification> observer() {
            return Poco::Observer<Connection, ReadableNotification>(*this, &Connection::readable);
        }
        void readable(ReadableNotification* notification) {
            notification->release();
            const int got = socket_.receiveBytes(server_.buffer_.get(), buffer_size);
            if (got <= 0) {
                end();
                return;
            }
            for (int sent = 0; sent < got;) {
                sent += socket_.sendBytes(server_.buffer_.get() + sent, got - sent);
            }
        }
        void end() {
            Server& server = server_;
            server.reactor_.removeEventHandler(socket_, observer());
            delete this;
            if (server.clients_.gone()) server.reactor_.stop();
        }

        StreamSocket socket_;
        Server& server_;
    };

    void begin(const StreamSocket& socket) {
        new Connection(socket, *this);
        if (clients_.come()) reactor_.stop();
    }
    void acceptable(ReadableNotification* notification) {
        notification->release();
        begin(listener_->acceptConnection());
    }

    static constexpr int buffer_size = 65536;

    bench::Clients& clients_;
    Poco::Net::SocketReactor reactor_;
    std::unique_ptr<Listener> listener_;
    std::unique_ptr<char[]> buffer_{new char[buffer_size]};
};

}  // namespace

int main(int argc, char** argv) {
    const std::string version = "Poco " + std::to_string(POCO_VERSION >> 24) + "." +
                                std::to_string((POCO_VERSION >> 16) & 0xff) + "." +
                                std::to_string((POCO_VERSION >> 8) & 0xff);
    return bench::run_echo_peer<Server>("poco", version, argc, argv);
}
