// SPDX-License-Identifier: BSL-1.0
#include <net/socket.hpp>

#include "connected.hpp"

#include <sys/socket.h>

#include <memory>

using namespace connected;

namespace {

std::string peek(Socket& socket) {
    char bytes[100];
    const ::ssize_t got = ::recv(socket.native_handle(), bytes, sizeof bytes, MSG_PEEK);
    return std::string(bytes, got < 0 ? 0 : static_cast<std::size_t>(got));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(socket_cancel)

REACTOR_LOOP_TEST(SOCK_03_a_read_after_a_cancelled_one_gets_the_data) {
    Pair ends = pair(loop);
    const Promise<std::string> first = ends.client.read();
    loop.run_iterations(1);
    BOOST_TEST(first.cancel());
    const Promise<std::string> second = ends.client.read();
    loop.run_iterations(2);
    BOOST_TEST(first.cancelled());
    BOOST_TEST(ends.server.send("data").done());
    BOOST_TEST(loop.run_until_complete(second) == "data");
}

REACTOR_LOOP_TEST(SOCK_04_a_cancelled_read_takes_nothing_also_if_data_has_come) {
    Pair ends = pair(loop);
    const Promise<std::string> read = ends.client.read();
    loop.run_iterations(1);
    BOOST_TEST(ends.server.send("data").done());
    BOOST_TEST(read.cancel());
    loop.run_iterations(2);
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(peek(ends.client) == "data");
    BOOST_TEST(loop.run_until_complete(ends.client.read()) == "data");
}

// Faults D1 and D5: the event is in this batch already when the cancellation comes.
REACTOR_LOOP_TEST(a_read_cancelled_in_the_batch_of_its_data_takes_nothing) {
    Pair ends = pair(loop);
    const Promise<std::string> read = ends.client.read(10, milliseconds(5));
    BOOST_TEST(ends.server.send("data").done());
    loop.clock().advance(milliseconds(5));
    loop.call_soon([&] { BOOST_TEST(read.cancel()); });
    loop.run_until_idle();
    BOOST_TEST(read.cancelled());
    BOOST_TEST(peek(ends.client) == "data");
}

REACTOR_LOOP_TEST(SOCK_11_a_read_that_was_woken_for_nothing_goes_on_waiting) {
    Pair ends = pair(loop);
    const Promise<std::string> read = ends.client.read();
    BOOST_TEST(ends.server.send("stolen").done());
    loop.call_soon([&] {  // in the batch of the event, before its callback
        char bytes[10];
        BOOST_TEST(::recv(ends.client.native_handle(), bytes, sizeof bytes, 0) == 6);
    });
    loop.run_until_idle();
    BOOST_TEST(!read.done());
    BOOST_TEST(loop.watch_count() == 1u);
    BOOST_TEST(ends.server.send("data").done());
    BOOST_TEST(loop.run_until_complete(read) == "data");
}

// The same for a send, which was woken by room that others have taken.
REACTOR_LOOP_TEST(SOCK_11_a_send_that_was_woken_for_nothing_goes_on_waiting) {
    support::SocketPair ends;
    const int size = 4096;
    ::setsockopt(ends.mine, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    const std::string piece(1024, 'f');
    const int number = ends.mine;
    const auto fill_up = [&] {
        std::size_t all = 0;
        ::ssize_t took;
        while ((took = ::send(number, piece.data(), piece.size(), MSG_DONTWAIT)) > 0) {
            all += static_cast<std::size_t>(took);
        }
        return all;
    };
    const auto take = [&](std::size_t size_taken) {
        std::string bytes(size_taken, '\0');
        const ::ssize_t got = ::recv(ends.theirs, &bytes[0], size_taken, MSG_DONTWAIT);
        bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        return bytes;
    };
    fill_up();
    Socket socket = Socket::adopt(loop, ends.mine);
    ends.mine = -1;
    const Promise<void> sent = socket.send("mine");
    sent.add_done_callback([&](const Promise<void>&) { say("done")(); });
    BOOST_TEST(!sent.done());
    while (!take(65536).empty()) {
    }
    std::size_t stolen = 0;
    loop.call_soon([&] { stolen = fill_up(); });  // in the batch of the event, before its callback
    loop.run_until_idle();
    BOOST_TEST(stolen > 0u);
    BOOST_TEST(!sent.done());
    BOOST_TEST(loop.watch_count() == 1u);
    std::string got;
    while (got.size() < stolen) got += take(stolen - got.size());
    loop.run_until_complete(sent);
    BOOST_TEST(take(100) == "mine");
    BOOST_TEST(heard() == "done");
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(a_late_read_says_so_and_takes_nothing) {
    Pair ends = pair(loop);
    loop.selector().set_patience(reactor::Duration::zero());
    const Promise<std::string> read = ends.client.read(10, milliseconds(20));
    BOOST_CHECK_THROW(loop.run_until_complete(read), TimeoutError);
    BOOST_TEST(error_of(loop, read) ==
               "read from " + ends.client.remote_endpoint().str() + ": Connection timed out");
    BOOST_TEST(loop.watch_count() == 0u);
    be_patient(loop);
    BOOST_TEST(ends.server.send("x").done());
    BOOST_TEST(loop.run_until_complete(ends.client.read(10, loop.time() + seconds(60))) == "x");
    BOOST_TEST(loop.timer_count() == 0u);
}

REACTOR_LOOP_TEST(a_cancelled_read_all_leaves_what_it_had_read) {
    Pair ends = pair(loop);
    const Promise<std::string> all = ends.client.read_all(100);
    BOOST_TEST(ends.server.send("some").done());
    while (!peek(ends.client).empty()) loop.run_iterations(1);
    BOOST_TEST(all.cancel());
    loop.selector().set_patience(reactor::Duration::zero());
    BOOST_CHECK_THROW(loop.run_until_complete(ends.client.read_all(100, milliseconds(1))),
                      TimeoutError);
    be_patient(loop);
    BOOST_TEST(ends.server.send(" more").done());
    loop.run_until_complete(ends.server.close());
    BOOST_TEST(loop.run_until_complete(ends.client.read_all(100)) == "some more");
}

// One descriptor, two interests: the end of one must not take the other with it.
REACTOR_LOOP_TEST(a_read_and_a_send_that_both_wait_do_not_disturb_each_other) {
    Pair ends = pair(loop);
    const Promise<void> sent = fill(ends.client);
    const Promise<std::string> read = ends.client.read();
    BOOST_TEST(loop.watch_count() == 2u);
    BOOST_TEST(ends.server.send("x").done());
    BOOST_TEST(loop.run_until_complete(read) == "x");
    BOOST_TEST(!sent.done());
    const Promise<std::string> again = ends.client.read();
    loop.run_iterations(2);
    BOOST_TEST(again.cancel());
    BOOST_TEST(loop.watch_count() == 1u);
    const Promise<std::string> third = ends.client.read();
    BOOST_TEST(read_exactly(loop, ends.server, filling).size() == filling);
    loop.run_until_complete(sent);
    BOOST_TEST(loop.watch_count() == 1u);
    BOOST_TEST(ends.server.send("y").done());
    BOOST_TEST(loop.run_until_complete(third) == "y");
}

REACTOR_LOOP_TEST(a_cancelled_send_that_waits_for_its_turn_sends_nothing) {
    Pair ends = pair(loop);
    const Promise<void> first = fill(ends.client);
    const Promise<void> second = ends.client.send("second");
    const Promise<void> third = ends.client.send("third");
    const Promise<void> end = ends.client.shutdown_send();
    BOOST_TEST(second.cancel());
    BOOST_TEST(end.cancel());
    const Promise<void> fourth = ends.client.send("fourth");
    BOOST_TEST(read_exactly(loop, ends.server, filling).size() == filling);
    BOOST_TEST(read_exactly(loop, ends.server, 11) == "thirdfourth");
    loop.run_until_complete(fourth);
    BOOST_TEST(first.done());
    BOOST_TEST(third.done());
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(a_late_send_stops_and_watches_nothing) {
    Pair ends = pair(loop);
    const Promise<void> first = fill(ends.client);
    const Promise<void> second = ends.client.send("x", milliseconds(5));
    loop.selector().set_patience(reactor::Duration::zero());
    BOOST_TEST(error_of(loop, second) ==
               "send to " + ends.client.remote_endpoint().str() + ": Connection timed out");
    BOOST_TEST(!first.done());
    BOOST_TEST(first.cancel());
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(closing_cancels_what_is_pending_and_can_be_repeated) {
    Pair ends = pair(loop);
    const Promise<std::string> read = ends.client.read(10, seconds(60));
    const Promise<void> first = fill(ends.client);
    const Promise<void> second = ends.client.send("x", seconds(60));
    read.add_done_callback([&](const Promise<std::string>&) { say("read")(); });
    second.add_done_callback([&](const Promise<void>&) { say("send")(); });
    const Promise<void> closed = ends.client.close();
    BOOST_TEST(closed.done());
    BOOST_TEST(ends.client.close().done());
    BOOST_TEST(read.cancelled());
    BOOST_TEST(first.cancelled());
    BOOST_TEST(second.cancelled());
    BOOST_TEST(heard() == "");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "read send");
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_CHECK_THROW(ends.client.read(), StateError);
}

REACTOR_LOOP_TEST(any_callback_may_destroy_any_socket) {
    Pair ends = pair(loop);
    Pair others = pair(loop);
    // Both are ready in one batch; the first to be told destroys both.
    const auto destroy = [&](const Promise<std::string>&) {
        ends = Pair();
        others = Pair();
        say("destroyed")();
    };
    const Promise<std::string> one = ends.client.read();
    const Promise<std::string> other = others.client.read();
    one.add_done_callback(destroy);
    const Promise<std::string> idle = ends.server.read();
    BOOST_TEST(ends.server.send("x").done());
    BOOST_TEST(others.server.send("x").done());
    loop.run_until_idle();
    BOOST_TEST(heard() == "destroyed");
    BOOST_TEST(idle.cancelled());
    BOOST_TEST(other.done());
}

REACTOR_LOOP_TEST(a_socket_that_its_own_callback_keeps_is_freed_with_the_promise) {
    const auto ends = std::make_shared<Pair>(pair(loop));
    const std::weak_ptr<Pair> alive = ends;
    const Promise<std::string> read = ends->client.read();
    read.add_done_callback([ends](const Promise<std::string>&) {});
    BOOST_TEST(ends->server.send("x").done());
    loop.run_until_complete(read);
    BOOST_TEST(ends.use_count() == 1);
}

REACTOR_LOOP_TEST(the_report_of_a_send_that_nobody_holds_may_destroy_the_socket) {
    Pair ends = pair(loop);
    std::unique_ptr<Socket> client(new Socket(std::move(ends.client)));
    static_cast<void>(fill(*client));
    const Promise<void> second = client->send("second");
    static_cast<void>(client->send("third"));
    int reports = 0;
    loop.set_exception_handler([&](reactor::EventLoop&, const reactor::Report&) {
        ++reports;
        BOOST_TEST(!second.cancel());
        client.reset();
    });
    ends.server.abort();
    BOOST_CHECK_THROW(loop.run_until_complete(second), std::system_error);
    BOOST_TEST(reports == 2);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_loop_may_be_closed_with_everything_pending, On,
                              support::EverySelector) {
    const std::size_t before = reactor::testing::open_descriptors();
    Promise<std::string> read, waiting;
    {
        Socket outlives;
        {
            TestLoop loop(On::name());
            const auto ends = std::make_shared<Pair>(pair(loop));
            outlives = pair(loop).client;
            read = ends->client.read(10, seconds(60));
            // The socket is kept by nothing but the callback of its own promise.
            read.add_done_callback([ends](const Promise<std::string>&) {});
            const Promise<void> sent = fill(ends->client);
            sent.add_done_callback([ends](const Promise<void>&) {});
            waiting = outlives.read();
            loop.close();
            BOOST_TEST(!read.done());
            BOOST_TEST(read.cancel());
            BOOST_CHECK_THROW(outlives.read(), StateError);
        }
        BOOST_CHECK_THROW(outlives.loop(), StateError);
        BOOST_TEST(outlives.close().done());
        BOOST_TEST(waiting.cancelled());
    }
    BOOST_TEST(reactor::testing::open_descriptors() == before);
}

BOOST_AUTO_TEST_SUITE_END()
