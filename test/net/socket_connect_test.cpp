// SPDX-License-Identifier: BSL-1.0
#include <net/socket.hpp>

#include "connected.hpp"
#include "unix_sockets.hpp"
#include <test/support/temporary_directory.hpp>

#include <cerrno>
#include <memory>

using namespace connected;

namespace {

Endpoint abstract_name(const char* test) {
    return Endpoint::local_abstract(std::string("reactor ") + test + std::to_string(::getpid()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(socket_connect)

// Fault E1: an error event is not a connection (resetius/coroio#93).
REACTOR_LOOP_TEST(SOCK_07_a_refused_connect_is_an_error_that_names_the_address) {
    be_patient(loop);
    for (const char* address : {"127.0.0.1", "::1"}) {
        const Refusing refusing(address);
        Socket socket(loop);
        const Promise<void> connect = socket.connect(refusing.endpoint);
        connect.add_done_callback([&](const Promise<void>&) { say("told")(); });
        BOOST_TEST(error_of(loop, connect) ==
                   "connect to " + refusing.endpoint.str() + ": Connection refused");
        BOOST_TEST(code_of(connect) == ECONNREFUSED);
        BOOST_TEST(heard() == "told");
        BOOST_TEST(!socket.is_connected());
        BOOST_TEST(socket.native_handle() == -1);
        BOOST_TEST(loop.watch_count() == 0u);
    }
}

REACTOR_LOOP_TEST(SOCK_07_what_fails_at_once_is_told_by_the_promise) {
    const support::TemporaryDirectory directory;
    Socket socket(loop);
    const Endpoint nobody = Endpoint::local_path(directory / "nobody");
    const Promise<void> connect = socket.connect(nobody);
    BOOST_TEST(connect.done());
    connect.add_done_callback([&](const Promise<void>&) { say("told")(); });
    BOOST_TEST(heard() == "");
    BOOST_TEST(error_of(loop, connect) ==
               "connect to " + nobody.str() + ": No such file or directory");
    BOOST_TEST(code_of(connect) == ENOENT);
    BOOST_TEST(heard() == "told");

    unix_sockets::leave_stale(directory / "stale");
    BOOST_TEST(code_of(socket.connect(Endpoint::local_path(directory / "stale"))) == ECONNREFUSED);
    support::write_file(directory / "file", "");
    BOOST_TEST(code_of(socket.connect(Endpoint::local_path(directory / "file"))) == ECONNREFUSED);
    BOOST_TEST(code_of(socket.connect(Endpoint())) == EAFNOSUPPORT);
    // The network that no packet leaves: no route, or a refusal, but never a connection.
    BOOST_TEST(code_of(socket.connect(Endpoint("255.255.255.255", 9))) != 0);
}

REACTOR_LOOP_TEST(SOCK_07_a_connect_that_fails_while_it_waits_is_an_error) {
    const Full full(loop);
    be_patient(loop);
    Socket socket(loop);
    const Promise<void> connect = socket.connect(full.listener.local_endpoint());
    BOOST_TEST(loop.watch_count() == 1u);
    ::shutdown(socket.native_handle(), SHUT_RDWR);  // as a reset that comes for it
    BOOST_TEST(error_of(loop, connect) ==
               "connect to " + full.listener.local_endpoint().str() + ": Connection reset by peer");
    BOOST_TEST(!socket.is_connected());
    BOOST_TEST(socket.native_handle() == -1);
    BOOST_TEST(loop.watch_count() == 0u);
}

// Fault E1: whatever the selector tells, it is no connection unless the system says so
// (scylladb/seastar#309, crystal-lang/crystal#8565).
BOOST_AUTO_TEST_CASE(an_event_is_no_connection) {
    TestLoop other;
    const Full full(other);
    const std::size_t before = reactor::testing::open_descriptors();
    reactor::testing::VirtualClock clock;
    auto* const selector = new reactor::testing::ScriptedSelector(clock);
    {
        reactor::EventLoop loop(std::unique_ptr<reactor::Selector>(selector), clock);
        Socket socket(loop);
        const Promise<void> connect = socket.connect(full.listener.local_endpoint());
        const int fd = socket.native_handle();
        // What selectors make of an error, of hanging up, and of both.
        const unsigned broken = reactor::Interest::read | reactor::Interest::write;
        for (const unsigned ready :
             {broken, broken | reactor::Interest::urgent, unsigned(reactor::Interest::write)}) {
            selector->play({{fd, ready}});
            loop.run_once(seconds(0));
            BOOST_TEST(!connect.done());
            BOOST_TEST(socket.native_handle() == fd);
        }
        ::shutdown(fd, SHUT_RDWR);
        selector->play({{fd, broken}});
        loop.run_once(seconds(0));
        BOOST_TEST(code_of(connect) == ECONNRESET);
        BOOST_TEST(!socket.is_connected());
        BOOST_TEST(socket.native_handle() == -1);
    }
    BOOST_TEST(reactor::testing::open_descriptors() == before);
}

REACTOR_LOOP_TEST(after_a_failure_another_address_can_be_tried) {
    be_patient(loop);
    const Refusing refusing("127.0.0.1");
    const Listener listener(loop, any_port);
    Socket socket(loop);
    BOOST_TEST(error_of(loop, socket.connect(refusing.endpoint)) != "");
    loop.run_until_complete(socket.connect(listener.local_endpoint()));
    BOOST_TEST(socket.is_connected());
    BOOST_TEST((socket.remote_endpoint() == listener.local_endpoint()));
    loop.run_until_complete(socket.close());
    loop.run_until_complete(socket.connect(listener.local_endpoint()));
    BOOST_CHECK_THROW(socket.connect(listener.local_endpoint()), StateError);
}

REACTOR_LOOP_TEST(a_connect_that_nobody_answers_is_late) {
    const Full full(loop);
    Socket socket(loop);
    const Promise<void> connect = socket.connect(full.listener.local_endpoint(), milliseconds(500));
    BOOST_CHECK_THROW(socket.connect(any_port), StateError);
    BOOST_CHECK_THROW(socket.read(), StateError);
    const reactor::TimePoint begin = loop.time();
    BOOST_CHECK_THROW(loop.run_until_complete(connect), TimeoutError);
    BOOST_TEST((loop.time() - begin == milliseconds(500)));
    BOOST_TEST(error_of(loop, connect) ==
               "connect to " + full.listener.local_endpoint().str() + ": Connection timed out");
    BOOST_TEST(socket.native_handle() == -1);
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(SOCK_09_a_cancelled_connect_leaves_nothing_that_could_come_about_later) {
    Full full(loop);
    Socket socket(loop);
    const Promise<void> connect = socket.connect(full.listener.local_endpoint(), seconds(9));
    BOOST_TEST(loop.watch_count() == 1u);
    BOOST_TEST(connect.cancel());
    BOOST_TEST(connect.cancelled());
    BOOST_TEST(!connect.cancel());
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(socket.native_handle() == -1);
    loop.run_iterations(2);
    const Promise<Socket> accepted = full.listener.accept();
    BOOST_TEST(accepted.done());
    loop.run_iterations(2);
    BOOST_TEST(!socket.is_connected());
}

REACTOR_LOOP_TEST(a_socket_may_be_destroyed_while_it_connects) {
    const Full full(loop);
    std::unique_ptr<Socket> socket(new Socket(loop));
    const Promise<void> connect = socket->connect(full.listener.local_endpoint(), seconds(9));
    loop.call_soon([&] { socket.reset(); });
    connect.add_done_callback([&](const Promise<void>& done) {
        BOOST_TEST(done.cancelled());
        say("told")();
    });
    BOOST_CHECK_EXCEPTION(
        loop.run_until_complete(connect), CancelledError,
        [](const CancelledError& error) { return error.message() == "the socket was closed"; });
    BOOST_TEST(heard() == "told");
    BOOST_TEST(loop.timer_count() == 0u);
}

// Fault E6: EAGAIN is not EINPROGRESS, and no event will tell (tokio-rs/mio#1560).
REACTOR_LOOP_TEST(a_full_unix_listener_is_asked_again_until_the_deadline) {
    const Full full(loop, abstract_name("full"));
    Socket socket(loop);
    const Promise<void> connect = socket.connect(full.listener.local_endpoint(), milliseconds(500));
    BOOST_TEST(!connect.done());
    const reactor::TimePoint begin = loop.time();
    const std::string error = error_of(loop, connect);
    BOOST_TEST(error.find("backlog is full") != std::string::npos);
    BOOST_TEST(error.find(full.listener.local_endpoint().str()) != std::string::npos);
    BOOST_TEST((loop.time() - begin == milliseconds(500)));
    BOOST_TEST(loop.selector().waits() < 30u);
    BOOST_TEST(!socket.is_connected());
    BOOST_TEST(loop.timer_count() == 0u);
}

// Fault E6, second run.
REACTOR_LOOP_TEST(a_unix_listener_that_has_room_again_is_found) {
    Full full(loop, abstract_name("room"));
    Socket socket(loop);
    const Promise<void> connect = socket.connect(full.listener.local_endpoint(), milliseconds(500));
    loop.run_for(milliseconds(200));
    BOOST_TEST(!connect.done());
    BOOST_TEST(full.listener.accept().done());
    loop.run_for(milliseconds(150));
    BOOST_TEST(connect.done());
    BOOST_TEST(socket.is_connected());
    std::vector<Socket> accepted;
    for (;;) {
        const Promise<Socket> next = full.listener.accept();
        if (!next.done()) {
            next.cancel();
            break;
        }
        accepted.push_back(next.take());
    }
    BOOST_TEST(socket.send("it is me").done());
    BOOST_TEST(loop.run_until_complete(accepted.back().read()) == "it is me");
}

REACTOR_LOOP_TEST(a_connect_that_waits_for_room_can_be_cancelled) {
    const Full full(loop, abstract_name("cancel"));
    Socket socket(loop);
    const Promise<void> connect = socket.connect(full.listener.local_endpoint());
    BOOST_TEST(!connect.done());
    BOOST_TEST(connect.cancel());
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(socket.native_handle() == -1);
}

// Fault D5: success, expiry and cancellation in one pass have one outcome.
REACTOR_LOOP_TEST(a_connect_that_is_ready_and_late_in_one_pass_has_one_outcome) {
    be_patient(loop);
    Listener listener(loop, any_port);
    for (const bool cancelled : {false, true}) {
        Socket socket(loop);
        const Promise<void> connect = socket.connect(listener.local_endpoint(), milliseconds(5));
        const Promise<Socket> accepted = listener.accept();
        Socket server = loop.run_until_complete(accepted);
        ::pollfd ready = {socket.native_handle(), POLLOUT, 0};
        if (!connect.done()) BOOST_TEST(::poll(&ready, 1, 10000) == 1);
        if (connect.done() && cancelled) break;  // no race to be had
        loop.clock().advance(milliseconds(5));
        if (cancelled) loop.call_soon([&] { BOOST_TEST(connect.cancel()); });
        loop.run_until_idle();
        BOOST_TEST(connect.done());
        BOOST_TEST(connect.cancelled() == cancelled);
        BOOST_TEST(socket.is_connected() != cancelled);
        BOOST_TEST(loop.timer_count() == 0u);
        socket = Socket();
        BOOST_TEST(loop.run_until_complete(server.read()) == "");
    }
}

BOOST_AUTO_TEST_SUITE_END()
