// SPDX-License-Identifier: BSL-1.0
#include <net/create_datagram_endpoint.hpp>

#include "datagram_endpoints.hpp"

#include <test/support/temporary_directory.hpp>

#include <net/if.h>

using namespace datagram_endpoints;

namespace {

using Strings = std::vector<std::string>;

int option_of(const DatagramTransport& transport, int name) {
    int value = -1;
    ::socklen_t size = sizeof value;
    BOOST_TEST(::getsockopt(transport.native_handle(), SOL_SOCKET, name, &value, &size) == 0);
    return value;
}

/// Whether the system knows a peer of it.
bool is_connected(const DatagramTransport& transport) {
    ::sockaddr_storage address;
    ::socklen_t size = sizeof address;
    return ::getpeername(transport.native_handle(),
                         static_cast<::sockaddr*>(static_cast<void*>(&address)), &size) == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(datagram_transport_options)

REACTOR_LOOP_TEST(DG_08_an_endpoint_for_broadcasts_is_not_connected) {
    Course listener, plain, broadcaster;
    open(loop, listener, at(Endpoint("0.0.0.0", 0)));
    const Endpoint all("127.255.255.255", listener.transport.local_endpoint().port());
    const DatagramTransport transport =
        open(loop, broadcaster, to(all).local(any_port).allow_broadcast(true));
    BOOST_TEST(option_of(transport, SO_BROADCAST) == 1);
    BOOST_TEST(transport.broadcast());
    BOOST_TEST(!is_connected(transport));
    BOOST_TEST((transport.remote_endpoint() == all));
    BOOST_CHECK_THROW(transport.send_to("x", any_port), std::invalid_argument);
    listener.on_datagram = [&] {
        listener.transport.send_to("here", listener.from.back());
        listener.transport.send_to("here", listener.from.back());
    };
    transport.send("who is there?");
    run_until(loop, [&] { return broadcaster.got.size() == 2; });
    BOOST_TEST(listener.got == Strings{"who is there?"});
    BOOST_TEST(broadcaster.got == (Strings{"here", "here"}));

    // Without the option.
    const Endpoint one("127.0.0.1", all.port());
    open(loop, plain, to(one));
    BOOST_TEST(option_of(plain.transport, SO_BROADCAST) == 0);
    BOOST_TEST(is_connected(plain.transport));
    for (Course* const course : {&listener, &plain, &broadcaster}) {
        BOOST_TEST(option_of(course->transport, SO_REUSEPORT) == 0);
        end(loop, *course);
    }
}

REACTOR_LOOP_TEST(DG_08_a_port_is_shared_only_if_asked_for) {
    Course first, second;
    const DatagramOptions shared = DatagramOptions().reuse_port(true);
    const Endpoint address = open(loop, first, at(any_port).socket(shared)).local_endpoint();
    open(loop, second, at(address).socket(shared));
    BOOST_TEST(option_of(second.transport, SO_REUSEPORT) == 1);
    Course third;
    BOOST_TEST(error_of(loop, create_datagram_endpoint(loop, told(third), at(address))) ==
               "bind " + address.str() + ": Address already in use");
    BOOST_TEST(third.calls == "");
    end(loop, first);
    end(loop, second);
}

REACTOR_LOOP_TEST(a_group_is_heard_between_joining_and_leaving) {
    const unsigned loopback = ::if_nametoindex("lo");
    Course course;
    const DatagramTransport member = open(loop, course, at(Endpoint("0.0.0.0", 0)));
    Course other;
    const DatagramTransport sender = open(loop, other, at(any_port));
    sender.set_multicast_interface(loopback);
    sender.set_multicast_ttl(1);
    BOOST_TEST(sender.multicast_loop());
    const Endpoint group("239.255.17.5", member.local_endpoint().port());
    sender.send_to("early", group);
    member.join_group(group, loopback);
    sender.send_to("heard", group);
    run_until(loop, [&] { return course.got.size() == 1; });
    member.leave_group(group, loopback);
    sender.send_to("late", group);
    sender.send_to("direct", Endpoint("127.0.0.1", group.port()));
    run_until(loop, [&] { return course.got.size() == 2; });
    BOOST_TEST(course.got == (Strings{"heard", "direct"}));
    BOOST_CHECK_THROW(member.leave_group(group, loopback), std::system_error);
    end(loop, course);
    BOOST_CHECK_THROW(member.join_group(group, loopback), StateError);
    end(loop, other);
}

REACTOR_LOOP_TEST(a_unix_path_is_the_endpoints_while_it_is_open) {
    const support::TemporaryDirectory directory;
    const Endpoint path = Endpoint::local_path(directory / "socket");
    Course server, client;
    open(loop, server, at(path));
    open(loop, client, to(path).local(Endpoint::local_path(directory / "client")));
    server.on_datagram = [&] { server.transport.send_to("answer", server.from[0]); };
    client.transport.send("question");
    run_until(loop, [&] { return !client.got.empty(); });
    BOOST_TEST((client.from[0] == path));
    end(loop, server);
    client.transport.send("x");
    run_until(loop, [&] { return !client.errors.empty(); });
    BOOST_TEST(client.errors == Strings{"send to " + path.str() + ": Connection refused"});
    end(loop, client);
    Course third;
    BOOST_TEST(error_of(loop, create_datagram_endpoint(loop, told(third), to(path))) ==
               "connect to " + path.str() + ": No such file or directory");
}

BOOST_AUTO_TEST_SUITE_END()
