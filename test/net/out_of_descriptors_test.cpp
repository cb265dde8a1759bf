// SPDX-License-Identifier: BSL-1.0
#include <net/listener.hpp>

#include "connected.hpp"

#include <net/connect.hpp>
#include <net/resolver.hpp>
#include <reactor/combinators.hpp>
#include <reactor/selector.hpp>

#include <test/support/no_descriptors_left.hpp>

#include <cerrno>
#include <functional>

using namespace connected;
using support::NoDescriptorsLeft;

// Fault B6 (joyent/libuv#690, vibe-d/eventcore#49, sustrik/libmill#182): no descriptor is left.

namespace {

/// A client whose socket was there before: connected in the backlog, whether accepted or not.
struct Client {
    explicit Client(const Endpoint& to) : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        BOOST_REQUIRE(::connect(fd, static_cast<const ::sockaddr*>(to.data()),
                                static_cast<::socklen_t>(to.size())) == 0);
    }
    ~Client() { ::close(fd); }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    int fd;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(out_of_descriptors)

// Twenty clients, room for four, a heartbeat. One accept waits at a time, and asks again at a beat.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_listener_survives_and_takes_the_waiting_clients_later, On,
                              support::EverySelector) {
    reactor::EventLoop loop(reactor::make_selector(On::name()));
    Listener listener(loop, any_port);
    std::vector<std::unique_ptr<Client>> clients;
    std::vector<Socket> taken;
    int refused = 0, beats = 0;
    bool waiting = false;
    const std::function<void(const Promise<Socket>&)> accepted = [&](const Promise<Socket>& done) {
        waiting = false;
        if (!done.error()) {
            taken.push_back(done.take());
        } else {
            BOOST_TEST(code_of(done) == EMFILE);
            ++refused;
        }
    };
    const auto accept = [&] {
        waiting = true;
        listener.accept().add_done_callback(accepted);
    };
    // The descriptors that the first connection costs for good are there before.
    clients.emplace_back(new Client(listener.local_endpoint()));
    accept();
    while (taken.empty()) loop.run_once();
    reactor::TimerHandle heartbeat = loop.call_every(milliseconds(5), [&] {
        ++beats;
        if (!waiting) accept();
    });
    for (int i = 0; i < 20; ++i) clients.emplace_back(new Client(listener.local_endpoint()));
    {
        const NoDescriptorsLeft four(4);
        const reactor::TimePoint end = loop.time() + milliseconds(300);
        int iterations = 0;
        for (; loop.time() < end; ++iterations) loop.run_once(milliseconds(5));
        BOOST_TEST(iterations <= 30 + 4 * beats);  // no spin
        BOOST_TEST(taken.size() == 5u);
        BOOST_TEST(refused > 0);
        BOOST_TEST(refused <= beats);
        BOOST_TEST(beats + static_cast<int>(heartbeat.missed_ticks()) >= 58);
        // The accepted ones go: those who wait get their turn, although the limit is what it was.
        taken.erase(taken.begin() + 1, taken.end());
        while (taken.size() < 5) loop.run_once();
    }
    while (taken.size() < 17) loop.run_once();
    heartbeat.cancel();
    loop.close();
}

REACTOR_LOOP_TEST(connects_and_look_ups_end_with_an_ordinary_error) {
    be_patient(loop);
    Listener listener(loop, any_port);
    const Endpoint to = listener.local_endpoint();
    {  // what the first of each costs for good
        Socket socket(loop);
        loop.run_until_complete(socket.connect(to));
        error_of(loop, reactor::net::resolve(loop, "localhost", 1));
    }
    Socket early(loop);
    std::string connect_error, by_name_error, look_up_error;
    bool literal = false;
    {
        const NoDescriptorsLeft none;
        connect_error = error_of(loop, early.connect(to));
        by_name_error = error_of(loop, reactor::net::connect(loop, "127.0.0.1", to.port()));
        // glibc cannot open its files, and says in its own way that it knows no such name.
        look_up_error = error_of(loop, reactor::net::resolve(loop, "a.name.test", 1));
        const auto addresses = reactor::net::resolve(loop, "127.0.0.1", 1);
        literal = !loop.run_until_complete(addresses).empty();
        loop.run_for(seconds(1));
    }
    BOOST_TEST(connect_error == "connect to " + to.str() + ": Too many open files");
    BOOST_TEST(by_name_error.find("Too many open files") != std::string::npos, by_name_error);
    BOOST_TEST(look_up_error.find("resolve a.name.test: ") == 0u, look_up_error);
    BOOST_TEST(literal);
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(loop.watch_count() == 0u);
    // The same socket connects once there are some again.
    loop.run_until_complete(early.connect(to));
    BOOST_TEST(early.is_connected());
}

REACTOR_LOOP_TEST(a_listener_cannot_be_made_and_says_why) {
    { const Listener first(loop, any_port); }
    std::string text;
    int code = 0;
    {
        const NoDescriptorsLeft none;
        try {
            const Listener listener(loop, any_port);
        } catch (const std::system_error& error) {
            code = error.code().value();
            text = error.what();
        }
    }
    BOOST_TEST(code == EMFILE);
    BOOST_TEST(text.find("127.0.0.1:0") != std::string::npos, text);
    const Listener later(loop, any_port);
}

BOOST_AUTO_TEST_SUITE_END()
