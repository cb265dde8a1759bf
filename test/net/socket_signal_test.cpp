// SPDX-License-Identifier: BSL-1.0
#include <net/socket.hpp>

#include "connected.hpp"

#include <net/resolver.hpp>
#include <reactor/combinators.hpp>
#include <reactor/selector.hpp>

#include <csignal>
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

BOOST_AUTO_TEST_SUITE_END()
