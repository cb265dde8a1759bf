// SPDX-License-Identifier: BSL-1.0
#include <net/socket.hpp>

#include "connected.hpp"

#include <net/datagram_socket.hpp>
#include <net/process.hpp>
#include <net/resolver.hpp>
#include <net/server.hpp>
#include <reactor/combinators.hpp>
#include <reactor/selector.hpp>

#include <csignal>
#include <cstdio>
#include <memory>

#include <sys/time.h>

using namespace connected;

namespace {

/// A signal every millisecond, whose handler lets system calls end with EINTR.
struct SignalStorm {
    SignalStorm() {
        struct ::sigaction action = {};
        action.sa_handler = [](int) { ++count; };
        ::sigaction(SIGALRM, &action, &before);
        const ::itimerval each = {{0, 1000}, {0, 1000}};
        ::setitimer(ITIMER_REAL, &each, nullptr);
    }
    ~SignalStorm() {
        const ::itimerval never = {};
        ::setitimer(ITIMER_REAL, &never, nullptr);
        ::sigaction(SIGALRM, &before, nullptr);
    }

    struct ::sigaction before;
    static volatile std::sig_atomic_t count;
};
volatile std::sig_atomic_t SignalStorm::count = 0;

}  // namespace

BOOST_AUTO_TEST_SUITE(socket_signal)

// Fault C3 (pistacheio/pistache#565): an interrupted call is no error.
BOOST_AUTO_TEST_CASE_TEMPLATE(signals_disturb_no_connect_transfer_or_look_up, On,
                              support::EverySelector) {
    reactor::EventLoop loop(reactor::make_selector(On::name()));
    const std::string bytes = pattern(10 << 20);
    int ticks = 0;
    const SignalStorm storm;
    SignalStorm::count = 0;
    const reactor::TimePoint begin = loop.time();
    reactor::TimerHandle tick = loop.call_every(milliseconds(7), [&] { ++ticks; });
    const Promise<void> timer = reactor::sleep(loop, milliseconds(100));

    Listener listener(loop, any_port);
    for (int i = 0; i < 20; ++i) {
        const Promise<Socket> accepted = listener.accept();
        Socket client(loop);
        loop.run_until_complete(client.connect(listener.local_endpoint()));
        loop.run_until_complete(accepted);
        try {
            loop.run_until_complete(reactor::net::resolve(loop, "localhost", 80));
        } catch (const reactor::net::ResolveError& unknown) {
            // A system without /etc/hosts does not know it; but it says so, and not EINTR.
            BOOST_TEST((unknown.code() != std::errc::interrupted));
        }
    }
    const Promise<Socket> accepted = listener.accept();
    Socket client(loop);
    loop.run_until_complete(client.connect(listener.local_endpoint()));
    Socket server = loop.run_until_complete(accepted);
    const Promise<void> sent = client.send(bytes);
    const Promise<void> ended = client.shutdown_send();
    BOOST_TEST((loop.run_until_complete(server.read_all(bytes.size())) == bytes));
    loop.run_until_complete(sent);
    loop.run_until_complete(ended);
    loop.run_until_complete(timer);
    const reactor::Duration took = loop.time() - begin;
    BOOST_TEST((took >= milliseconds(100)));
    // The wait goes on with what is left: none is lost, but for ticks that came late together.
    BOOST_TEST(ticks + static_cast<int>(tick.missed_ticks()) >= took / milliseconds(7) - 1);
    BOOST_TEST(SignalStorm::count > 10);
}

// Nor what goes through pipes, out of files, in datagrams, and to and from other programs.
BOOST_AUTO_TEST_CASE_TEMPLATE(signals_disturb_no_file_pipe_datagram_or_child, On,
                              support::EverySelector) {
    namespace net = reactor::net;
    const std::string bytes = pattern(4 << 20);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
    BOOST_REQUIRE(std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size());
    std::fflush(file.get());
    reactor::EventLoop loop(reactor::make_selector(On::name()));
    const SignalStorm storm;
    SignalStorm::count = 0;

    for (int i = 0; i < 3; ++i) {
        net::Process child = loop.run_until_complete(net::start_process(
            loop, "cat", {},
            net::ProcessOptions().input(net::ChildIo::pipe()).output(net::ChildIo::pipe())));
        child.input().write(bytes);
        const Promise<void> written = child.input().close();
        BOOST_TEST((loop.run_until_complete(child.output().read_all(bytes.size())) == bytes));
        loop.run_until_complete(written);
        BOOST_TEST(loop.run_until_complete(child.wait()).code() == 0);
    }

    const auto send = [&file, &bytes](net::Stream stream) {
        const auto client = std::make_shared<net::Stream>(std::move(stream));
        return client->transport()
            .send_file(::fileno(file.get()), 0, bytes.size())
            .then([client](std::uint64_t) { return client->close(); });
    };
    net::Server server = net::start_server(loop, send, any_port);
    Socket client(loop);
    loop.run_until_complete(client.connect(server.endpoints().front()));
    BOOST_TEST((loop.run_until_complete(client.read_all(bytes.size())) == bytes));
    server.close();

    net::DatagramSocket one(loop, any_port), other(loop, any_port);
    for (int i = 0; i < 1000; ++i) {
        const std::string text = std::to_string(i);
        const Promise<net::Datagram> received = other.receive_from();
        BOOST_TEST(loop.run_until_complete(one.send_to(text, other.local_endpoint())) ==
                   text.size());
        BOOST_TEST(loop.run_until_complete(received).bytes == text);
    }
    BOOST_TEST(SignalStorm::count > 10);
}

BOOST_AUTO_TEST_SUITE_END()
