// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_socket.hpp>

#include "datagrams.hpp"
#include <net/testing.hpp>
#include <test/support/refusal.hpp>

#include <fcntl.h>

#include <cerrno>
#include <stdexcept>

using namespace datagrams;

BOOST_AUTO_TEST_SUITE(datagram_socket)

REACTOR_LOOP_TEST(SOCK_05_a_receive_with_the_sender_gives_no_more_than_was_asked_for) {
    DatagramSocket server(loop, any_port);
    DatagramSocket client(loop, any_port);
    BOOST_TEST(client.send_to("abcdef", server.local_endpoint()).result() == 6u);
    BOOST_TEST(client.send_to("gh", server.local_endpoint()).result() == 2u);
    const Datagram cut = next(loop, server, 4);
    BOOST_TEST(cut.bytes == "abcd");
    BOOST_TEST((cut.from == client.local_endpoint()));
    BOOST_TEST(cut.full_size == 6u);
    BOOST_TEST(cut.truncated);
    const Datagram whole = next(loop, server, 2);
    BOOST_TEST(whole.bytes == "gh");
    BOOST_TEST(whole.full_size == 2u);
    BOOST_TEST(!whole.truncated);
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(SOCK_05_a_receive_into_a_buffer_writes_no_more_than_was_asked_for) {
    be_patient(loop);
    DatagramSocket server(loop, any_port);
    DatagramSocket client(loop, any_port);
    std::string buffer(4096, '-');
    const Promise<DatagramInBuffer> waits = server.receive_into(&buffer[0], 2);
    loop.run_iterations(2);
    BOOST_TEST(!waits.done());
    BOOST_TEST(loop.watch_count() == 1u);
    BOOST_TEST(client.send_to("abc", server.local_endpoint()).done());
    const DatagramInBuffer cut = loop.run_until_complete(waits);
    BOOST_TEST(cut.size == 2u);
    BOOST_TEST(cut.full_size == 3u);
    BOOST_TEST(cut.truncated);
    BOOST_TEST((cut.from == client.local_endpoint()));
    BOOST_TEST(buffer.substr(0, 4) == "ab--");
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_CHECK_THROW(server.receive_into(nullptr, 1), std::invalid_argument);
}

REACTOR_LOOP_TEST(SOCK_05_a_receive_of_a_connected_socket_gives_no_more_than_was_asked_for) {
    be_patient(loop);
    DatagramSocket server(loop, any_port);
    DatagramSocket client(loop, Endpoint::Family::ipv4);
    client.connect(server.local_endpoint());
    BOOST_TEST(client.send("question").result() == 8u);
    const Datagram question = next(loop, server);
    BOOST_TEST((question.from == client.local_endpoint()));
    BOOST_TEST(server.send_to("answer", question.from).done());
    BOOST_TEST(loop.run_until_complete(client.receive(3)) == "ans");
    BOOST_TEST(server.send_to("again", question.from).done());
    BOOST_TEST(loop.run_until_complete(client.receive()) == "again");
}

REACTOR_LOOP_TEST(an_empty_datagram_is_one) {
    DatagramSocket server(loop, any_port);
    DatagramSocket client(loop, any_port);
    BOOST_TEST(client.send_to("", server.local_endpoint()).result() == 0u);
    BOOST_TEST(client.send_to("x", server.local_endpoint()).result() == 1u);
    const Datagram empty = next(loop, server);
    BOOST_TEST(empty.bytes == "");
    BOOST_TEST(!empty.truncated);
    BOOST_TEST((empty.from == client.local_endpoint()));
    const Datagram nothing = next(loop, server, 0);  // not even a byte was asked for
    BOOST_TEST(nothing.bytes == "");
    BOOST_TEST(nothing.truncated);
}

REACTOR_LOOP_TEST(a_connected_socket_hears_its_peer_only) {
    be_patient(loop);
    DatagramSocket server(loop, any_port);
    DatagramSocket other(loop, any_port);
    DatagramSocket client(loop, any_port);
    client.connect(server.local_endpoint());
    BOOST_TEST((client.remote_endpoint() == server.local_endpoint()));
    BOOST_TEST(other.send_to("noise", client.local_endpoint()).done());
    BOOST_TEST(server.send_to("voice", client.local_endpoint()).done());
    BOOST_TEST(loop.run_until_complete(client.receive()) == "voice");
    client.connect(other.local_endpoint());
    BOOST_TEST(client.send("moved").done());
    BOOST_TEST(next(loop, other).bytes == "moved");
}

REACTOR_LOOP_TEST(what_has_come_before_connect_is_received_still) {
    be_patient(loop);
    DatagramSocket server(loop, any_port);
    DatagramSocket other(loop, any_port);
    DatagramSocket client(loop, any_port);
    BOOST_TEST(other.send_to("early", client.local_endpoint()).done());
    BOOST_TEST(other.send_to("too", client.local_endpoint()).done());
    client.connect(server.local_endpoint());
    BOOST_TEST(other.send_to("late", client.local_endpoint()).done());
    BOOST_TEST(server.send_to("answer", client.local_endpoint()).done());
    const Datagram early = next(loop, client);
    BOOST_TEST(early.bytes == "early");
    BOOST_TEST((early.from == other.local_endpoint()));
    BOOST_TEST(loop.run_until_complete(client.receive()) == "too");
    BOOST_TEST(loop.run_until_complete(client.receive()) == "answer");
}

REACTOR_LOOP_TEST(nobody_at_the_peers_port_fails_one_operation_and_the_socket_goes_on) {
    be_patient(loop);
    Endpoint nobody;
    {
        const DatagramSocket gone(loop, any_port);
        nobody = gone.local_endpoint();
    }
    DatagramSocket client(loop, Endpoint::Family::ipv4);
    client.connect(nobody);
    const Promise<std::string> waits = client.receive();
    BOOST_TEST(client.send("x").done());
    BOOST_TEST(error_of(loop, waits) == "receive from " + nobody.str() + ": Connection refused");
    BOOST_TEST(code_of(waits) == ECONNREFUSED);
    BOOST_TEST(loop.watch_count() == 0u);

    BOOST_TEST(client.send("y").done());
    ::pollfd heard = {client.native_handle(), POLLERR, 0};
    BOOST_REQUIRE(::poll(&heard, 1, 10000) == 1);
    const Promise<std::size_t> hears = client.send("not sent");
    BOOST_TEST(error_of(loop, hears) == "send to " + nobody.str() + ": Connection refused");

    DatagramSocket server(loop, nobody);
    BOOST_TEST(client.send("z").result() == 1u);
    BOOST_TEST(next(loop, server).bytes == "z");
}

REACTOR_LOOP_TEST(one_that_is_too_long_is_named_with_its_size) {
    DatagramSocket client(loop, any_port);
    const Promise<std::size_t> sent =
        client.send_to(std::string(70000, 'x'), Endpoint("127.0.0.1", 9));
    BOOST_TEST(error_of(loop, sent) == "send 70000 bytes to 127.0.0.1:9: Message too long");
    BOOST_TEST(code_of(sent) == EMSGSIZE);
    BOOST_TEST(client.send_to("x", client.local_endpoint()).result() == 1u);
}

REACTOR_LOOP_TEST(the_longest_one_of_ip_comes_whole) {
    DatagramSocket server(loop, Endpoint("::1", 0));
    DatagramSocket client(loop, Endpoint::Family::ipv6);
    const std::string longest = pattern(65507);
    BOOST_TEST(client.send_to(longest, server.local_endpoint()).result() == longest.size());
    const Datagram got = next(loop, server);
    BOOST_TEST((got.bytes == longest));
    BOOST_TEST(got.from.address() == "::1");
    BOOST_TEST((got.from == Endpoint("::1", client.local_endpoint().port())));
}

REACTOR_LOOP_TEST(errors_of_opening_name_the_address) {
    const DatagramSocket first(loop, any_port);
    const std::string address = first.local_endpoint().str();
    BOOST_TEST(support::refusal<std::system_error>([&] {
                   DatagramSocket(loop, first.local_endpoint());
               }) == "bind " + address + ": Address already in use");
    BOOST_TEST(support::refusal<std::system_error>([&] {
                   DatagramSocket(loop, Endpoint::Family::local)
                       .connect(Endpoint::local_path("/nonexistent/socket"));
               }) == "connect to unix:/nonexistent/socket: No such file or directory");
    BOOST_CHECK_THROW(DatagramSocket(loop, Endpoint()), std::invalid_argument);
    BOOST_CHECK_THROW(DatagramSocket(loop, Endpoint::Family::none), std::invalid_argument);
    BOOST_CHECK_THROW(DatagramSocket(loop, any_port, DatagramOptions().permissions(01000)),
                      std::invalid_argument);
}

REACTOR_LOOP_TEST(descriptors_are_close_on_exec_and_do_not_block) {
    int ends[2];
    BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
    DatagramSocket opened(loop, any_port);
    DatagramSocket mine = DatagramSocket::adopt(loop, ends[0]);
    DatagramSocket theirs = DatagramSocket::adopt(loop, ends[1]);
    for (DatagramSocket* socket : {&opened, &mine, &theirs}) {
        BOOST_TEST(::fcntl(socket->native_handle(), F_GETFD) == FD_CLOEXEC);
        BOOST_TEST((::fcntl(socket->native_handle(), F_GETFL) & O_NONBLOCK) != 0);
    }
    BOOST_TEST(mine.is_connected());
    BOOST_TEST(mine.send("over").done());
    const Datagram over = next(loop, theirs);
    BOOST_TEST(over.bytes == "over");
    BOOST_TEST(over.from.str() == "unix:");
}

REACTOR_LOOP_TEST(only_a_datagram_socket_is_adopted_and_a_released_one_is_the_callers) {
    const int stream = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    BOOST_CHECK_THROW(DatagramSocket::adopt(loop, stream), std::invalid_argument);
    BOOST_TEST(::fcntl(stream, F_GETFL) == O_RDWR);  // it blocks, as it did
    ::close(stream);
    BOOST_CHECK_THROW(DatagramSocket::adopt(loop, -1), std::system_error);

    DatagramSocket socket(loop, any_port);
    const Endpoint address = socket.local_endpoint();
    const Promise<Datagram> waits = socket.receive_from();
    const int descriptor = socket.release();
    BOOST_TEST(waits.cancelled());
    BOOST_TEST(!socket.is_open());
    DatagramSocket again = DatagramSocket::adopt(loop, descriptor);
    BOOST_TEST(!again.is_connected());
    BOOST_TEST((again.local_endpoint() == address));
    BOOST_TEST(again.send_to("x", address).done());
    BOOST_TEST(next(loop, again).bytes == "x");
}

REACTOR_LOOP_TEST(calls_in_the_wrong_state_say_so) {
    DatagramSocket empty;
    BOOST_TEST(!empty);
    BOOST_TEST(!empty.is_open());
    BOOST_TEST(empty.native_handle() == -1);
    BOOST_CHECK_THROW(empty.receive_from(), StateError);
    BOOST_CHECK_THROW(empty.loop(), StateError);
    empty.close();

    DatagramSocket socket(loop, any_port);
    BOOST_TEST(&socket.loop() == &loop);
    BOOST_CHECK_THROW(socket.receive(), StateError);
    BOOST_CHECK_THROW(socket.send("x"), StateError);
    BOOST_CHECK_THROW(socket.remote_endpoint(), StateError);
    BOOST_CHECK_THROW(socket.send_to("x", Endpoint()), std::invalid_argument);
    BOOST_CHECK_THROW(socket.connect(Endpoint()), std::invalid_argument);
    const Promise<Datagram> waits = socket.receive_from();
    BOOST_CHECK_THROW(socket.receive_from(), StateError);
    char byte;
    BOOST_CHECK_THROW(socket.receive_into(&byte, 1), StateError);
    socket.close();
    BOOST_TEST(waits.cancelled());
    BOOST_CHECK_THROW(socket.receive_from(), StateError);
    BOOST_CHECK_THROW(socket.local_endpoint(), StateError);
    BOOST_CHECK_THROW(socket.set_broadcast(true), StateError);
    BOOST_CHECK_THROW(socket.release(), StateError);
    socket.close();
}

REACTOR_LOOP_TEST(SOCK_10_in_debug_mode_a_datagram_socket_that_blocks_is_refused) {
    DatagramSocket socket(loop, any_port);
    const int fd = socket.native_handle();
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    loop.set_debug(true);
    const std::string blocks = ": descriptor " + std::to_string(fd) + " blocks, ";
    BOOST_TEST(support::refusal<std::invalid_argument>([&] {
                   socket.receive_from();
               }).find("receive" + blocks) == 0u);
    BOOST_TEST(support::refusal<std::invalid_argument>([&] {
                   socket.send_to("x", socket.local_endpoint());
               }).find("send" + blocks) == 0u);
    loop.set_debug(false);
    BOOST_TEST(loop.watch_count() == 0u);
}

BOOST_AUTO_TEST_CASE(a_loop_with_a_network_in_memory_has_no_datagrams) {
    TestLoop loop;
    const reactor::net::testing::MemoryNetwork network(loop);
    BOOST_CHECK_THROW(DatagramSocket(loop, any_port), StateError);
    BOOST_CHECK_THROW(DatagramSocket(loop, Endpoint::Family::ipv4), StateError);
}

BOOST_AUTO_TEST_SUITE_END()
