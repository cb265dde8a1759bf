// SPDX-License-Identifier: BSL-1.0
#include <net/transport.hpp>

#include "transport_fixture.hpp"

#include <memory>
#include <thread>
#include <vector>

#include <sys/resource.h>

using namespace transports;

namespace {

/// What the peer of a refused upload sees: everything up to the end, or how it failed.
struct Seen {
    std::string answer;
    int error = 0;
};

/// Sends so much in pieces, with a pause between two of them, and reads only then.
Seen upload_then_read(int fd, std::size_t size, milliseconds pause) {
    Seen seen;
    const std::string piece(65536, 'u');
    for (std::size_t sent = 0; sent < size;) {
        const ::ssize_t took = ::send(fd, piece.data(), piece.size(), MSG_NOSIGNAL);
        if (took < 0) {
            seen.error = errno;
            return seen;
        }
        sent += static_cast<std::size_t>(took);
        if (pause != pause.zero()) std::this_thread::sleep_for(pause);
    }
    char part[4096];
    ::ssize_t got;
    while ((got = ::recv(fd, part, sizeof part, 0)) > 0) {
        seen.answer.append(part, static_cast<std::size_t>(got));
    }
    if (got < 0) seen.error = errno;
    return seen;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(transport_lingering)

// Fault E4.
REACTOR_LOOP_TEST(closing_with_unread_input_does_not_destroy_the_answer) {
    const std::string answer = pattern(2048);
    for (int round = 0; round < 50; ++round) {
        Connection c(loop, Connection::tcp);
        c.course.on_data = [&] {
            if (c.course.transport.is_closing()) return;
            c.course.transport.write(answer);
            c.course.transport.close_unread();
        };
        c.open();
        Seen seen;
        const milliseconds pause(round == 0 ? 50 : round == 1 ? 5 : 0);
        std::thread client([&] { seen = upload_then_read(c.theirs.number, 1 << 20, pause); });
        c.run_until_lost();
        while (loop.watch_count() != 0) {
            loop.run_iterations(1);
            ::poll(nullptr, 0, 1);
            // The client has read all there is: its end, too.
            char ended;
            if (::recv(c.theirs.number, &ended, 1, MSG_PEEK | MSG_DONTWAIT) == 0) {
                ::shutdown(c.theirs.number, SHUT_WR);
            }
        }
        client.join();
        BOOST_TEST(seen.error == 0);
        BOOST_TEST((seen.answer == answer));
    }
}

REACTOR_LOOP_TEST(connection_lost_does_not_wait_for_it) {
    Connection c(loop, Connection::tcp);
    Transport& transport = c.open();
    put(c.theirs.number, "unread");
    ::pollfd there = {c.number, POLLIN, 0};
    ::poll(&there, 1, 10000);
    transport.write("answer");
    transport.close();
    loop.run_iterations(1);
    BOOST_TEST(c.course.lost == 1);
    BOOST_TEST(is_open(c.number));
    BOOST_TEST(loop.watch_count() == 1u);
    put(c.theirs.number, "more");
    loop.run_iterations(1);
    bool ended = false;
    BOOST_TEST(take(c.theirs.number, 100, &ended) == "answer");
    BOOST_TEST(ended);
    c.theirs.close();
    c.run_until([&] { return !is_open(c.number); });
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(loop.timer_count() == 0u);
}

// Fault E4: a peer that keeps talking while a large answer is sent.
REACTOR_LOOP_TEST(a_chatty_peer_gets_all_of_a_large_answer) {
    const std::string answer = pattern(8 << 20);
    Connection c(loop, Connection::tcp);
    Transport& transport = c.open();
    transport.write(answer);
    transport.close();
    std::string got;
    bool ended = false;
    for (int i = 0; !ended && i < 100000; ++i) {
        BOOST_REQUIRE(::send(c.theirs.number, "c", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1);
        ::pollfd ready = {c.theirs.number, POLLIN, 0};
        ::poll(&ready, 1, 1);
        got += take(c.theirs.number, 1 << 20, &ended);
        loop.run_iterations(1);
    }
    BOOST_TEST((got == answer));
    BOOST_TEST(c.course.lost == 1);
}

REACTOR_LOOP_TEST(lingering_ends_after_a_time) {
    for (const bool silent : {true, false}) {
        Connection c(loop, Connection::tcp);
        loop.selector().set_patience(seconds(0));
        c.open();
        c.course.transport.write("answer");
        c.course.transport.close_unread();
        loop.run_iterations(1);
        BOOST_TEST(is_open(c.number));
        const reactor::TimePoint begin = loop.time();
        if (silent) {
            loop.run_for(milliseconds(4999));
            BOOST_TEST(is_open(c.number));
            loop.run_for(milliseconds(2));
        } else {
            while (is_open(c.number)) {
                ::send(c.theirs.number, "c", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
                ::pollfd there = {c.number, POLLIN, 0};
                ::poll(&there, 1, 1000);
                loop.run_for(seconds(1));
            }
            BOOST_TEST((loop.time() - begin >= seconds(30)));
            BOOST_TEST((loop.time() - begin < seconds(32)));
        }
        BOOST_TEST(!is_open(c.number));
        BOOST_TEST(loop.timer_count() == 0u);
    }
}

// What lingers is a quarter of the process's descriptors at most: a flood of such clients must not
// keep the others out.
REACTOR_LOOP_TEST(beyond_a_quarter_of_the_descriptors_nothing_lingers) {
    ::rlimit before;
    ::getrlimit(RLIMIT_NOFILE, &before);
    ::rlimit few = before;
    few.rlim_cur = 120;
    const std::size_t most = 30;
    BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    {
        std::vector<std::unique_ptr<Connection>> connections;
        for (std::size_t i = 0; i < most + 3; ++i) {
            connections.emplace_back(new Connection(loop, Connection::tcp));
            Connection& c = *connections.back();
            c.open();
            c.course.transport.write("answer");
            c.course.transport.close_unread();
            loop.run_iterations(1);
            BOOST_TEST(c.course.lost == 1);
            BOOST_TEST(is_open(c.number) == (i < most));
            BOOST_TEST(take(c.theirs.number) == "answer");
        }
        BOOST_TEST(loop.watch_count() == most);
        // One that is over makes room.
        Connection& first = *connections.front();
        first.theirs.close();
        first.run_until([&] { return !is_open(first.number); });
        Connection last(loop, Connection::tcp);
        last.open();
        last.course.transport.write("answer");
        last.course.transport.close_unread();
        loop.run_iterations(1);
        BOOST_TEST(is_open(last.number));
        for (const auto& one : connections) one->theirs.close();
    }
    ::setrlimit(RLIMIT_NOFILE, &before);
}

REACTOR_LOOP_TEST(no_lingering_where_it_changes_nothing) {
    enum { peer_ended, nothing_written, nothing_unread, aborted, cases };
    for (int i = 0; i < cases; ++i) {
        Connection c(loop, Connection::tcp);
        c.course.on_eof = [] { return true; };
        Transport& transport = c.open();
        if (i == peer_ended) {
            put(c.theirs.number, "x");
            ::shutdown(c.theirs.number, SHUT_WR);
            c.run_until([&] { return c.course.calls == "made data eof"; });
        } else if (i != nothing_unread) {
            put(c.theirs.number, "unread");
            ::pollfd there = {c.number, POLLIN, 0};
            ::poll(&there, 1, 10000);
        }
        if (i != nothing_written) transport.write("answer");
        if (i == aborted) {
            transport.abort();
        } else {
            transport.close();
        }
        loop.run_iterations(1);
        BOOST_TEST(c.course.lost == 1);
        BOOST_TEST(!is_open(c.number));
        BOOST_TEST(loop.timer_count() == 0u);
    }
}

BOOST_AUTO_TEST_CASE(a_loop_that_closes_takes_lingering_descriptors_along) {
    const std::size_t before = reactor::testing::open_descriptors();
    {
        TestLoop loop;
        TcpPair ends;
        Course course;
        const Transport transport =
            loop.run_until_complete(make_transport(loop, ends.mine.release(), told(course)));
        transport.write("answer");
        transport.close_unread();
        loop.run_iterations(1);
        BOOST_TEST(course.lost == 1);
        loop.close();
        course.transport = Transport();
    }
    BOOST_TEST(reactor::testing::open_descriptors() == before);
}

BOOST_AUTO_TEST_SUITE_END()
