// SPDX-License-Identifier: BSL-1.0
#include "in_memory.hpp"

#include <net/create_connection.hpp>
#include <net/open_connection.hpp>
#include <net/resolver.hpp>
#include <net/server.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <netdb.h>

using namespace in_memory;
using reactor::Promise;
using reactor::TimeoutError;
using reactor::net::ConnectOptions;
using reactor::net::Endpoint;
using reactor::net::open_connection;
using reactor::net::ResolveError;
using reactor::net::Server;
using reactor::net::ServerOptions;
using reactor::net::Stream;
using support::milliseconds;
using support::seconds;
using transports::Course;

namespace {

const Endpoint& web() {
    static const Endpoint at("192.0.2.1", 80);
    return at;
}

/// What it fails with: a code; 0 for a value. How long that takes is in `took`.
struct Failure {
    int code = 0;
    Duration took;
    std::string text;
};

template <class P>
Failure failure_of(transports::TestLoop& loop, const P& promise) {
    Failure failure;
    const TimePoint begin = loop.time();
    try {
        loop.run_until_complete(promise);
    } catch (const std::system_error& error) {
        failure.code = error.code().value();
        failure.text = error.what();
    }
    failure.took = loop.time() - begin;
    return failure;
}

struct RefuseWhenFull : NetTest {
    explicit RefuseWhenFull(const std::string& selector) : NetTest(selector, 1, options()) {}
    static MemoryNetworkOptions options() {
        MemoryNetworkOptions chosen;
        chosen.refuse_when_full = true;
        return chosen;
    }
};

/// A listener that nobody serves, until it is told to.
struct Door {
    Door(MemoryNetwork& n, const Endpoint& at, int backlog)
        : network(n), socket(n, calls(n).listen(at, backlog)) {
        BOOST_REQUIRE(socket.number() >= 0);
    }
    /// -1 and errno, or a client.
    int accept() { return calls(network).accept(socket.number(), peer); }

    MemoryNetwork& network;
    Socket socket;
    Endpoint peer;
};

int done(const std::vector<Promise<Stream>>& promises) {
    int count = 0;
    for (const Promise<Stream>& one : promises) count += one.done() ? 1 : 0;
    return count;
}

void finish(transports::TestLoop& loop, Stream& stream) {
    stream.abort();
    loop.run_for(milliseconds(20));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_hosts)

REACTOR_NET_TEST(a_server_and_a_client_meet_at_any_address) {
    const std::vector<Endpoint> addresses = {
        Endpoint("192.0.2.1", 80), Endpoint("2001:db8::1", 80), Endpoint("127.0.0.1", 0),
        Endpoint::local_path("/run/server"), Endpoint::local_abstract("server")};
    for (const Endpoint& address : addresses) {
        Course course;
        Server server = reactor::net::create_server(
            loop, [&course] { return transports::told(course); }, address);
        BOOST_REQUIRE(server.endpoints().size() == 1u);
        const Endpoint at = server.endpoints()[0];
        BOOST_TEST((!at.is_ip() || at.port() != 0));
        Stream stream = loop.run_until_complete(open_connection(loop, at));
        BOOST_TEST(stream.transport().remote_endpoint().str() == at.str());
        stream.write("hello");
        settle();
        BOOST_TEST(course.bytes == "hello");
        BOOST_TEST(course.transport.remote_endpoint().str() ==
                   stream.transport().local_endpoint().str());
        loop.run_until_complete(stream.close());
        settle();
        BOOST_TEST(course.calls == "made data eof lost");
        server.close();
        BOOST_TEST(network.counters().open_sockets == 0u);
    }
}

REACTOR_NET_TEST(nobody_listens) {
    const Failure failure = failure_of(loop, open_connection(loop, web()));
    BOOST_TEST(failure.code == ECONNREFUSED);
    BOOST_TEST(failure.text == "connect to 192.0.2.1:80: Connection refused");
    BOOST_TEST((failure.took > Duration::zero()));
    BOOST_TEST(failure_of(loop, open_connection(loop, Endpoint::local_path("/no"))).code == ENOENT);
    BOOST_TEST(failure_of(loop, open_connection(loop, Endpoint::local_abstract("no"))).code ==
               ECONNREFUSED);
    BOOST_TEST(network.counters().refused == 1u);
}

REACTOR_NET_TEST(an_address_may_not_answer_or_not_be_reachable) {
    const Door door(network, web(), 1);
    network.drop_connects(web().with_port(0));
    const Failure late = failure_of(loop, open_connection(loop, web(), ConnectOptions(seconds(3))));
    BOOST_TEST((late.took == seconds(3)));
    BOOST_TEST(late.code == ETIMEDOUT);
    const Failure given_up = failure_of(loop, open_connection(loop, web()));
    BOOST_TEST(given_up.code == ETIMEDOUT);
    BOOST_TEST((given_up.took >= seconds(127) && given_up.took < seconds(128)));
    network.allow_connects(web().with_port(0));
    network.fail_connects(web(), EHOSTUNREACH);
    BOOST_TEST(failure_of(loop, open_connection(loop, web())).code == EHOSTUNREACH);
    network.allow_connects(web());
    Stream stream = loop.run_until_complete(open_connection(loop, web()));
    finish(loop, stream);
}

REACTOR_NET_TEST(a_unix_socket_may_refuse_and_always_answers) {
    const Endpoint at = Endpoint::local_path("/run/server");
    const Door door(network, at, 1);
    BOOST_CHECK_THROW(network.drop_connects(at), std::invalid_argument);
    network.fail_connects(at, EACCES);
    BOOST_TEST(failure_of(loop, open_connection(loop, at)).code == EACCES);
    network.allow_connects(at);
    Stream stream = loop.run_until_complete(open_connection(loop, at));
    finish(loop, stream);
}

REACTOR_NET_TEST(there_is_a_peer_only_while_there_is_a_connection) {
    const Door door(network, web(), 1);
    const auto has_none = [&](const Socket& socket) {
        return calls(network).remote_endpoint(socket.number()).empty() && errno == ENOTCONN;
    };
    const Socket client(network, calls(network).connect(web(), Endpoint()));
    BOOST_TEST(has_none(client));
    BOOST_TEST(calls(network).connect_error(client.number()) == EINPROGRESS);
    settle();
    BOOST_TEST(calls(network).connect_error(client.number()) == 0);
    BOOST_TEST((calls(network).remote_endpoint(client.number()) == web()));
    network.reset(client.number());
    settle();
    BOOST_TEST(has_none(client));
    const Socket refused(network, calls(network).connect(web().with_port(81), Endpoint()));
    settle();
    BOOST_TEST(has_none(refused));
    // Unix sockets remember it.
    auto ends = local_pair();
    ends.second.close();
    BOOST_TEST(!calls(network).remote_endpoint(ends.first.number()).empty());
}

REACTOR_NET_TEST(an_address_is_listened_on_once) {
    const Door door(network, web(), 1);
    const auto refused = [&](const Endpoint& at) {
        return calls(network).listen(at, 1) == -1 && errno == EADDRINUSE;
    };
    BOOST_TEST(refused(web()));
    BOOST_TEST(refused(Endpoint("0.0.0.0", 80)));
    Door any(network, Endpoint("::", 80), 1);
    BOOST_TEST(refused(Endpoint("2001:db8::1", 80)));
    Stream stream = loop.run_until_complete(open_connection(loop, Endpoint("2001:db8::1", 80)));
    settle();
    const Socket client(network, any.accept());
    BOOST_TEST(client.number() >= 0);
    BOOST_TEST(any.peer.str() == stream.transport().local_endpoint().str());
    finish(loop, stream);
}

REACTOR_NET_TEST(any_address_is_that_of_its_own_family) {
    Door six(network, Endpoint("::", 80), 1);
    BOOST_TEST(failure_of(loop, open_connection(loop, web())).code == ECONNREFUSED);
    Door four(network, Endpoint("0.0.0.0", 80), 1);
    for (const Endpoint& to : {web(), Endpoint("2001:db8::1", 80)}) {
        Stream stream = loop.run_until_complete(open_connection(loop, to));
        settle();
        Door& meant = to == web() ? four : six;
        Door& other = to == web() ? six : four;
        BOOST_TEST(other.accept() == -1);
        const Socket client(network, meant.accept());
        BOOST_TEST(client.number() >= 0);
        finish(loop, stream);
    }
}

REACTOR_NET_TEST(a_full_backlog_lets_clients_wait) {
    Door door(network, web(), 1);
    std::vector<Promise<Stream>> connecting;
    for (int i = 0; i < 4; ++i) connecting.push_back(open_connection(loop, web()));
    settle();
    BOOST_TEST(done(connecting) == 2);  // one more than the backlog, as on Linux
    std::vector<Socket> accepted;
    for (int i = 0; i < 2; ++i) accepted.emplace_back(network, door.accept());
    BOOST_TEST(door.accept() == -1);
    BOOST_TEST(errno == EAGAIN);
    loop.run_for(milliseconds(900));
    BOOST_TEST(done(connecting) == 2);
    loop.run_for(milliseconds(200));  // they have asked again
    BOOST_TEST(done(connecting) == 4);
    for (const Promise<Stream>& one : connecting) one.take().abort();
    settle();
}

REACTOR_LOOP_TEST_IN(RefuseWhenFull, or_refuses_them) {
    Door door(network, web(), 1);
    std::vector<Promise<Stream>> connecting;
    for (int i = 0; i < 3; ++i) connecting.push_back(open_connection(loop, web()));
    settle();
    BOOST_TEST(done(connecting) == 3);
    int refused = 0;
    for (const Promise<Stream>& one : connecting) {
        if (!one.error()) {
            one.take().abort();
        } else {
            BOOST_TEST(failure_of(loop, one).code == ECONNREFUSED);
            ++refused;
        }
    }
    BOOST_TEST(refused == 1);  // one more than the backlog is let in
    settle();
}

REACTOR_NET_TEST(a_full_backlog_of_a_unix_socket_lets_clients_wait) {
    const Endpoint at = Endpoint::local_abstract("door");
    Door door(network, at, 1);
    std::vector<Promise<Stream>> connecting;
    for (int i = 0; i < 3; ++i) connecting.push_back(open_connection(loop, at));
    loop.run_for(seconds(1));
    BOOST_TEST(done(connecting) == 2);
    const Socket accepted(network, door.accept());
    loop.run_for(milliseconds(100));
    BOOST_TEST(done(connecting) == 3);
    for (const Promise<Stream>& one : connecting) one.take().abort();
    settle();
}

REACTOR_NET_TEST(a_listener_that_closes_resets_who_waits) {
    std::unique_ptr<Door> door(new Door(network, web(), 5));
    Stream stream = loop.run_until_complete(open_connection(loop, web()));
    settle();
    door.reset();
    BOOST_TEST(failure_of(loop, stream.read()).code == ECONNRESET);
    finish(loop, stream);
}

REACTOR_NET_TEST(a_connect_that_is_given_up_meets_nobody) {
    Door door(network, web(), 5);
    Promise<Stream> given_up = open_connection(loop, web());
    loop.run_iterations(3);
    given_up.cancel();
    settle();
    BOOST_TEST(door.accept() == -1);
    BOOST_TEST(errno == EAGAIN);
}

REACTOR_NET_TEST(accepts_fail_as_often_as_the_test_says) {
    Course course;
    Server server = reactor::net::create_server(
        loop, [&course] { return transports::told(course); }, web());
    network.fail_accepts(EMFILE, 1);
    Stream stream = loop.run_until_complete(open_connection(loop, web()));
    settle();
    BOOST_TEST(course.calls.empty());
    BOOST_TEST(server.counters().rests == 1u);
    BOOST_TEST(take_reports().size() == 1u);
    loop.run_for(seconds(1));
    BOOST_TEST(course.calls == "made");
    finish(loop, stream);

    network.fail_accepts(ECONNABORTED, 1);
    stream = loop.run_until_complete(open_connection(loop, web()));
    BOOST_TEST(failure_of(loop, stream.read()).code == ECONNRESET);
    finish(loop, stream);
    BOOST_TEST(course.destroyed == 1);
    server.close();
}

REACTOR_NET_TEST(names_are_what_the_test_says) {
    Door door(network, web(), 5);
    network.add_host("web.test", {Endpoint("192.0.2.1", 0)}, milliseconds(30));
    const TimePoint begin = loop.time();
    Stream stream = loop.run_until_complete(open_connection(loop, "web.test", 80));
    BOOST_TEST((loop.time() - begin > milliseconds(30)));
    BOOST_TEST((loop.time() - begin < milliseconds(40)));
    finish(loop, stream);
    BOOST_TEST(failure_of(loop, open_connection(loop, "other.test", 80)).code == EAI_NONAME);
    network.add_host("web.test", {});
    BOOST_TEST(failure_of(loop, open_connection(loop, "web.test", 80)).code == EAI_NONAME);
    network.add_host("web.test", {}, milliseconds(30));
    const Failure gone = failure_of(loop, open_connection(loop, "web.test", 80));
    BOOST_TEST(gone.code == EAI_NONAME);
    BOOST_TEST((gone.took == milliseconds(30)));
    network.add_failing_host(
        "bad.test", std::error_code(EAI_FAIL, reactor::net::resolver_category()), seconds(2));
    const Failure failure = failure_of(loop, open_connection(loop, "bad.test", 80));
    BOOST_TEST(failure.code == EAI_FAIL);
    BOOST_TEST((failure.took == seconds(2)));
    const Failure late =
        failure_of(loop, open_connection(loop, "bad.test", 80, ConnectOptions(seconds(1))));
    BOOST_TEST(late.code == ETIMEDOUT);
    BOOST_TEST((late.took == seconds(1)));
    BOOST_TEST(network.log().find(" looks bad.test up\n") != std::string::npos);
    BOOST_CHECK_THROW(network.add_host("x", {}, seconds(-1)), std::invalid_argument);
}

REACTOR_NET_TEST(happy_eyeballs_passes_a_family_that_does_not_answer) {
    Door door(network, web(), 5);
    const Endpoint dead("2001:db8::1", 0);
    network.add_host("web.test", {dead, Endpoint("192.0.2.1", 0)}, Duration::zero());
    network.drop_connects(dead);
    const TimePoint begin = loop.time();
    Stream stream = loop.run_until_complete(open_connection(loop, "web.test", 80));
    BOOST_TEST((loop.time() - begin >= milliseconds(250)));
    BOOST_TEST((loop.time() - begin < milliseconds(260)));
    finish(loop, stream);
    BOOST_TEST(network.counters().open_sockets == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
