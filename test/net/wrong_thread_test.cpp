// SPDX-License-Identifier: BSL-1.0
#include "connected.hpp"

#include <net/connect.hpp>
#include <net/create_connection.hpp>
#include <net/create_datagram_endpoint.hpp>
#include <net/datagram_protocol.hpp>
#include <net/datagram_socket.hpp>
#include <net/http/client.hpp>
#include <net/open_connection.hpp>
#include <net/pipe.hpp>
#include <net/process.hpp>
#include <net/protocol.hpp>
#include <net/reconnect.hpp>
#include <net/resolver.hpp>
#include <net/server.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>

#include <csignal>
#include <functional>
#include <memory>

using namespace connected;
namespace net = reactor::net;

// Fault C2 (chenshuo/muduo#448, Pylons/waitress#506): who uses a loop's things on another thread
// while the loop runs hears of it by the name of the call, before anything is touched. What cannot
// throw ends the program instead (test/reactor/law07_threads_test.cpp).

namespace {

struct Silent final : net::Protocol {
    void data_received(net::ByteView) override {}
};
struct SilentEndpoint final : net::DatagramProtocol {
    void datagram_received(net::ByteView, const Endpoint&) override {}
};

std::unique_ptr<net::Protocol> silent() { return std::unique_ptr<net::Protocol>(new Silent); }
std::unique_ptr<net::DatagramProtocol> silent_endpoint() {
    return std::unique_ptr<net::DatagramProtocol>(new SilentEndpoint);
}

using Call = std::pair<const char*, std::function<void()>>;

/// Makes the calls on another thread, while the loop runs; what came of those that were not
/// refused.
std::vector<std::string> not_refused(reactor::EventLoop& loop, const std::vector<Call>& calls) {
    std::vector<std::string> wrong;
    loop.call_soon([&] {
        support::on_another_thread([&] {
            for (const Call& call : calls) {
                std::string text = "no error";
                try {
                    call.second();
                } catch (const std::exception& error) {
                    text = error.what();
                }
                if (text.find(call.first) == std::string::npos ||
                    text.find("another thread is running this event loop") == std::string::npos) {
                    wrong.push_back(std::string(call.first) + ": " + text);
                }
            }
        });
    });
    loop.run_once(reactor::Duration::zero());
    return wrong;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(wrong_thread)

REACTOR_LOOP_TEST(C2_nothing_is_made) {
    support::SocketPair pair;
    const Endpoint at("127.0.0.1", 1);
    const std::vector<Call> calls = {
        {"Socket", [&] { Socket made(loop); }},
        {"Listener", [&] { Listener made(loop, any_port); }},
        {"DatagramSocket", [&] { net::DatagramSocket made(loop, any_port); }},
        {"Socket", [&] { Socket::adopt(loop, pair.mine); }},
        {"make_transport", [&] { net::make_transport(loop, pair.mine, silent()); }},
        {"make_stream", [&] { net::make_stream(loop, pair.mine); }},
        {"connect", [&] { net::connect(loop, {at}); }},
        {"create_connection", [&] { net::create_connection(loop, &silent, at); }},
        {"create_connection", [&] { net::create_connection(loop, &silent, "localhost", 1); }},
        {"open_connection", [&] { net::open_connection(loop, at); }},
        {"create_server", [&] { net::create_server(loop, &silent, any_port); }},
        {"create_server", [&] { net::create_server(loop, &silent, "localhost", 0); }},
        {"start_server",
         [&] {
             net::start_server(
                 loop, [](net::Stream) {}, any_port);
         }},
        {"create_datagram_endpoint",
         [&] {
             net::create_datagram_endpoint(loop, &silent_endpoint,
                                           net::DatagramEndpointOptions().local(any_port));
         }},
        {"start_process", [&] { net::start_process(loop, "true", {}); }},
        {"connect_read_pipe", [&] { net::connect_read_pipe(loop, pair.mine, silent()); }},
        {"connect_write_pipe", [&] { net::connect_write_pipe(loop, pair.mine, silent()); }},
        {"open_read_pipe", [&] { net::open_read_pipe(loop, pair.mine); }},
        {"open_write_pipe", [&] { net::open_write_pipe(loop, pair.mine); }},
        {"resolve", [&] { net::resolve(loop, "localhost", 1); }},
    };
    for (const std::string& text : not_refused(loop, calls)) BOOST_ERROR(text);
}

REACTOR_LOOP_TEST(C2_nothing_that_there_is_is_touched) {
    be_patient(loop);
    support::SocketPair pair;
    net::Stream stream = loop.run_until_complete(net::make_stream(loop, pair.mine));
    pair.mine = -1;
    const net::Transport transport = stream.transport();
    net::Server server = net::create_server(loop, &silent, any_port);
    net::DatagramSocket datagrams(loop, any_port);
    const net::DatagramTransport endpoint = loop.run_until_complete(net::create_datagram_endpoint(
        loop, &silent_endpoint, net::DatagramEndpointOptions().local(any_port)));
    net::Process child = loop.run_until_complete(
        net::start_process(loop, "cat", {}, net::ProcessOptions().input(net::ChildIo::pipe())));
    net::Reconnector again(loop, "localhost", 1);
    const Endpoint to("127.0.0.1", 1);
    char room[10];
    const std::vector<Call> calls = {
        {"read", [&] { stream.read(); }},
        {"read_all", [&] { stream.read_all(10); }},
        {"read_exactly", [&] { stream.read_exactly(10); }},
        {"read_until", [&] { stream.read_until("x"); }},
        {"read_line", [&] { stream.read_line(); }},
        {"set_limit", [&] { stream.set_limit(10); }},
        {"write", [&] { stream.write("x"); }},
        {"write_lines", [&] { stream.write_lines({"x"}); }},
        {"write_eof", [&] { stream.write_eof(); }},
        {"drain", [&] { stream.drain(); }},
        {"close", [&] { stream.close(); }},
        {"write", [&] { transport.write("x"); }},
        {"send_file", [&] { transport.send_file(0, 0, 1); }},
        {"set_write_limits", [&] { transport.set_write_limits(net::WriteLimits()); }},
        {"pause_reading", [&] { transport.pause_reading(); }},
        {"resume_reading", [&] { transport.resume_reading(); }},
        {"set_idle_timeout", [&] { transport.set_idle_timeout(seconds(1)); }},
        {"set_protocol", [&] { transport.set_protocol(silent()); }},
        {"start_serving", [&] { server.start_serving(); }},
        {"serve_forever", [&] { server.serve_forever(); }},
        {"wait_closed", [&] { server.wait_closed(); }},
        {"shutdown", [&] { server.shutdown(seconds(1)); }},
        {"receive_from", [&] { datagrams.receive_from(); }},
        {"receive_into", [&] { datagrams.receive_into(room, sizeof room); }},
        {"send_to", [&] { datagrams.send_to("x", to); }},
        {"connect", [&] { datagrams.connect(to); }},
        {"set_ttl", [&] { datagrams.set_ttl(9); }},
        {"release", [&] { datagrams.release(); }},
        {"send_to", [&] { endpoint.send_to("x", to); }},
        {"set_ttl", [&] { endpoint.set_ttl(9); }},
        {"set_protocol", [&] { endpoint.set_protocol(silent_endpoint()); }},
        {"wait", [&] { child.wait(); }},
        {"send_signal", [&] { child.send_signal(SIGTERM); }},
        {"terminate", [&] { child.terminate(); }},
        {"kill", [&] { child.kill(); }},
        {"stop", [&] { child.stop(seconds(1)); }},
        {"detach", [&] { child.detach(); }},
        {"write", [&] { child.input().write("x"); }},
        {"connect", [&] { again.connect(); }},
        {"reset", [&] { again.reset(); }},
    };
    for (const std::string& text : not_refused(loop, calls)) BOOST_ERROR(text);

    pair.send("fine");
    BOOST_TEST(loop.run_until_complete(stream.read()) == "fine");
    loop.run_until_complete(stream.close());
    loop.run_until_complete(child.input().close());
    BOOST_TEST(loop.run_until_complete(child.wait()).code() == 0);
    BOOST_TEST(endpoint.native_handle() >= 0);
    endpoint.abort();
    BOOST_TEST(server.is_serving());
    server.close();
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(C2_operations_of_sockets_change_nothing) {
    Pair pair = connected::pair(loop);
    Socket unconnected(loop);
    Listener listener(loop, any_port);
    const Endpoint to = listener.local_endpoint();
    const std::vector<Call> calls = {
        {"connect", [&] { unconnected.connect(to); }},
        {"connect", [&] { reactor::net::connect(loop, "127.0.0.1", to.port()); }},
        {"resolve", [&] { reactor::net::resolve(loop, "127.0.0.1", 1); }},
        {"http_get",
         [&] { reactor::net::http_get(loop, reactor::net::Url::parse("http://127.0.0.1/")); }},
        {"read", [&] { pair.server.read(); }},
        {"read_all", [&] { pair.server.read_all(9); }},
        {"send", [&] { pair.server.send("x"); }},
        {"shutdown_send", [&] { pair.server.shutdown_send(); }},
        {"close", [&] { pair.server.close(); }},
        {"release", [&] { pair.server.release(); }},
        {"accept", [&] { listener.accept(); }},
    };
    for (const std::string& text : not_refused(loop, calls)) BOOST_ERROR(text);
    loop.run_until_complete(pair.client.send("fine"));
    BOOST_TEST(loop.run_until_complete(pair.server.read()) == "fine");
}

BOOST_AUTO_TEST_SUITE_END()
