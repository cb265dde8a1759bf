// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_socket.hpp>
#include <net/listener.hpp>
#include <net/socket.hpp>

#include "datagram_endpoints.hpp"
#include "processes.hpp"
#include "server_fixture.hpp"

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

using namespace served;
using reactor::net::DatagramSocket;
using reactor::net::DatagramTransport;
using reactor::net::Listener;
using reactor::net::Socket;
using support::LoopTest;

// Law 6. A descriptor was closed behind the loop's back, and the loop got its number again for
// another file. Who had it before is told in the next iteration, but may do nothing to that file
// from the start.

namespace {

/// A client of a server, whose connection gets the number of another part of the library.
struct Winner {
    struct Leaving : Told {
        explicit Leaving(Winner& w) : Told(w.course), winner(w) {}
        ~Leaving() override { Course::run(winner.on_gone); }
        Winner& winner;
    };

    explicit Winner(LoopTest& t) : test(t) {
        test.loop.selector().set_patience(seconds(10));
        server = create_server(
            test.loop, [this] { return std::unique_ptr<Protocol>(new Leaving(*this)); }, any_port);
        const DatagramSocket warm(test.loop, any_port);  // what the loop needs for the first of all
    }
    ~Winner() {
        course.transport.abort();
        server.close();
        if (!test.loop.is_closed()) test.loop.run_iterations(3);
        BOOST_TEST(test.loop.watch_count() == 0u);
    }

    /// Inside of one batch: whoever has it is not told yet.
    void take(int lost) {
        number = lost;
        client.reset(new Client(server.endpoints().front()));
        BOOST_REQUIRE(client->error == 0);
        client->send("hello");
        test.loop.call_soon([lost] { BOOST_REQUIRE(::close(lost) == 0); });
        test.loop.run_iterations(1);
        ::sockaddr_storage peer;
        ::socklen_t size = sizeof peer;
        auto* const address = static_cast<::sockaddr*>(static_cast<void*>(&peer));
        BOOST_REQUIRE(::getpeername(number, address, &size) == 0);
        const Endpoint mine = Endpoint::from_sockaddr(&peer, size);
        size = sizeof peer;
        BOOST_REQUIRE(::getsockname(client->descriptor.number, address, &size) == 0);
        BOOST_REQUIRE((mine == Endpoint::from_sockaddr(&peer, size)));
    }
    /// The loser has been told, unless it has ended before, and has done nothing to it.
    void check(bool told = true) {
        const auto until = [&](const std::string& bytes) {
            for (int i = 0; i < 1000 && course.bytes != bytes; ++i) {
                ::poll(nullptr, 0, i < 10 ? 0 : 1);
                test.loop.run_iterations(1);
            }
            BOOST_TEST(course.bytes == bytes);
        };
        until("hello");
        if (told) test.expect_report(report());
        client->send(" there");
        until("hello there");
        BOOST_TEST_REQUIRE(course.lost == 0);
        BOOST_TEST(course.transport.native_handle() == number);
        BOOST_CHECK_THROW(test.loop.add_reader(number, [] {}), StateError);
        course.transport.write("back");
        std::string got;
        for (int i = 0; i < 1000 && got.size() < 4; ++i) {
            ::poll(nullptr, 0, i < 10 ? 0 : 1);
            got += client->received();
        }
        BOOST_TEST(got == "back");
        BOOST_TEST(!client->ended());
    }
    std::string report() const {
        return "Descriptor " + std::to_string(number) +
               " cannot be watched any more: its number is that of another file now";
    }

    LoopTest& test;
    Course course;
    std::function<void()> on_gone;
    Server server;
    std::unique_ptr<Client> client;
    int number = -1;
};

int code_of(const std::exception_ptr& error) {
    try {
        if (error) std::rethrow_exception(error);
    } catch (const std::system_error& e) {
        return e.code().value();
    }
    return 0;
}

template <class T>
int code_of(const reactor::Promise<T>& promise) {
    BOOST_TEST_REQUIRE(promise.done());
    return code_of(promise.error());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(taken_number)

REACTOR_LOOP_TEST(a_connection_that_has_lost_its_number_does_nothing_to_the_one_that_has_it) {
    using Action = std::function<void(Transport&)>;
    const Action actions[] = {
        [](Transport&) {},
        [](Transport& t) { t.close(); },
        [](Transport& t) { t.close_unread(); },
        [](Transport& t) { t.abort(); },
        [](Transport& t) { t.write("for another peer"); },
        [](Transport& t) { t.write_eof(); },
        [](Transport& t) {
            t.pause_reading();
            t.resume_reading();
        },
    };
    for (const bool paused : {false, true}) {
        for (const Action& action : actions) {
            Winner winner(*this);
            Connection loser(loop);
            loser.open();
            if (paused) loser.course.transport.pause_reading();
            winner.take(loser.number);
            BOOST_TEST(loser.course.transport.native_handle() == -1);
            action(loser.course.transport);
            winner.check();
            loser.run_until_lost();
            const bool ended = &action > actions && &action < actions + 4;
            BOOST_TEST(loser.course.code() == (ended ? 0 : EBADF));
            BOOST_TEST(loser.course.bytes == "");
            BOOST_TEST(loser.course.destroyed == 1);
            BOOST_TEST(take(loser.theirs.number) == "");
        }
    }
}

REACTOR_LOOP_TEST(what_waits_to_be_sent_is_not_sent_to_another_peer) {
    for (const bool closing : {false, true}) {
        Winner winner(*this);
        Connection loser(loop);
        loser.open_narrow();
        loser.fill();
        loser.course.transport.write("for its own peer");
        if (closing) loser.course.transport.close();
        winner.take(loser.number);
        winner.check();
        loser.run_until_lost();
        BOOST_TEST(loser.course.code() == EBADF);
    }
}

// It was told of something to read before its number went, in the same batch.
REACTOR_LOOP_TEST(an_event_that_is_under_way_reads_nothing_of_another_peer) {
    Winner winner(*this);
    Connection loser(loop);
    loser.open();
    put(loser.theirs.number, "late");
    winner.take(loser.number);
    winner.check();
    loser.run_until_lost();
    BOOST_TEST(loser.course.bytes.find("hello") == std::string::npos);
    BOOST_TEST(loser.course.code() == EBADF);
}

REACTOR_LOOP_TEST(an_endpoint_that_has_lost_its_number_does_nothing_to_the_one_that_has_it) {
    using Action = std::function<void(DatagramTransport&)>;
    const Action actions[] = {
        [](DatagramTransport&) {},
        [](DatagramTransport& t) { t.close(); },
        [](DatagramTransport& t) { t.abort(); },
    };
    for (const Action& action : actions) {
        datagram_endpoints::Course loser;
        Winner winner(*this);
        datagram_endpoints::open(loop, loser, datagram_endpoints::at(any_port));
        loop.run_iterations(2);
        winner.take(loser.transport.native_handle());
        BOOST_TEST(loser.transport.native_handle() == -1);
        action(loser.transport);
        winner.check();
        datagram_endpoints::run_until(loop, [&] { return loser.lost == 1; });
        BOOST_TEST(code_of(loser.error) == (&action == actions ? EBADF : 0));
        BOOST_TEST(loser.calls == "made lost");
        BOOST_TEST(loser.got.empty());
    }
}

REACTOR_LOOP_TEST(a_listener_that_has_lost_its_number_does_nothing_to_the_one_that_has_it) {
    for (const bool accepts : {false, true}) {
        for (const bool closes : {false, true}) {
            Winner winner(*this);
            Listener loser(loop, any_port);
            reactor::Promise<Socket> accept;
            if (accepts) accept = loser.accept();
            winner.take(loser.native_handle());
            BOOST_TEST(!loser.is_open());
            if (closes) loser.close();
            winner.check(!closes);
            if (accepts && closes) BOOST_TEST(accept.cancelled());
            if (accepts && !closes) BOOST_TEST(code_of(accept) == EBADF);
            BOOST_CHECK_THROW(loser.accept(), StateError);
        }
    }
}

REACTOR_LOOP_TEST(a_server_that_has_lost_its_number_does_nothing_to_the_one_that_has_it) {
    for (const bool closes : {false, true}) {
        Winner winner(*this);
        Course none;
        Server loser = create_server(
            loop, [&] { return told(none); }, any_port);
        loop.run_iterations(1);
        const std::vector<int> all = listening();
        BOOST_REQUIRE(all.size() == 2u);
        winner.take(all.back());
        if (closes) loser.close();
        winner.check(!closes);
        BOOST_TEST(loser.endpoints().empty());
    }
}

REACTOR_LOOP_TEST(a_socket_that_has_lost_its_number_does_nothing_to_the_one_that_has_it) {
    for (const bool reads : {false, true}) {
        for (const bool closes : {false, true}) {
            Winner winner(*this);
            TcpPair ends;
            Socket loser = Socket::adopt(loop, ends.mine.release());
            reactor::Promise<std::string> read;
            if (reads) read = loser.read();
            loop.run_iterations(1);
            winner.take(loser.native_handle());
            BOOST_TEST(loser.native_handle() == -1);
            if (closes) {
                loser.close();
                if (reads) BOOST_TEST(read.cancelled());
            } else {
                BOOST_TEST(code_of(loser.send("for another peer")) == EBADF);
            }
            winner.check(!closes);
            if (reads && !closes) BOOST_TEST(code_of(read) == EBADF);
            BOOST_TEST(!loser.is_connected());
        }
    }
}

REACTOR_LOOP_TEST(a_datagram_socket_that_has_lost_its_number_does_nothing_to_the_one_that_has_it) {
    for (const bool receives : {false, true}) {
        for (const bool closes : {false, true}) {
            Winner winner(*this);
            DatagramSocket loser(loop, any_port);
            reactor::Promise<reactor::net::Datagram> receive;
            if (receives) receive = loser.receive_from();
            loop.run_iterations(1);
            winner.take(loser.native_handle());
            BOOST_TEST(loser.native_handle() == -1);
            if (closes) loser.close();
            winner.check(!closes);
            if (receives && !closes) BOOST_TEST(code_of(receive) == EBADF);
            BOOST_TEST(!loser.is_open());
        }
    }
}

REACTOR_LOOP_TEST(a_loop_that_closes_before_the_loser_is_told_leaves_the_number_to_the_winner) {
    datagram_endpoints::Course loser;
    Winner winner(*this);
    datagram_endpoints::open(loop, loser, datagram_endpoints::at(any_port));
    loop.run_iterations(2);
    const int number = loser.transport.native_handle();
    winner.take(number);
    bool was_open = false;
    winner.on_gone = [&] { was_open = is_open(number); };
    loop.close();
    BOOST_TEST(was_open);  // the loser goes first, the number with the winner
    BOOST_TEST(!is_open(number));
    BOOST_TEST(loser.destroyed == 1);
    BOOST_TEST(loser.lost == 0);
}

// What the library itself has opened has its number, whatever the loop knows of another file.
REACTOR_LOOP_TEST(a_listener_may_get_the_number_of_an_endpoint_that_was_closed) {
    datagram_endpoints::Course loser;
    { const DatagramSocket warm(loop, any_port); }
    datagram_endpoints::open(loop, loser, datagram_endpoints::at(any_port));
    const int number = loser.transport.native_handle();
    ::close(number);
    Listener listener(loop, any_port);
    BOOST_REQUIRE(listener.native_handle() == number);
    const reactor::Promise<Socket> accept = listener.accept();
    const Client client(listener.local_endpoint());
    loop.run_until_complete(accept);
    expect_report("Descriptor " + std::to_string(number) +
                  " cannot be watched any more: its number is that of another file now");
    datagram_endpoints::run_until(loop, [&] { return loser.lost == 1; });
    BOOST_TEST(listener.is_open());
}

// One that the program has opened is another matter: see make_transport() and adopt().
REACTOR_LOOP_TEST(a_listener_is_adopted_only_if_nobody_has_its_number) {
    datagram_endpoints::Course holder;
    datagram_endpoints::open(loop, holder, datagram_endpoints::at(any_port));
    const int number = holder.transport.native_handle();
    const Descriptor listens = listening_socket(any_port);
    BOOST_REQUIRE(::dup3(listens.number, number, O_CLOEXEC) == number);
    BOOST_CHECK_THROW(Listener::adopt(loop, number), StateError);
    BOOST_TEST(is_open(number));
    datagram_endpoints::end(loop, holder);
}

// Law 6: epoll would say nothing of the new file, which it is not told of.
REACTOR_LOOP_TEST(what_the_program_has_left_watched_does_not_make_a_connection_deaf) {
    support::SocketPair before, now;
    const int number = before.mine;
    int events = 0;
    const reactor::Handle left = loop.add_reader(number, [&] { ++events; });
    loop.run_iterations(1);
    BOOST_REQUIRE(::dup3(now.mine, number, O_CLOEXEC) == number);
    Course course;
    loop.run_until_complete(make_transport(loop, number, told(course)));
    before.mine = -1;
    BOOST_TEST(left.cancelled());
    expect_report("Descriptor " + std::to_string(number) +
                  " cannot be watched any more: a socket or transport of this loop has its number");
    now.send("hello");
    loop.run_iterations(2);
    BOOST_TEST(course.bytes == "hello");
    BOOST_TEST(events == 0);
    course.transport.abort();
    for (int i = 0; i < 3; ++i) loop.run_iterations(1);
    BOOST_TEST(course.lost == 1);
}

// A signal goes to the child, and not to whatever its pidfd's number stands for.
REACTOR_LOOP_TEST_IN(processes::ProcessTest, a_child_whose_pidfd_was_taken_over_is_killed_itself) {
    for (const bool told : {false, true}) {
        Winner winner(*this);
        processes::Process child = shell("read line; exit 7");
        const auto end = child.wait();
        const int number = processes::find_pidfd();
        if (number < 0) {
            BOOST_TEST_MESSAGE("this system has no pidfd");
            return;
        }
        winner.take(number);
        if (told) winner.check();
        BOOST_TEST(child.kill());
        BOOST_TEST(loop.run_until_complete(end).signal() == SIGKILL);
        if (!told) winner.check();
    }
}

BOOST_AUTO_TEST_SUITE_END()
