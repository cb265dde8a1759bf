// SPDX-License-Identifier: BSL-1.0
//
// An echo server of datagrams on libuv: receives many by one recvmmsg() and sends each at once by
// uv_udp_try_send().
#include <uv.h>

#include <cstddef>
#include <memory>

#include <unistd.h>

#include <test/bench/peers/datagram_workloads.hpp>
#include <test/bench/peers/libuv_loop.hpp>

namespace {

using bench::uv_checked;

class Server {
public:
    Server(int fd, int ended) {
        uv_checked(uv_udp_init_ex(loop_.get(), &udp_, AF_UNSPEC | UV_UDP_RECVMMSG),
                   "uv_udp_init_ex");
        // It closes what it gets.
        uv_checked(uv_udp_open(&udp_, bench::checked(dup(fd), "dup")), "uv_udp_open");
        udp_.data = this;
        uv_checked(uv_udp_recv_start(&udp_, &Server::room, &Server::received), "uv_udp_recv_start");
        uv_checked(uv_poll_init(loop_.get(), &ended_, ended), "uv_poll_init");
        const auto over = [](uv_poll_t* poll, int, int) { uv_stop(poll->loop); };
        uv_checked(uv_poll_start(&ended_, UV_READABLE | UV_DISCONNECT, over), "uv_poll_start");
    }

    void run() { uv_run(loop_.get(), UV_RUN_DEFAULT); }

private:
    static void room(uv_handle_t* udp, std::size_t, uv_buf_t* room) {
        *room = uv_buf_init(static_cast<Server*>(udp->data)->buffer_.get(), buffer_size);
    }
    static void received(uv_udp_t* udp, ::ssize_t count, const uv_buf_t* bytes,
                         const sockaddr* sender, unsigned) {
        uv_checked(int(count), "uv_udp_recv");
        if (!sender) return;
        const uv_buf_t answer = uv_buf_init(bytes->base, static_cast<unsigned>(count));
        const int sent = uv_udp_try_send(udp, &answer, 1, sender);
        if (sent != UV_EAGAIN) uv_checked(sent, "uv_udp_try_send");  // the peer repeats it
    }

    /// It takes 64 KiB for each datagram.
    static constexpr unsigned buffer_size = 20 * 65536;

    uv_udp_t udp_;
    uv_poll_t ended_;
    bench::LibuvLoop loop_;
    std::unique_ptr<char[]> buffer_{new char[buffer_size]};
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_datagram_peer<Server>("libuv", bench::libuv_version(), argc, argv);
}
