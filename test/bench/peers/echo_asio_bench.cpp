// SPDX-License-Identifier: BSL-1.0
//
// An echo server on Boost.Asio, as its examples are: an asynchronous read into the session's own
// buffer, then an asynchronous write of all that came. The sessions own themselves, which is less
// than the examples' shared pointers.
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/version.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <test/bench/peers/echo_workloads.hpp>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = boost::system::error_code;

template <std::size_t size>
class Server {
public:
    explicit Server(bench::Clients& clients) : clients_(clients) {}
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    void add(int fd) { begin(tcp::socket(context_, tcp::v4(), fd)); }
    void listen(int fd) {
        listener_.assign(tcp::v4(), fd);
        accept();
    }
    void run() { context_.run(); }

private:
    class Session {
    public:
        Session(tcp::socket socket, Server& server) : socket_(std::move(socket)), server_(server) {}

        void read() {
            socket_.async_read_some(asio::buffer(buffer_, size),
                                    [this](const Error& error, std::size_t count) {
                                        if (error) {
                                            end();
                                        } else {
                                            answer(count);
                                        }
                                    });
        }

    private:
        void answer(std::size_t count) {
            asio::async_write(socket_, asio::buffer(buffer_, count),
                              [this](const Error& error, std::size_t) {
                                  if (error) {
                                      end();
                                  } else {
                                      read();
                                  }
                              });
        }
        void end() {
            Server& server = server_;
            delete this;
            if (server.clients_.gone()) server.context_.stop();
        }

        tcp::socket socket_;
        Server& server_;
        char buffer_[size];
    };

    void begin(tcp::socket socket) {
        (new Session(std::move(socket), *this))->read();
        if (clients_.come()) context_.stop();
    }
    void accept() {
        listener_.async_accept([this](const Error& error, tcp::socket socket) {
            if (error) throw boost::system::system_error(error, "accept");
            begin(std::move(socket));
            accept();
        });
    }

    bench::Clients& clients_;
    asio::io_context context_{1};  // one thread
    tcp::acceptor listener_{context_};
};

}  // namespace

int main(int argc, char** argv) {
    // Room for the largest message; what is idle has as much as in the library's own example.
    return bench::run_echo_peer<Server<16384>, Server<1024>>(
        "asio", std::string("Boost.Asio ") + BOOST_LIB_VERSION, argc, argv);
}
