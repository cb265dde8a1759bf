// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_socket.hpp>

#include "datagrams.hpp"
#include "unix_sockets.hpp"
#include <test/support/refusal.hpp>
#include <test/support/socket_option.hpp>
#include <test/support/taken_ports.hpp>
#include <test/support/temporary_directory.hpp>

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include <cerrno>
#include <stdexcept>

using namespace datagrams;
using support::TemporaryDirectory;

namespace {

template <class Call>
int code_thrown(const Call& call) {
    try {
        call();
    } catch (const std::system_error& error) {
        return error.code().value();
    }
    return 0;
}

/// One that carries groups of IPv4 and is not the loopback one; 0: there is none.
unsigned multicast_interface() {
    ::ifaddrs* all = nullptr;
    BOOST_REQUIRE(::getifaddrs(&all) == 0);
    unsigned found = 0;
    for (const ::ifaddrs* one = all; one && found == 0; one = one->ifa_next) {
        const unsigned wanted = IFF_UP | IFF_RUNNING | IFF_MULTICAST;
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET &&
            (one->ifa_flags & (wanted | IFF_LOOPBACK)) == wanted) {
            found = ::if_nametoindex(one->ifa_name);
        }
    }
    ::freeifaddrs(all);
    return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(datagram_options)

REACTOR_LOOP_TEST(options_are_set_and_told) {
    for (const char* const address : {"127.0.0.1", "::1"}) {
        DatagramSocket socket(loop, Endpoint(address, 0));
        BOOST_TEST(!socket.broadcast());
        socket.set_broadcast(true);
        BOOST_TEST(socket.broadcast());
        socket.set_ttl(7);
        BOOST_TEST(socket.ttl() == 7);
        BOOST_TEST(socket.multicast_ttl() == 1);
        socket.set_multicast_ttl(9);
        BOOST_TEST(socket.multicast_ttl() == 9);
        BOOST_TEST(socket.multicast_loop());
        socket.set_multicast_loop(false);
        BOOST_TEST(!socket.multicast_loop());
        const bool v4 = socket.local_endpoint().family() == Endpoint::Family::ipv4;
        BOOST_TEST(support::socket_option(socket.native_handle(), v4 ? IPPROTO_IP : IPPROTO_IPV6,
                                          v4 ? IP_MULTICAST_LOOP : IPV6_MULTICAST_LOOP) == 0);
        socket.set_receive_buffer_size(20000);
        socket.set_send_buffer_size(30000);
        BOOST_TEST(socket.receive_buffer_size() == 20000);
        BOOST_TEST(socket.send_buffer_size() == 30000);
        // Twice as much, as socket(7) has it.
        BOOST_TEST(support::socket_option(socket.native_handle(), SOL_SOCKET, SO_RCVBUF) == 40000);
        BOOST_TEST(support::socket_option(socket.native_handle(), SOL_SOCKET, SO_SNDBUF) == 60000);
        BOOST_CHECK_THROW(socket.set_ttl(256), std::invalid_argument);
        BOOST_CHECK_THROW(socket.set_multicast_ttl(-1), std::invalid_argument);
    }
    DatagramSocket local(loop, Endpoint::Family::local);
    BOOST_TEST(code_thrown([&] { local.set_ttl(7); }) == EOPNOTSUPP);
}

REACTOR_LOOP_TEST(a_unix_socket_is_opened_as_if_nothing_was_said_of_sharing) {
    const auto options = DatagramOptions().reuse_address(true).reuse_port(true).v6_only(false);
    const Endpoint name = abstract_name("not shared");
    const DatagramSocket bound(loop, name, options);
    const DatagramSocket unbound(loop, Endpoint::Family::local, options);
    for (const DatagramSocket* socket : {&bound, &unbound}) {
        BOOST_TEST(support::socket_option(socket->native_handle(), SOL_SOCKET, SO_REUSEADDR) == 0);
        BOOST_TEST(support::socket_option(socket->native_handle(), SOL_SOCKET, SO_REUSEPORT) == 0);
    }
    BOOST_TEST(code_thrown([&] { DatagramSocket(loop, name, options); }) == EADDRINUSE);
}

REACTOR_LOOP_TEST(an_address_is_shared_only_if_asked_for) {
    for (const DatagramOptions options :
         {DatagramOptions().reuse_address(true), DatagramOptions().reuse_port(true)}) {
        const DatagramSocket first(loop, any_port, options);
        const DatagramSocket second(loop, first.local_endpoint(), options);
        BOOST_TEST((second.local_endpoint() == first.local_endpoint()));
        BOOST_TEST(code_thrown([&] { DatagramSocket(loop, first.local_endpoint()); }) ==
                   EADDRINUSE);
    }
}

REACTOR_LOOP_TEST(an_ipv6_socket_takes_ipv4_only_if_asked_to) {
    DatagramSocket both(loop, Endpoint("::", 0), DatagramOptions().v6_only(false));
    DatagramSocket client(loop, any_port);
    const Endpoint there("127.0.0.1", both.local_endpoint().port());
    BOOST_TEST(client.send_to("x", there).done());
    BOOST_TEST(next(loop, both).from.address() == "::ffff:127.0.0.1");
    support::despite_taken_ports([&] {
        const DatagramSocket six(loop, Endpoint("::", 0));
        const DatagramSocket four(loop, Endpoint("0.0.0.0", six.local_endpoint().port()));
        BOOST_TEST(four.is_open());
    });
}

REACTOR_LOOP_TEST(a_broadcast_needs_leave) {
    DatagramSocket server(loop, Endpoint("0.0.0.0", 0));
    DatagramSocket client(loop, any_port);
    const Endpoint all("127.255.255.255", server.local_endpoint().port());
    const Promise<std::size_t> refused = client.send_to("x", all);
    BOOST_TEST(error_of(loop, refused) == "send to " + all.str() + ": Permission denied");
    client.set_broadcast(true);
    BOOST_TEST(client.send_to("to all", all).result() == 6u);
    const Datagram got = next(loop, server);
    BOOST_TEST(got.bytes == "to all");
    BOOST_TEST((got.from == client.local_endpoint()));
}

REACTOR_LOOP_TEST(a_group_is_heard_between_joining_and_leaving) {
    const unsigned loopback = ::if_nametoindex("lo");
    DatagramSocket member(loop, Endpoint("0.0.0.0", 0));
    DatagramSocket sender(loop, any_port);
    sender.set_multicast_interface(loopback);
    const Endpoint group("239.255.17.4", member.local_endpoint().port());
    BOOST_TEST(sender.send_to("early", group).done());
    member.join_group(group, loopback);
    BOOST_TEST(sender.send_to("heard", group).done());
    BOOST_TEST(next(loop, member).bytes == "heard");
    member.leave_group(group, loopback);
    BOOST_TEST(sender.send_to("late", group).done());
    BOOST_TEST(sender.send_to("direct", Endpoint("127.0.0.1", group.port())).done());
    BOOST_TEST(next(loop, member).bytes == "direct");

    BOOST_TEST(code_thrown([&] { member.leave_group(group, loopback); }) == EADDRNOTAVAIL);
    BOOST_TEST(code_thrown([&] { member.join_group(group, 1u << 30); }) == ENODEV);
    BOOST_TEST(support::refusal<std::system_error>([&] {
                   member.join_group(Endpoint("127.0.0.1", 0));
               }) == "join 127.0.0.1 on " + member.local_endpoint().str() + ": Invalid argument");
    BOOST_CHECK_THROW(member.join_group(Endpoint::local_path("/x")), std::invalid_argument);
}

// Not on the loopback interface, which brings all that it takes. No hops: it leaves no host.
REACTOR_LOOP_TEST(members_of_this_host_hear_what_is_looped_only) {
    const unsigned interface = multicast_interface();
    if (interface == 0) {
        BOOST_TEST_MESSAGE("this host has no network interface for groups");
        return;
    }
    DatagramSocket member(loop, Endpoint("0.0.0.0", 0));
    DatagramSocket sender(loop, Endpoint::Family::ipv4);
    sender.set_multicast_interface(interface);
    sender.set_multicast_ttl(0);
    const Endpoint group("239.255.17.4", member.local_endpoint().port());
    member.join_group(group, interface);
    sender.set_multicast_loop(false);
    BOOST_TEST(sender.send_to("unheard", group).done());
    sender.set_multicast_loop(true);
    BOOST_TEST(sender.send_to("heard", group).done());
    BOOST_TEST(next(loop, member).bytes == "heard");
}

// That the loopback interface carries IPv6 groups is not said; that it was joined is.
REACTOR_LOOP_TEST(a_group_of_ipv6_is_joined_on_an_interface_or_the_zone_of_its_address) {
    const unsigned loopback = ::if_nametoindex("lo");
    DatagramSocket member(loop, Endpoint("::", 0));
    member.join_group(Endpoint("ff02::17:4", 0), loopback);
    member.leave_group(Endpoint("ff02::17:4%lo", 0));
    BOOST_TEST(code_thrown([&] { member.leave_group(Endpoint("ff02::17:4%lo", 0)); }) ==
               EADDRNOTAVAIL);
    member.set_multicast_interface(loopback);
}

REACTOR_LOOP_TEST(a_unix_path_is_the_sockets_while_it_is_open) {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/socket";
    {
        unix_sockets::PlainSocket killed(SOCK_DGRAM);
        BOOST_REQUIRE(killed.bind(path) == 0);
    }
    DatagramSocket server(loop, Endpoint::local_path(path), DatagramOptions().permissions(0600));
    struct ::stat found;
    BOOST_REQUIRE(::lstat(path.c_str(), &found) == 0);
    BOOST_TEST((found.st_mode & 07777) == 0600u);
    BOOST_TEST(code_thrown([&] { DatagramSocket(loop, Endpoint::local_path(path)); }) ==
               EADDRINUSE);

    DatagramSocket client(loop, Endpoint::local_path(directory.path() + "/client"));
    BOOST_TEST(client.send_to("question", server.local_endpoint()).done());
    const Datagram question = next(loop, server);
    BOOST_TEST((question.from == client.local_endpoint()));
    BOOST_TEST(server.send_to("answer", question.from).done());
    BOOST_TEST(next(loop, client).bytes == "answer");

    server.close();
    BOOST_TEST(!unix_sockets::exists(path));
    BOOST_TEST(error_of(loop, client.send_to("x", Endpoint::local_path(path))) ==
               "send to unix:" + path + ": No such file or directory");
    const std::string name = client.local_endpoint().address();
    ::close(client.release());
    BOOST_TEST(unix_sockets::exists(name));
}

// Fault E8, 3 and 5: a file that is no socket, one of a stream server, and another socket's.
REACTOR_LOOP_TEST(a_unix_path_of_somebody_else_is_left_alone) {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/socket";
    const auto code_of_binding = [&] {
        return code_thrown([&] { DatagramSocket(loop, Endpoint::local_path(path)); });
    };
    support::write_file(path, "mine");
    BOOST_TEST(code_of_binding() == EADDRINUSE);
    BOOST_TEST(support::read_file(path) == "mine");
    ::unlink(path.c_str());
    {
        unix_sockets::PlainSocket stream;
        BOOST_REQUIRE(stream.bind(path) == 0);
        BOOST_TEST(code_of_binding() == EADDRINUSE);
    }
    ::unlink(path.c_str());

    DatagramSocket first(loop, Endpoint::local_path(path));
    ::unlink(path.c_str());
    DatagramSocket second(loop, Endpoint::local_path(path));
    first.close();
    DatagramSocket client(loop, Endpoint::Family::local);
    BOOST_TEST(client.send_to("x", Endpoint::local_path(path)).done());
    BOOST_TEST(next(loop, second).bytes == "x");
    second.close();
    BOOST_TEST(support::names_in(directory.path()) == std::vector<std::string>());
}

// Its maker may want to pass it on once more.
REACTOR_LOOP_TEST(the_unix_path_of_a_socket_taken_over_is_its_makers) {
    const TemporaryDirectory directory;
    const std::string path = directory.path() + "/socket";
    unix_sockets::PlainSocket made(SOCK_DGRAM);
    BOOST_REQUIRE(made.bind(path) == 0);
    const int descriptor = ::fcntl(made.fd, F_DUPFD, 0);
    DatagramSocket client(loop, Endpoint::Family::local);
    {
        DatagramSocket server = DatagramSocket::adopt(loop, descriptor);
        BOOST_TEST(server.native_handle() == descriptor);
        BOOST_TEST((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
        BOOST_TEST((server.local_endpoint() == Endpoint::local_path(path)));
        BOOST_TEST(!server.is_connected());
        BOOST_TEST(client.send_to("x", Endpoint::local_path(path)).done());
        BOOST_TEST(next(loop, server).bytes == "x");
    }
    BOOST_TEST(::fcntl(descriptor, F_GETFD) == -1);
    BOOST_TEST(unix_sockets::exists(path));
    BOOST_TEST(client.send_to("y", Endpoint::local_path(path)).result() == 1u);
    DatagramSocket again = DatagramSocket::adopt(loop, ::fcntl(made.fd, F_DUPFD_CLOEXEC, 0));
    BOOST_TEST(next(loop, again).bytes == "y");
    again.close();
    BOOST_TEST(unix_sockets::exists(path));
}

// A Unix socket hears that its peer is gone, and has none then.
REACTOR_LOOP_TEST(a_unix_socket_whose_peer_is_gone_is_connected_again) {
    const Endpoint name = abstract_name("again");
    DatagramSocket client(loop, Endpoint::Family::local);
    {
        const DatagramSocket gone(loop, name);
        client.connect(name);
    }
    BOOST_TEST(error_of(loop, client.send("x")) ==
               "send to " + name.str() + ": Connection refused");
    DatagramSocket server(loop, name);
    client.connect(name);
    BOOST_TEST(client.send("y").done());
    BOOST_TEST(next(loop, server).bytes == "y");
}

BOOST_AUTO_TEST_SUITE_END()
