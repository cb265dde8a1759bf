// SPDX-License-Identifier: BSL-1.0
#include <net/transport.hpp>

#include "transport_fixture.hpp"

#include <net/detail/transport_state.hpp>
#include <net/socket.hpp>

#include <sys/wait.h>

using namespace transports;
using reactor::testing::ScriptedSelector;

namespace {

/// A connection whose descriptor somebody has closed behind its back, and its number is that of
/// another one now.
struct Taken {
    explicit Taken(TestLoop& loop) : first(loop), other(loop) {
        first.open();
        number = first.number;
        other.number = other.mine.number;
        ::fcntl(other.number, F_SETFL, O_NONBLOCK);
        shrink(other.number);
        other.fill();
        BOOST_REQUIRE(::dup2(other.number, number) == number);
    }
    /// The loop notices, and calls connection_lost().
    void lose(reactor::testing::LoopFixture& fixture) {
        first.course.transport.write("x");  // waits for room, of which epoll knows nothing
        fixture.loop.run_iterations(1);
        fixture.expect_report("Descriptor " + std::to_string(number) +
                              " cannot be watched any more");
    }

    Connection first, other;
    int number;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(transport_lifetime)

// Law 5: whatever a callback destroys.
REACTOR_LOOP_TEST(a_connection_lives_by_itself_and_may_be_dropped_anywhere) {
    Connection c(loop);
    c.course.on_data = [&] { c.course.transport = Transport(); };
    c.open();
    put(c.theirs.number, "one");
    loop.run_iterations(1);
    BOOST_TEST(c.course.bytes == "one");
    put(c.theirs.number, "two");
    loop.run_iterations(1);
    BOOST_TEST(c.course.bytes == "onetwo");
    c.theirs.close();
    c.run_until_lost();
    BOOST_TEST(c.course.destroyed == 1);
    BOOST_TEST(!is_open(c.number));
}

REACTOR_LOOP_TEST(two_connections_of_one_batch_end_each_other) {
    Connection c(loop);
    Connection d(loop);
    c.course.on_data = [&] { d.course.transport.abort(); };
    d.course.on_data = [&] { c.course.transport.abort(); };
    c.open();
    d.open();
    put(c.theirs.number, "x");
    put(d.theirs.number, "x");
    loop.run_iterations(2);
    BOOST_TEST(c.course.lost + d.course.lost == 1);
    BOOST_TEST(c.course.bytes.size() + d.course.bytes.size() == 1u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_loop_that_closes_takes_its_connections_along, On,
                              support::EverySelector) {
    const std::size_t before = reactor::testing::open_descriptors();
    Course open, full, unmade, silent;
    Promise<std::uint64_t> file;
    Promise<Transport> never;
    {
        TestLoop loop(On::name());
        support::SocketPair a, b, d, e;
        loop.run_until_complete(make_transport(loop, a.mine, told(open)));
        a.mine = -1;
        shrink(b.mine);
        loop.run_until_complete(make_transport(loop, b.mine, told(full)));
        b.mine = -1;
        full.transport.set_idle_timeout(seconds(5));
        full.transport.write(std::string(1 << 20, 'x'));
        file = full.transport.send_file(b.theirs, 0, 10);
        // A protocol whose end asks its own transport and another one for everything.
        struct Asks : Told {
            explicit Asks(Course& own, Course& o) : Told(own), course(own), other(o) {}
            ~Asks() override {
                for (const Transport& t : {course.transport, other.transport}) {
                    t.write("x");
                    t.write_lines({"x"});
                    t.write_eof();
                    t.pause_reading();
                    t.resume_reading();
                    t.set_idle_timeout(seconds(1));
                    t.set_write_limits(WriteLimits(10, 10));
                    BOOST_TEST(t.send_file(0, 0, 10).cancelled());
                    t.close();
                    t.abort();
                }
            }
            Course& course;
            Course& other;
        };
        loop.run_until_complete(
            make_transport(loop, e.mine, std::unique_ptr<Protocol>(new Asks(silent, open))));
        e.mine = -1;
        never = make_transport(loop, d.mine, told(unmade));
        d.mine = -1;
        loop.close();
        BOOST_TEST(open.transport.is_closing());
        BOOST_TEST(open.transport.native_handle() == -1);
        BOOST_TEST(open.transport.remote_endpoint().str() == "unix:");
        BOOST_CHECK_THROW(make_transport(loop, a.theirs, told(unmade)), StateError);
    }
    BOOST_TEST(open.destroyed == 1);
    BOOST_TEST(full.destroyed == 1);
    BOOST_TEST(unmade.destroyed == 2);
    BOOST_TEST(silent.destroyed == 1);
    for (const Course* course : {&open, &full, &unmade, &silent}) BOOST_TEST(course->lost == 0);
    BOOST_TEST(unmade.calls == "");
    BOOST_TEST(file.cancelled());
    // Handles that outlive the loop.
    open.transport.close();
    full.transport.abort();
    open.transport.write("x");
    BOOST_CHECK_THROW(open.transport.loop(), StateError);
    BOOST_TEST(reactor::testing::open_descriptors() == before);
}

// Law 4: only LoopExit leaves the loop, and the loop may run again.
REACTOR_LOOP_TEST(a_loop_exit_leaves_the_connection_as_it_is) {
    Connection c(loop);
    c.course.on_made = c.course.on_data = [] { throw reactor::LoopExit(3); };
    make_transport(loop, c.mine.release(), told(c.course));
    BOOST_CHECK_THROW(loop.run_forever(), reactor::LoopExit);
    c.course.on_made = nullptr;
    loop.run_iterations(1);
    BOOST_TEST(loop.watch_count() == 1u);
    put(c.theirs.number, "x");
    BOOST_CHECK_THROW(loop.run_forever(), reactor::LoopExit);
    c.course.on_data = nullptr;
    put(c.theirs.number, "y");
    loop.run_iterations(1);
    BOOST_TEST(c.course.bytes == "xy");
    c.course.on_lost = [] { throw reactor::LoopExit(4); };
    c.course.transport.close();
    BOOST_CHECK_THROW(loop.run_forever(), reactor::LoopExit);
    BOOST_TEST(c.course.destroyed == 1);
    BOOST_TEST(c.course.transport.native_handle() == -1);
    c.course.lost = 1;
}

// Law 6: poll and select see it at once, epoll cannot; the next call does.
REACTOR_LOOP_TEST(a_descriptor_closed_behind_our_back_ends_the_connection) {
    Connection c(loop);
    Transport& transport = c.open();
    ::close(c.number);
    loop.run_iterations(1);
    if (!support::forgets_what_is_closed(loop.selector_name())) {
        expect_report("Descriptor " + std::to_string(c.number) + " cannot be watched any more");
    }
    transport.write("x");
    c.run_until_lost();
    BOOST_TEST(c.course.code() == EBADF);
    BOOST_TEST(c.course.destroyed == 1);
    BOOST_TEST(loop.watch_count() == 0u);
}

// And a number that is somebody else's by then is not closed.
BOOST_AUTO_TEST_CASE(a_descriptor_that_is_somebody_elses_by_now_is_left_alone) {
    reactor::testing::LoopFixture fixture("epoll");
    Taken taken(fixture.loop);
    taken.lose(fixture);
    taken.first.run_until_lost();
    BOOST_TEST(taken.first.course.code() == EBADF);
    BOOST_TEST(is_open(taken.number));
    ::close(taken.number);
}

// Whoever has the number by then may use it, from connection_lost() on at the latest.
BOOST_AUTO_TEST_CASE(a_descriptor_number_of_a_lost_connection_is_free_for_others) {
    for (const bool watched_only : {true, false}) {
        reactor::testing::LoopFixture fixture("epoll");
        Taken taken(fixture.loop);
        Course second;
        reactor::Handle reader;
        Promise<Transport> made;
        taken.first.course.on_lost = [&] {
            if (watched_only) {
                reader = fixture.loop.add_reader(taken.number,
                                                 [&] { second.bytes += take(taken.number); });
            } else {
                made = make_transport(fixture.loop, taken.number, told(second));
            }
        };
        taken.lose(fixture);
        put(taken.other.theirs.number, "hello");
        taken.first.run_until([&] { return second.bytes == "hello"; });
        BOOST_TEST(is_open(taken.number));
        if (watched_only) {
            BOOST_TEST(reader.cancel());
            ::close(taken.number);
        } else {
            BOOST_TEST(second.calls == "made data");
            BOOST_TEST((made.result().native_handle() == taken.number));
            second.transport.close();
            made = Promise<Transport>();
            taken.first.run_until([&] { return second.lost == 1; });
            BOOST_TEST(!is_open(taken.number));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_loop_may_close_between_the_loss_of_a_descriptor_and_connection_lost) {
    reactor::testing::LoopFixture fixture("epoll");
    Taken taken(fixture.loop);
    Course second;
    Promise<Transport> made;
    fixture.loop.call_soon([&] {  // in front of connection_lost()
        BOOST_TEST(taken.first.course.transport.is_closing());
        made = make_transport(fixture.loop, taken.number, told(second));
        throw reactor::LoopExit(4);
    });
    taken.first.course.transport.write("x");
    BOOST_CHECK_THROW(fixture.loop.run_forever(), reactor::LoopExit);
    fixture.expect_report("Descriptor " + std::to_string(taken.number));
    fixture.loop.close();
    BOOST_TEST(taken.first.course.destroyed == 1);
    BOOST_TEST(taken.first.course.lost == 0);
    BOOST_TEST(second.destroyed == 1);
    BOOST_TEST(!is_open(taken.number));
    BOOST_TEST(is_open(taken.other.number));
    taken.first.course.transport = Transport();
    taken.first.course.lost = 1;
}

BOOST_AUTO_TEST_CASE(a_selector_that_refuses_ends_the_connection) {
    reactor::testing::VirtualClock clock;
    auto* const selector = new ScriptedSelector(clock);
    reactor::EventLoop loop(std::unique_ptr<reactor::Selector>(selector), clock);
    for (const bool writing : {false, true}) {
        support::SocketPair ends;
        Course course;
        shrink(ends.mine);
        if (writing) {
            // Without a reader registered, so that the writer is the first.
            course.on_made = [&] { course.transport.pause_reading(); };
        }
        make_transport(loop, ends.mine, told(course));
        ends.mine = -1;
        if (!writing) selector->refuse_next_change(ENOSPC);
        loop.run_once(seconds(0));
        if (writing) {
            selector->refuse_next_change(ENOSPC);
            course.transport.write(std::string(1 << 20, 'x'));
            BOOST_TEST(course.lost == 0);
        }
        BOOST_TEST(course.transport.is_closing());
        loop.run_once(seconds(0));
        BOOST_TEST(course.lost == 1);
        BOOST_TEST(course.code() == ENOSPC);
        BOOST_TEST(course.text().find(writing ? "send to a Unix socket without"
                                              : "read from a Unix socket without") == 0u);
        course.transport = Transport();
    }
}

// Law 9: a forked child that ends its copy of the loop leaves the connection alone.
REACTOR_LOOP_TEST(a_forked_child_leaves_the_connection_to_its_parent) {
    Connection c(loop, Connection::tcp);
    Transport& transport = c.open();
    const ::pid_t child = ::fork();
    if (child == 0) {
        loop.close();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    BOOST_TEST(status == 0);
    put(c.theirs.number, "x");
    c.run_until([&] { return c.course.bytes == "x"; });
    transport.write("y");
    ::pollfd there = {c.theirs.number, POLLIN, 0};
    ::poll(&there, 1, 10000);
    BOOST_TEST(take(c.theirs.number) == "y");
    transport.close();
    c.run_until_lost();
}

// For accepted connections: no further system calls, and what has come already is read at once.
REACTOR_LOOP_TEST(a_transport_that_looks_first_reads_before_it_watches) {
    Connection c(loop);
    put(c.theirs.number, "early");
    c.course.on_data = [&] { BOOST_TEST(loop.watch_count() == 0u); };
    ::fcntl(c.mine.number, F_SETFL, O_NONBLOCK);
    const Endpoint peer = Endpoint::local_path("/a/path/that/is/longer/than/a/sockaddr_in6");
    const Transport transport = reactor::net::detail::TransportAccess::make(
        loop, c.mine.release(), peer, told(c.course), true);
    loop.run_iterations(1);
    BOOST_TEST(c.course.bytes == "early");
    BOOST_TEST(loop.watch_count() == 1u);
    BOOST_TEST((transport.remote_endpoint() == peer));
    c.course.on_data = nullptr;
    put(c.theirs.number, "late");
    loop.run_iterations(1);
    BOOST_TEST(c.course.bytes == "earlylate");
    transport.close();
    c.run_until_lost();
}

// As a server that stops between an accept and the next iteration does.
REACTOR_LOOP_TEST(closed_before_connection_made_it_is_made_and_lost) {
    for (const bool abort : {false, true}) {
        Connection c(loop);
        put(c.theirs.number, "not read");
        ::fcntl(c.mine.number, F_SETFL, O_NONBLOCK);
        c.number = c.mine.release();
        const Transport transport = reactor::net::detail::TransportAccess::make(
            loop, c.number, Endpoint(), told(c.course), true);
        if (abort) {
            transport.abort();
        } else {
            transport.close();
        }
        loop.run_iterations(3);
        BOOST_TEST(c.course.calls == "made lost");
        BOOST_TEST(!is_open(c.number));
    }
}

// What data_received() looks at is not what a Socket reads into meanwhile.
REACTOR_LOOP_TEST(a_socket_read_inside_data_received_leaves_the_bytes_alone) {
    struct Reads : Protocol {
        explicit Reads(reactor::net::Socket& s) : socket(s) {}
        void data_received(ByteView bytes) override {
            socket.read().then([](const std::string&) {});
            seen += bytes.str();
        }
        reactor::net::Socket& socket;
        std::string& seen = *new std::string;
        ~Reads() override { delete &seen; }
    };
    support::SocketPair a, b;
    reactor::net::Socket socket = reactor::net::Socket::adopt(loop, b.mine);
    b.mine = -1;
    b.send("BBBB");
    auto* const protocol = new Reads(socket);
    const Transport transport =
        loop.run_until_complete(make_transport(loop, a.mine, std::unique_ptr<Protocol>(protocol)));
    a.mine = -1;
    a.send("aaaa");
    loop.run_iterations(1);
    BOOST_TEST(protocol->seen == "aaaa");
    transport.close();
    loop.run_iterations(3);
}

REACTOR_LOOP_TEST(from_another_thread_it_says_so) {
    Connection c(loop);
    Transport& transport = c.open();
    loop.call_soon([&] {
        support::on_another_thread([&] {
            try {
                transport.write("x");
            } catch (const StateError& error) {
                say("refused")();
                static_cast<void>(error);
            }
        });
    });
    loop.run_iterations(1);
    BOOST_TEST(heard() == "refused");
    transport.close();
    c.run_until_lost();
}

BOOST_AUTO_TEST_CASE(an_idle_connection_is_small) {
    if (sizeof(void*) == 8) BOOST_TEST(sizeof(reactor::net::detail::TransportState) <= 64u);
}

BOOST_AUTO_TEST_SUITE_END()
