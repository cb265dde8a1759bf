// SPDX-License-Identifier: BSL-1.0
//
// An echo server on libuv: reads into one buffer of the loop's, writes at once by uv_try_write(),
// and copies only what the system did not take.
#include <uv.h>

#include <cstddef>
#include <memory>
#include <vector>

#include <test/bench/peers/echo_workloads.hpp>
#include <test/bench/peers/libuv_loop.hpp>

namespace {

using bench::uv_checked;

class Server {
public:
    explicit Server(bench::Clients& clients) : clients_(clients) {
        uv_checked(uv_loop_init(&loop_), "uv_loop_init");
        loop_.data = this;
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        uv_walk(
            &loop_, [](uv_handle_t* handle, void*) { uv_close(handle, nullptr); }, nullptr);
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }

    void add(int fd) {
        uv_tcp_t* const connection = make();
        uv_checked(uv_tcp_open(connection, fd), "uv_tcp_open");
        begin(connection);
    }
    void listen(int fd) {
        uv_checked(uv_tcp_init(&loop_, &listener_), "uv_tcp_init");
        uv_checked(uv_tcp_open(&listener_, fd), "uv_tcp_open");
        uv_checked(uv_listen(reinterpret_cast<uv_stream_t*>(&listener_), 4096, &Server::accept),
                   "uv_listen");
    }
    void run() { uv_run(&loop_, UV_RUN_DEFAULT); }

private:
    struct Rest {
        uv_write_t request;
        std::vector<char> bytes;
    };

    static Server& of(const uv_handle_t* handle) {
        return *static_cast<Server*>(handle->loop->data);
    }
    template <class Handle>
    static uv_handle_t* plain(Handle* handle) {
        return reinterpret_cast<uv_handle_t*>(handle);
    }

    uv_tcp_t* make() {
        std::unique_ptr<uv_tcp_t> connection(new uv_tcp_t);
        uv_checked(uv_tcp_init(&loop_, connection.get()), "uv_tcp_init");
        return connection.release();
    }
    static void begin(uv_tcp_t* connection) {
        uv_checked(uv_read_start(reinterpret_cast<uv_stream_t*>(connection), &Server::room,
                                 &Server::received),
                   "uv_read_start");
        Server& self = of(plain(connection));
        if (self.clients_.come()) uv_stop(&self.loop_);
    }
    static void accept(uv_stream_t* listener, int status) {
        uv_checked(status, "accept");
        uv_tcp_t* const connection = of(plain(listener)).make();
        uv_checked(uv_accept(listener, reinterpret_cast<uv_stream_t*>(connection)), "uv_accept");
        begin(connection);
    }

    static void room(uv_handle_t* handle, std::size_t, uv_buf_t* room) {
        *room = uv_buf_init(of(handle).buffer_.get(), buffer_size);
    }
    static void received(uv_stream_t* stream, ::ssize_t count, const uv_buf_t* bytes) {
        if (count < 0) {
            uv_close(plain(stream), &Server::closed);
        } else if (count > 0) {
            answer(stream, uv_buf_init(bytes->base, static_cast<unsigned>(count)));
        }
    }
    static void answer(uv_stream_t* stream, uv_buf_t bytes) {
        int sent = uv_try_write(stream, &bytes, 1);
        if (sent == UV_EAGAIN) sent = 0;
        uv_checked(sent, "uv_try_write");
        if (std::size_t(sent) == bytes.len) return;
        Rest* const rest =
            new Rest{uv_write_t(), std::vector<char>(bytes.base + sent, bytes.base + bytes.len)};
        rest->request.data = rest;
        bytes = uv_buf_init(rest->bytes.data(), static_cast<unsigned>(rest->bytes.size()));
        uv_checked(
            uv_write(&rest->request, stream, &bytes, 1,
                     [](uv_write_t* request, int) { delete static_cast<Rest*>(request->data); }),
            "uv_write");
    }
    static void closed(uv_handle_t* handle) {
        Server& self = of(handle);
        delete reinterpret_cast<uv_tcp_t*>(handle);
        if (self.clients_.gone()) uv_stop(&self.loop_);
    }

    static constexpr unsigned buffer_size = 65536;

    bench::Clients& clients_;
    uv_loop_t loop_;
    uv_tcp_t listener_;
    std::unique_ptr<char[]> buffer_{new char[buffer_size]};
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_echo_peer<Server>("libuv", bench::libuv_version(), argc, argv);
}
