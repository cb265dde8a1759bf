// SPDX-License-Identifier: BSL-1.0
#include <net/stream.hpp>

#include "streamed.hpp"

#include <net/detail/stream_receiver.hpp>

#include <functional>
#include <memory>

using namespace streamed;
using reactor::net::ByteView;
using reactor::net::Protocol;
using reactor::net::Transport;

namespace {

/// Keeps what its bytes are for as long as it lives.
struct Counting : Protocol {
    explicit Counting(std::size_t& c) : count(c) {}
    void data_received(ByteView bytes) override { count += bytes.size(); }
    std::size_t& count;
};

struct Serving : reactor::net::detail::StreamReceiver {
    Serving(reactor::EventLoop& loop, std::function<void(Stream)> s)
        : StreamReceiver(loop), serve(std::move(s)) {}
    void connection_made(const Transport& transport) override {
        StreamReceiver::connection_made(transport);
        serve(take_stream());
    }
    std::function<void(Stream)> serve;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(stream_lifetime)

// Law 5: in the callback of its own read, drain and close.
REACTOR_LOOP_TEST(a_stream_is_destroyed_in_its_own_callbacks) {
    StreamPair reading(loop), draining(loop), closing(loop);
    const auto destroy = [this](StreamPair& ends) {
        ends.stream.abort();
        ends.stream = Stream();
        say("gone")();
    };
    reading.stream.read().add_done_callback([&](const Promise<std::string>&) { destroy(reading); });
    reading.feed("data");
    BOOST_TEST(heard() == "gone");

    draining.fill();
    draining.stream.drain().add_done_callback([&](const Promise<void>&) { destroy(draining); });
    draining.stream.drain().add_done_callback([&](const Promise<void>&) { say("too")(); });
    draining.empty();
    loop.run_until_idle();
    BOOST_TEST(heard() == "gone too");

    closing.stream.close().add_done_callback([&](const Promise<void>&) { destroy(closing); });
    loop.run_until_idle();
    BOOST_TEST(heard() == "gone");
}

// The report of a read that failed, and that nobody waits for, comes inside of the call.
REACTOR_LOOP_TEST(a_stream_is_destroyed_by_the_report_of_its_dropped_read) {
    std::size_t count = 0;
    StreamPair ends(loop);
    ends.feed("0123456789");
    static_cast<void>(ends.stream.read_line());
    loop.set_exception_handler([&](reactor::EventLoop&, const reactor::Report&) {
        const Transport transport = ends.stream.transport();
        transport.set_protocol(std::unique_ptr<Protocol>(new Counting(count)));
        ends.stream = Stream();
        transport.abort();
        say("reported")();
    });
    loop.call_soon([&] { ends.stream.set_limit(1); });
    loop.run_until_idle();
    BOOST_TEST(heard() == "reported");
    loop.set_exception_handler(nullptr);
}

REACTOR_LOOP_TEST(a_stream_is_destroyed_by_another_one_of_its_batch) {
    StreamPair first(loop), second(loop);
    Promise<std::string> reads[] = {first.stream.read(), second.stream.read()};
    StreamPair* const ends[] = {&first, &second};
    for (int i = 0; i < 2; ++i) {
        reads[i].add_done_callback([&, i](const Promise<std::string>& done) {
            if (done.cancelled()) return;
            StreamPair& other = *ends[1 - i];
            other.stream.abort();
            other.stream = Stream();
            say("one")();
        });
    }
    first.send("data");
    second.send("data");
    loop.run_until_idle();
    BOOST_TEST(heard() == "one one");  // both had their bytes by then
    BOOST_TEST(loop.watch_count() == 0u);
}

// The one place where the user's code runs inside a stream: a failure that nobody holds is reported
// when its promise goes.
REACTOR_LOOP_TEST(a_stream_is_destroyed_by_the_exception_handler) {
    for (int how = 0; how < 4; ++how) {
        StreamPair ends(loop);
        loop.set_exception_handler([&](reactor::EventLoop&, const reactor::Report&) {
            say("reported")();
            ends.stream.abort();
            ends.stream = Stream();
        });
        if (how == 3) {
            ends.fill();
            ends.stream.drain();
            ends.stream.drain();
            ends.close_theirs();
        } else {
            ends.stream.set_limit(3);
            ends.stream.read_until("\n");
            if (how == 0) ends.feed("long");
            if (how == 1) ends.feed_end();
            if (how == 2) ends.stream.close();
        }
        loop.run_until_idle();
        BOOST_TEST(!ends.stream);
        BOOST_TEST(heard() == "reported");  // the second drain was cancelled with the stream
    }
}

// Fault D8: callbacks that keep their stream.
REACTOR_LOOP_TEST(nothing_is_left_of_a_stream_that_its_callbacks_own) {
    for (const bool by_loop : {false, true}) {
        std::weak_ptr<Stream> watched;
        {
            support::SocketPair sockets;
            const auto stream = std::make_shared<Stream>(
                loop.run_until_complete(reactor::net::make_stream(loop, sockets.mine)));
            sockets.mine = -1;
            watched = stream;
            stream->read().add_done_callback([stream](const Promise<std::string>&) {});
            stream->write("x");
            if (by_loop) {
                loop.set_log([](reactor::LogLevel, const std::string&) {});
                loop.close();
            } else {
                stream->close().add_done_callback([stream](const Promise<void>&) {});
                loop.run_until_idle();
            }
        }
        BOOST_TEST(watched.expired());
    }
}

// Second variant of row S-19.
REACTOR_LOOP_TEST(S_19_on_a_closed_loop_only_the_warning) {
    int warnings = 0;
    loop.set_log([&](reactor::LogLevel, const std::string&) { ++warnings; });
    StreamPair ends(loop), meant(loop);
    ends.fill();
    ends.feed("kept");
    const Promise<std::string> read = ends.stream.read_exactly(10);
    const Promise<void> drain = ends.stream.drain();
    const Promise<void> closed = meant.stream.close();
    loop.close();
    BOOST_TEST(outcome(read) == "cancelled");
    BOOST_TEST(outcome(drain) == "cancelled");
    BOOST_TEST(outcome(closed) == "cancelled");
    BOOST_TEST(ends.stream.is_closing());
    BOOST_CHECK_THROW(ends.stream.read(), StateError);
    BOOST_CHECK_THROW(ends.stream.drain(), StateError);
    BOOST_TEST(outcome(meant.stream.close()) == "done");
    BOOST_TEST(warnings == 0);
    ends.stream = Stream();
    BOOST_TEST(warnings == 1);
    meant.stream = Stream();
    BOOST_TEST(warnings == 1);
}

BOOST_AUTO_TEST_CASE(a_stream_may_outlive_its_loop) {
    support::SocketPair sockets;
    std::unique_ptr<reactor::EventLoop> loop(new reactor::EventLoop);
    Stream stream = loop->run_until_complete(reactor::net::make_stream(*loop, sockets.mine));
    sockets.mine = -1;
    Promise<std::string> read = stream.read();
    loop.reset();
    BOOST_CHECK_THROW(stream.loop(), StateError);
    BOOST_TEST(outcome(stream.close()) == "done");
    stream = Stream();
    BOOST_TEST(read.cancelled());
}

REACTOR_LOOP_TEST(a_stream_that_nobody_takes_over_is_given_up) {
    loop.set_log([&](reactor::LogLevel, const std::string&) { say("warned")(); });
    for (const std::string how : {"dropped", "cancelled", "lost"}) {
        support::SocketPair sockets;
        {
            const Promise<Stream> made = reactor::net::make_stream(loop, sockets.mine);
            sockets.mine = -1;
            if (how == "cancelled") made.cancel();
            if (how == "lost") sockets.close_theirs();
        }
        loop.run_until_idle();
        BOOST_TEST(heard() == (how == "cancelled" ? "" : "warned"));
        BOOST_TEST(loop.watch_count() == 0u);
    }
}

REACTOR_LOOP_TEST(a_socket_that_is_none_stays_the_callers) {
    int ends[2];
    BOOST_REQUIRE(::pipe(ends) == 0);
    BOOST_CHECK_THROW(reactor::net::make_stream(loop, ends[0]), std::exception);
    BOOST_TEST(::close(ends[0]) == 0);
    ::close(ends[1]);
}

REACTOR_LOOP_TEST(a_server_gets_the_stream_in_connection_made) {
    support::SocketPair sockets;
    sockets.send("request");
    Stream stream;
    std::unique_ptr<Protocol> serving(new Serving(loop, [&](Stream made) {
        say("made")();
        stream = std::move(made);
        stream.write("welcome");
    }));
    const Promise<Transport> connected =
        reactor::net::make_transport(loop, sockets.mine, std::move(serving));
    sockets.mine = -1;
    connected.add_done_callback([&](const Promise<Transport>&) { say("done")(); });
    loop.run_until_idle();
    BOOST_TEST(heard() == "made done");
    BOOST_TEST((stream.transport() == connected.result()));
    BOOST_TEST(outcome(stream.read()) == "'request'");
    char bytes[20];
    BOOST_TEST(::recv(sockets.theirs, bytes, sizeof bytes, 0) == 7);
    stream.close();
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(a_stream_given_up_before_its_connection_is_made) {
    support::SocketPair sockets;
    std::unique_ptr<reactor::net::detail::StreamReceiver> receiver(
        new reactor::net::detail::StreamReceiver(loop));
    receiver->take_stream().abort();
    const Promise<Transport> made =
        reactor::net::make_transport(loop, sockets.mine, std::move(receiver));
    sockets.mine = -1;
    loop.run_until_idle();
    BOOST_TEST(made.result().is_closing());
    BOOST_TEST(made.result().native_handle() == -1);
}

REACTOR_LOOP_TEST(a_connection_given_to_another_protocol_is_none_of_the_streams) {
    int warnings = 0;
    loop.set_log([&](reactor::LogLevel, const std::string&) { ++warnings; });
    StreamPair ends(loop);
    const Transport transport = ends.stream.transport();
    std::size_t count = 0;
    const Promise<std::string> read = ends.stream.read();
    transport.set_protocol(std::unique_ptr<Protocol>(new Counting(count)));
    BOOST_TEST(outcome(read) == "cancelled");
    BOOST_TEST(ends.stream.at_eof());
    ends.stream = Stream();
    ends.feed("data");
    BOOST_TEST(count == 4u);
    BOOST_TEST(warnings == 0);
    transport.abort();
}

BOOST_AUTO_TEST_SUITE_END()
