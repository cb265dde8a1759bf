// SPDX-License-Identifier: BSL-1.0
#include <net/socket.hpp>

#include "connected.hpp"
#include <test/support/refusal.hpp>
#include <test/support/socket_option.hpp>

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <vector>

using namespace connected;

BOOST_AUTO_TEST_SUITE(stream_socket)

REACTOR_LOOP_TEST(SOCK_01_a_read_with_data_waiting_is_done_at_once_and_watches_nothing) {
    support::SocketPair ends;
    ends.send("hello");
    Socket socket = Socket::adopt(loop, ends.mine);
    ends.mine = -1;
    const Promise<std::string> read = socket.read(10);
    BOOST_TEST(read.done());
    BOOST_TEST(read.result() == "hello");
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(SOCK_02_a_read_waits_for_data_and_then_watches_nothing) {
    Pair ends = pair(loop);
    const Promise<std::string> read = ends.client.read(10);
    BOOST_TEST(loop.watch_count() == 1u);
    loop.run_iterations(2);
    BOOST_TEST(!read.done());
    const Promise<void> sent = ends.server.send("hi");
    BOOST_TEST(sent.done());
    BOOST_TEST(loop.run_until_complete(read) == "hi");
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(!loop.remove_reader(ends.client.native_handle()));
}

REACTOR_LOOP_TEST(SOCK_02_the_end_of_the_stream_is_an_empty_read_each_time) {
    Pair ends = pair(loop);
    loop.run_until_complete(ends.server.send("last"));
    BOOST_TEST(loop.run_until_complete(ends.client.read()) == "last");
    const Promise<std::string> waits = ends.client.read();
    loop.run_iterations(2);
    BOOST_TEST(!waits.done());
    loop.run_until_complete(ends.server.close());
    BOOST_TEST(loop.run_until_complete(waits) == "");
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(loop.run_until_complete(ends.client.read()) == "");
}

REACTOR_LOOP_TEST(SOCK_02_a_reset_names_the_step_and_the_address) {
    Pair ends = pair(loop);
    const std::string address = ends.client.remote_endpoint().str();
    const Promise<std::string> read = ends.client.read();
    ends.server.abort();
    BOOST_TEST(!ends.server.is_connected());
    BOOST_TEST(error_of(loop, read) == "read from " + address + ": Connection reset by peer");
    BOOST_TEST(code_of(read) == ECONNRESET);
    BOOST_TEST(loop.watch_count() == 0u);
}

// The half of the row that is about streams.
REACTOR_LOOP_TEST(SOCK_05_a_read_gives_at_most_what_was_asked_for) {
    Pair ends = pair(loop);
    loop.run_until_complete(ends.server.send("abcdef"));
    BOOST_TEST(loop.run_until_complete(ends.client.read(4)) == "abcd");
    BOOST_TEST(loop.run_until_complete(ends.client.read(4)) == "ef");
    const std::string much = pattern(Socket::read_size * 3);
    const Promise<void> sent = ends.server.send(much);
    std::string got;
    while (got.size() < much.size()) {
        const std::string part = loop.run_until_complete(ends.client.read(1 << 30));
        BOOST_TEST(part.size() <= Socket::read_size);
        got += part;
    }
    BOOST_TEST((got == much));
    loop.run_until_complete(sent);
}

REACTOR_LOOP_TEST(SOCK_06_a_send_is_done_once_the_system_has_all_of_it) {
    Pair ends = pair(loop);
    ends.client.set_send_buffer_size(4096);
    const std::string bytes = pattern(1000000);
    const Promise<void> sent = ends.client.send(bytes);
    sent.add_done_callback([&](const Promise<void>&) { say("done")(); });
    BOOST_TEST(!sent.done());
    loop.run_iterations(5);
    BOOST_TEST(!sent.done());
    BOOST_TEST((read_exactly(loop, ends.server, bytes.size()) == bytes));
    loop.run_until_complete(sent);
    BOOST_TEST(heard() == "done");
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(!loop.remove_writer(ends.client.native_handle()));
    BOOST_TEST(ends.client.send("").done());
}

REACTOR_LOOP_TEST(sends_queue_up_and_go_out_in_order) {
    Pair ends = pair(loop);
    const Promise<void> first = fill(ends.client);
    BOOST_TEST(!first.done());
    const auto shared = std::make_shared<const std::string>("second ");
    const Promise<void> second = ends.client.send(shared);
    const Promise<void> third = ends.client.send("third");
    const Promise<void> end = ends.client.shutdown_send();
    BOOST_CHECK_THROW(ends.client.send("too late"), StateError);
    third.add_done_callback([&](const Promise<void>&) {
        BOOST_TEST(first.done());
        BOOST_TEST(second.done());
        say("third")();
    });
    end.add_done_callback([&](const Promise<void>&) { say("end")(); });
    const std::string all = loop.run_until_complete(ends.server.read_all(2 * filling));
    BOOST_TEST(all.size() == filling + 12);
    BOOST_TEST(all.substr(filling) == "second third");
    loop.run_iterations(2);
    BOOST_TEST(heard() == "third end");
    BOOST_TEST(shared.use_count() == 1);
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(after_the_end_of_sending_reading_goes_on) {
    Pair ends = pair(loop);
    BOOST_TEST(ends.client.send("question").done());
    BOOST_TEST(ends.client.shutdown_send().done());
    BOOST_TEST(loop.run_until_complete(ends.server.read_all(100)) == "question");
    BOOST_TEST(ends.server.send("answer").done());
    loop.run_until_complete(ends.server.close());
    BOOST_TEST(loop.run_until_complete(ends.client.read_all(6)) == "answer");
}

REACTOR_LOOP_TEST(read_all_has_a_limit_and_leaves_what_it_had_read) {
    Pair ends = pair(loop);
    const Promise<std::string> all = ends.client.read_all(5);
    BOOST_TEST(ends.server.send("123456").done());
    try {
        loop.run_until_complete(all);
        BOOST_ERROR("more than the limit was read");
    } catch (const reactor::LimitOverrunError& error) {
        BOOST_TEST(error.consumed == 6u);
        BOOST_TEST(std::string(error.what()).find("127.0.0.1:") != std::string::npos);
    }
    BOOST_CHECK_THROW(ends.client.release(), StateError);
    BOOST_TEST(loop.run_until_complete(ends.client.read(2)) == "12");
    loop.run_until_complete(ends.server.close());
    BOOST_TEST(loop.run_until_complete(ends.client.read_all(5)) == "3456");
    BOOST_TEST(loop.run_until_complete(ends.client.read_all(0)) == "");
}

// No SIGPIPE either: it would end the program.
REACTOR_LOOP_TEST(a_send_to_a_peer_that_is_gone_fails_and_so_do_those_behind_it) {
    Pair ends = pair(loop);
    const std::string address = ends.client.remote_endpoint().str();
    const Promise<void> first = fill(ends.client);
    const Promise<void> second = ends.client.send("x");
    ends.server.abort();
    BOOST_TEST(error_of(loop, first) == "send to " + address + ": Connection reset by peer");
    BOOST_TEST(code_of(second) == ECONNRESET);
    BOOST_TEST(error_of(loop, ends.client.send("x")) == "send to " + address + ": Broken pipe");
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(unix_sockets_work_alike) {
    Pair ends =
        pair(loop, Endpoint::local_abstract("reactor socket_test " + std::to_string(::getpid())));
    BOOST_TEST(ends.client.send("over there").done());
    BOOST_TEST(loop.run_until_complete(ends.server.read()) == "over there");
    BOOST_TEST(ends.server.remote_endpoint().str() == "unix:");
    BOOST_TEST(ends.client.remote_endpoint().is_abstract());
    ends.client.set_no_delay(true);
    BOOST_TEST(!ends.client.no_delay());
}

REACTOR_LOOP_TEST(descriptors_are_close_on_exec_and_do_not_block) {
    const Pair ends = pair(loop);
    for (const Socket* socket : {&ends.client, &ends.server}) {
        BOOST_TEST(::fcntl(socket->native_handle(), F_GETFD) == FD_CLOEXEC);
        BOOST_TEST((::fcntl(socket->native_handle(), F_GETFL) & O_NONBLOCK) != 0);
    }
}

// A Socket makes its descriptor non-blocking, so one that blocks can only be somebody else's doing.
REACTOR_LOOP_TEST(SOCK_10_in_debug_mode_a_descriptor_that_blocks_is_refused) {
    Pair ends = pair(loop);
    Listener listener(loop, any_port);
    BOOST_TEST(ends.server.send("data").done());
    ::pollfd there = {ends.client.native_handle(), POLLIN, 0};
    BOOST_TEST(::poll(&there, 1, 10000) == 1);
    for (const int fd : {ends.client.native_handle(), listener.native_handle()}) {
        ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    }
    loop.set_debug(true);
    const std::string blocks = ": descriptor " + std::to_string(ends.client.native_handle()) +
                               " blocks, and the loop with it: ";
    BOOST_TEST(support::refusal<std::invalid_argument>([&] {
                   ends.client.read();
               }).find("read" + blocks) == 0u);
    BOOST_TEST(support::refusal<std::invalid_argument>([&] {
                   ends.client.read_all(9);
               }).find("read" + blocks) == 0u);
    BOOST_TEST(support::refusal<std::invalid_argument>([&] {
                   ends.client.send("x");
               }).find("send" + blocks) == 0u);
    BOOST_CHECK_THROW(ends.client.shutdown_send(), std::invalid_argument);
    BOOST_CHECK_THROW(listener.accept(), std::invalid_argument);
    BOOST_TEST(loop.watch_count() == 0u);

    loop.set_debug(false);
    BOOST_TEST(loop.run_until_complete(ends.client.read()) == "data");
    loop.run_until_complete(ends.client.send("back"));
    Socket again = Socket::adopt(loop, ends.client.release());
    loop.set_debug(true);
    const Promise<std::string> read = again.read();
    BOOST_TEST(!read.done());
    BOOST_TEST(loop.run_until_complete(ends.server.read()) == "back");
    read.cancel();
    loop.set_debug(false);
}

REACTOR_LOOP_TEST(both_ends_know_their_addresses_and_options) {
    Pair ends = pair(loop);
    BOOST_TEST((ends.client.local_endpoint() == ends.server.remote_endpoint()));
    BOOST_TEST((ends.client.remote_endpoint() == ends.server.local_endpoint()));
    BOOST_TEST(&ends.client.loop() == &loop);
    for (Socket* socket : {&ends.client, &ends.server}) {
        BOOST_TEST(socket->no_delay());
        socket->set_no_delay(false);
        BOOST_TEST(!socket->no_delay());
        BOOST_TEST(!socket->keep_alive());
        socket->set_keep_alive(true);
        BOOST_TEST(socket->keep_alive());
        socket->set_receive_buffer_size(20000);
        socket->set_send_buffer_size(30000);
        BOOST_TEST(socket->receive_buffer_size() == 20000);
        BOOST_TEST(socket->send_buffer_size() == 30000);
        // Twice as much, as socket(7) has it.
        BOOST_TEST(support::socket_option(socket->native_handle(), SOL_SOCKET, SO_RCVBUF) == 40000);
        BOOST_TEST(support::socket_option(socket->native_handle(), SOL_SOCKET, SO_SNDBUF) == 60000);
    }
}

REACTOR_LOOP_TEST(calls_in_the_wrong_state_say_so) {
    Socket empty;
    BOOST_TEST(!empty);
    BOOST_TEST(!empty.is_connected());
    BOOST_TEST(empty.native_handle() == -1);
    BOOST_CHECK_THROW(empty.read(), StateError);
    BOOST_CHECK_THROW(empty.close(), StateError);
    BOOST_CHECK_THROW(empty.connect(any_port), StateError);
    empty.abort();

    Socket fresh(loop);
    BOOST_CHECK_THROW(fresh.read(), StateError);
    BOOST_CHECK_THROW(fresh.send("x"), StateError);
    BOOST_CHECK_THROW(fresh.shutdown_send(), StateError);
    BOOST_CHECK_THROW(fresh.local_endpoint(), StateError);
    BOOST_CHECK_THROW(fresh.release(), StateError);
    BOOST_TEST(fresh.close().done());

    Pair ends = pair(loop);
    BOOST_CHECK_THROW(ends.client.connect(any_port), StateError);
    BOOST_CHECK_THROW(ends.client.read(0), std::invalid_argument);
    BOOST_CHECK_THROW(ends.client.send(std::shared_ptr<const std::string>()),
                      std::invalid_argument);
    const Promise<std::string> read = ends.client.read();
    BOOST_CHECK_THROW(ends.client.read(), StateError);
    BOOST_CHECK_THROW(ends.client.read_all(1), StateError);
    support::on_another_thread([&] { BOOST_CHECK_THROW(ends.client.read(), StateError); });
    read.cancel();
}

REACTOR_LOOP_TEST(only_a_connected_stream_socket_is_adopted) {
    int pipe[2];
    BOOST_REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
    BOOST_CHECK_THROW(Socket::adopt(loop, pipe[0]), std::system_error);
    BOOST_CHECK_THROW(Socket::adopt(loop, -1), std::system_error);
    ::close(pipe[0]);
    ::close(pipe[1]);
    const int datagram = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    BOOST_CHECK_THROW(Socket::adopt(loop, datagram), std::invalid_argument);
    ::close(datagram);
    const int unconnected = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    BOOST_CHECK_THROW(Socket::adopt(loop, unconnected), std::system_error);
    ::close(unconnected);
}

REACTOR_LOOP_TEST(a_released_descriptor_is_the_callers) {
    Pair ends = pair(loop);
    const Promise<std::string> read = ends.client.read();
    const int descriptor = ends.client.release();
    BOOST_TEST(read.cancelled());
    BOOST_TEST(!ends.client.is_connected());
    BOOST_TEST(ends.server.send("x").done());
    char byte = 0;
    ::pollfd ready = {descriptor, POLLIN, 0};
    BOOST_TEST(::poll(&ready, 1, 10000) == 1);
    BOOST_TEST(::read(descriptor, &byte, 1) == 1);
    Socket again = Socket::adopt(loop, descriptor);
    BOOST_TEST(again.send("back").done());
    BOOST_TEST(loop.run_until_complete(ends.server.read()) == "back");
}

BOOST_AUTO_TEST_SUITE_END()
