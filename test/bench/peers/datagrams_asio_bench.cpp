// SPDX-License-Identifier: BSL-1.0
//
// An echo server of datagrams on Boost.Asio: an asynchronous receive, whose handler sends the
// answer at once, as the library's example does.
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/version.hpp>

#include <cstddef>
#include <string>

#include <unistd.h>

#include <test/bench/peers/datagram_workloads.hpp>

namespace {

namespace asio = boost::asio;
using asio::ip::udp;
using Error = boost::system::error_code;

class Server {
public:
    Server(int fd, int ended)
        : socket_(context_, udp::v4(), bench::checked(dup(fd), "dup")),
          ended_(context_, bench::checked(dup(ended), "dup")) {
        socket_.non_blocking(true);
        receive();
        ended_.async_wait(asio::posix::stream_descriptor::wait_read,
                          [this](const Error&) { context_.stop(); });
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    void run() { context_.run(); }

private:
    void receive() {
        socket_.async_receive_from(
            asio::buffer(buffer_), sender_, [this](const Error& error, std::size_t count) {
                if (error) throw boost::system::system_error(error, "receive");
                Error refused;  // the peer repeats what the system does not take
                socket_.send_to(asio::buffer(buffer_, count), sender_, 0, refused);
                receive();
            });
    }

    asio::io_context context_{1};  // one thread
    udp::socket socket_;
    asio::posix::stream_descriptor ended_;
    udp::endpoint sender_;
    char buffer_[65536];
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_datagram_peer<Server>("asio", std::string("Boost.Asio ") + BOOST_LIB_VERSION,
                                            argc, argv);
}
