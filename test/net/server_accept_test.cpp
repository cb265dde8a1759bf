// SPDX-License-Identifier: BSL-1.0
#include <net/server.hpp>

#include "server_fixture.hpp"

#include <test/support/no_descriptors_left.hpp>

#include <netinet/tcp.h>
#include <sys/syscall.h>

#include <cstring>
#include <set>

using namespace served;
using reactor::net::ListeningSockets;
using support::NoDescriptorsLeft;

namespace {

/// How many clients wait to be accepted, as soon as there are so many, or after a second.
unsigned waiting_in_backlog(int descriptor, unsigned expected) {
    ::tcp_info info = ::tcp_info();
    for (int i = 0; i < 1000; ++i) {
        ::socklen_t size = sizeof info;
        BOOST_REQUIRE(::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0);
        if (info.tcpi_unacked == expected) break;  // of a listening socket it is this number
        ::poll(nullptr, 0, 1);
    }
    return info.tcpi_unacked;
}

// What accept4() says next, before it does what it is asked: 0 lets a call through.
std::deque<int> accept_errors;
int accept_calls = 0;

}  // namespace

// Instead of the C library's, for the whole program.
extern "C" int accept4(int fd, ::sockaddr* address, ::socklen_t* size, int flags) {
    ++accept_calls;
    if (!accept_errors.empty()) {
        const int code = accept_errors.front();
        accept_errors.pop_front();
        if (code != 0) {
            errno = code;
            return -1;
        }
    }
    return static_cast<int>(::syscall(SYS_accept4, fd, address, size, flags));
}

namespace {

struct AcceptTest : ServerTest {
    explicit AcceptTest(const std::string& selector = std::string()) : ServerTest(selector) {
        accept_errors.clear();
        accept_calls = 0;
    }

    /// Iterations until all have a connection, from the first that gave one to the last.
    std::size_t iterations_for(std::size_t count) {
        std::set<std::size_t> iterations;
        std::size_t iteration = 0;
        for (std::size_t before = 0; made() < count && iteration < 1000; ++iteration) {
            loop.run_iterations(1);
            if (made() > before) iterations.insert(iteration);
            before = made();
            if (before == 0) ::poll(nullptr, 0, 1);
        }
        BOOST_TEST(made() == count);
        return *iterations.rbegin() - *iterations.begin() + 1;
    }

    /// The only listening socket that there is.
    void wait_for_backlog(unsigned count) {
        const std::vector<int> sockets = listening();
        BOOST_REQUIRE(sockets.size() == 1u);
        BOOST_TEST(waiting_in_backlog(sockets[0], count) == count);
    }
    /// Linux lets one more wait than the backlog says. The first client of several is accepted
    /// alone, in an iteration of its own.
    void six_come_to_a_backlog_of_four() {
        for (int i = 0; i < 5; ++i) connect();
        wait_for_backlog(5);
        loop.run_iterations(1);
        BOOST_TEST(server.counters().accepted == 1u);
        connect();
        wait_for_backlog(5);
        loop.run_iterations(1);
        BOOST_TEST(server.counters().accepted == 5u);
        loop.run_iterations(1);
        BOOST_TEST(server.counters().accepted == 6u);
        run_until_open(6);
    }
};

}  // namespace

#define ACCEPT_TEST(name) REACTOR_LOOP_TEST_IN(AcceptTest, name)

BOOST_AUTO_TEST_SUITE(server_accept)

// With performance: within two iterations.
ACCEPT_TEST(SV_08_clients_that_wait_together_are_accepted_within_two_iterations) {
    serve();
    for (int i = 0; i < 5; ++i) connect();
    BOOST_TEST(iterations_for(5) <= 2u);
}

ACCEPT_TEST(in_one_iteration_no_more_than_the_backlog_are_accepted) {
    serve(ServerOptions().backlog(4));
    six_come_to_a_backlog_of_four();
}

// Theirs may hold more: what counts is the number in the options.
ACCEPT_TEST(nor_through_a_socket_of_others) {
    ListeningSockets sockets;
    sockets.add(listening_socket(any_port).release());
    address = sockets.endpoint(0);
    server = create_server(loop, factory(), std::move(sockets), ServerOptions().backlog(4));
    six_come_to_a_backlog_of_four();
}

// A second accept for each client, which says that there is no other, would double the calls.
ACCEPT_TEST(a_client_that_comes_alone_costs_one_accept) {
    serve();
    for (std::size_t i = 1; i <= 10; ++i) {
        connect();
        run_until_open(i);
        loop.run_iterations(3);
    }
    BOOST_TEST(accept_calls == 10);
}

ACCEPT_TEST(SV_09_without_descriptors_the_server_reports_once_rests_and_goes_on) {
    for (const int code : {EMFILE, ENFILE, ENOBUFS, ENOMEM}) {
        accept_errors = {code};
        accept_calls = 0;
        serve();
        const std::size_t before = courses.size();
        connect();
        run_until([&] { return server.counters().rests == 1; });
        const std::vector<Report> reports = take_reports();
        BOOST_REQUIRE(reports.size() == 1u);
        BOOST_TEST(reports[0].message.find("accept on " + address.str() + ": " +
                                           std::strerror(code)) == 0u,
                   reports[0].message);
        BOOST_TEST(reports[0].message.find("resting") != std::string::npos);
        BOOST_TEST(loop.watch_count() == before);  // the connections'
        BOOST_TEST(server.is_serving());
        loop.run_for(milliseconds(999));
        BOOST_TEST(accept_calls == 1);
        loop.run_for(milliseconds(2));
        run_until([&] { return courses.size() == before + 1; });
        BOOST_TEST(server.counters().rests == 1u);
        BOOST_TEST(loop.timer_count() == 0u);
    }
}

ACCEPT_TEST(SV_09_each_rest_is_reported_once) {
    accept_errors = {EMFILE, EMFILE, EMFILE};
    serve();
    connect();
    run_until([&] { return server.counters().rests == 1; });
    loop.run_for(milliseconds(2500));
    BOOST_TEST(server.counters().rests == 3u);
    BOOST_TEST(take_reports().size() == 3u);
    BOOST_TEST(accept_calls == 3);
    loop.run_for(seconds(1));
    run_until_open(1);
}

// The end of a connection ends the rest; what has been reported within a second is not again.
ACCEPT_TEST(SV_09_a_descriptor_that_is_closed_ends_the_rest) {
    serve();
    connect();
    run_until_open(1);
    accept_errors = {EMFILE};
    connect();
    run_until([&] { return server.counters().rests == 1; });
    accept_errors = {EMFILE};
    BOOST_TEST(take_reports().size() == 1u);
    courses[0].transport.abort();
    run_until([&] { return server.counters().rests == 2; });
    BOOST_TEST(take_reports().empty());
    loop.run_for(milliseconds(999));
    BOOST_TEST(courses.size() == 1u);
    loop.run_for(milliseconds(1));
    run_until_open(1);
    // Nobody waits for descriptors any more.
    accept_calls = 0;
    courses[1].transport.abort();
    loop.run_iterations(5);
    BOOST_TEST(accept_calls == 0);
}

ACCEPT_TEST(a_server_may_be_closed_while_it_rests) {
    accept_errors = {EMFILE};
    serve();
    connect();
    run_until([&] { return server.counters().rests == 1; });
    take_reports();
    server.close();
    BOOST_TEST(loop.timer_count() == 0u);
    loop.run_for(seconds(2));
    BOOST_TEST(courses.empty());
}

ACCEPT_TEST(the_exception_handler_may_destroy_a_server_that_cannot_accept) {
    accept_errors = {EMFILE};
    serve();
    connect();
    int told = 0;
    loop.set_exception_handler([&](reactor::EventLoop&, const Report&) {
        ++told;
        server = Server();
    });
    run_until([&] { return told == 1; });
    loop.run_for(seconds(2));
    BOOST_TEST(told == 1);
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
}

// Fault B6.
BOOST_AUTO_TEST_CASE_TEMPLATE(B6_the_descriptors_are_used_up, On, support::EverySelector) {
    accept_errors.clear();
    reactor::EventLoop loop(reactor::make_selector(On::name()));
    int reports = 0;
    loop.set_exception_handler([&](reactor::EventLoop&, const Report&) { ++reports; });
    std::deque<Course> courses;
    const ProtocolFactory factory = [&] {
        courses.emplace_back();
        return told(courses.back());
    };
    Server server = create_server(loop, factory, any_port);
    const Endpoint at = server.endpoints().front();
    std::deque<Client> clients;
    for (int i = 0; i < 20; ++i) clients.emplace_back(at);
    int beats = 0, late = 0;
    reactor::TimePoint last = loop.time();
    reactor::TimerHandle heartbeat = loop.call_every(milliseconds(5), [&] {
        ++beats;
        if (loop.time() - last > milliseconds(500)) ++late;
        last = loop.time();
    });
    {
        const NoDescriptorsLeft four(4);
        int iterations = 0;
        const reactor::TimePoint end = loop.time() + milliseconds(1500);
        for (; loop.time() < end; ++iterations) loop.run_once(milliseconds(5));
        BOOST_TEST(courses.size() == 4u);
        BOOST_TEST(iterations < 2 * beats + 50);  // no spin
        BOOST_TEST(late == 0);
        BOOST_TEST(server.is_serving());
        BOOST_TEST(reports >= 1);
        BOOST_TEST(reports <= 3);
        // Those go, and others come in their place, although the limit is what it was.
        const auto abort_four = [&] {
            for (Course& course : courses) course.transport.abort();
        };
        loop.call_soon(abort_four);
        while (courses.size() < 8) loop.run_once();
    }
    loop.call_soon([&] { courses.back().transport.abort(); });
    while (courses.size() < 20) loop.run_once();
    BOOST_TEST(reports <= 10);
    heartbeat.cancel();
    server = Server();
    loop.close();
}

// Fault E9 (tiny-http/tiny-http#283, status-im/nim-chronos#233, grpc/grpc#29318).
ACCEPT_TEST(E9_clients_that_are_gone_before_they_are_accepted_are_passed_over) {
    serve();
    for (int i = 0; i < 200; ++i) {
        Client client(address);
        client.reset();
        if (i % 50 == 49) loop.run_iterations(1);
    }
    connect().send("good");
    run_until([&] { return last_bytes() == "good"; });
    run_until([&] { return server.counters().open == 1; });
    BOOST_TEST(server.is_serving());
    BOOST_TEST(lost() + 1 == courses.size());
}

ACCEPT_TEST(E9_errors_of_one_client_do_not_end_the_accept_loop) {
    for (const int code : {ECONNABORTED, EPROTO, EINTR, EPERM, ENETDOWN, EHOSTUNREACH, ENETUNREACH,
                           ENOPROTOOPT, EHOSTDOWN, EOPNOTSUPP}) {
        accept_errors = {code, code};
        serve();
        const std::size_t before = courses.size();
        connect();
        connect();
        run_until([&] { return courses.size() == before + 2; });
        BOOST_TEST(server.counters().rests == 0u);
        if (code != EINTR) BOOST_TEST(server.counters().failed == 2u);
    }
}

// A listening socket that somebody has shut down says EINVAL for ever.
ACCEPT_TEST(an_error_that_stays_is_no_reason_to_spin) {
    serve();
    accept_errors.assign(100, EINVAL);
    connect();
    run_until([&] { return server.counters().rests == 1; });
    loop.run_iterations(20);
    BOOST_TEST(accept_calls == 1);
    expect_report("accept on " + address.str() + ": Invalid argument");
    accept_errors.clear();
    loop.run_for(milliseconds(1001));
    run_until_open(1);
}

ACCEPT_TEST(a_maximum_of_connections_pauses_and_those_who_wait_follow) {
    serve(ServerOptions().max_connections(2));
    for (int i = 0; i < 5; ++i) connect();
    run_until_open(2);
    loop.run_iterations(5);
    BOOST_TEST(courses.size() == 2u);
    BOOST_TEST(server.is_serving());
    BOOST_TEST(server.counters().open == 2u);
    // They wait in the backlog: nobody was refused.
    clients[4].send("waiting");
    for (int gone = 0; gone < 3; ++gone) {
        clients.pop_front();
        run_until([&] { return made() == static_cast<std::size_t>(gone) + 3; });
        loop.run_iterations(5);
        BOOST_TEST(server.counters().open == 2u);
    }
    run_until([&] { return courses[4].bytes == "waiting"; });
    BOOST_TEST(server.counters().accepted == 5u);
    BOOST_TEST(server.counters().refused_by_limit == 0u);
}

ACCEPT_TEST(beyond_the_maximum_for_an_address_a_client_is_reset) {
    serve(ServerOptions().max_per_address(2), Endpoint("0.0.0.0", 0));
    address = Endpoint("127.0.0.1", address.port());
    connect();
    connect();
    run_until_open(2);
    connect();
    run_until([&] { return clients.back().was_reset(); });
    BOOST_TEST(server.counters().refused_by_limit == 1u);
    BOOST_TEST(courses.size() == 2u);
    // Another address of this machine is another client.
    const Descriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Endpoint from("127.0.0.2", 0);
    BOOST_REQUIRE(::bind(other.number, static_cast<const ::sockaddr*>(from.data()),
                         static_cast<::socklen_t>(from.size())) == 0);
    BOOST_REQUIRE(::connect(other.number, static_cast<const ::sockaddr*>(address.data()),
                            static_cast<::socklen_t>(address.size())) == 0);
    run_until_open(3);
    // Who has gone makes room.
    clients.pop_front();
    run_until([&] { return server.counters().open == 2; });
    connect();
    run_until_open(3);
    BOOST_TEST(server.counters().refused_by_limit == 1u);
    BOOST_TEST(server.counters().accepted == 4u);
}

BOOST_AUTO_TEST_SUITE_END()
