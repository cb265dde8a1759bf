// SPDX-License-Identifier: BSL-1.0
#include "in_memory.hpp"

#include <net/stream.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace in_memory;
using support::milliseconds;
using support::pattern;
using support::seconds;
using transports::Course;
using transports::StateError;
using transports::Transport;

namespace {

// What a network complains of, where a test expects that it does.
std::vector<std::string> failures;

void note_failure(const std::string& text) { failures.push_back(text); }

/// The same fixture with other options.
template <class Choose>
struct With : NetTest {
    explicit With(const std::string& selector) : NetTest(selector, 7, options()) {}
    static MemoryNetworkOptions options() {
        MemoryNetworkOptions chosen;
        Choose()(chosen);
        return chosen;
    }
};

struct ShortCalls {
    void operator()(MemoryNetworkOptions& options) const {
        options.short_reads = options.short_writes = 0.5;
        options.largest_segment = 100;
    }
};
struct Spurious {
    void operator()(MemoryNetworkOptions& options) const { options.spurious_events = 1; }
};
struct Narrow {
    void operator()(MemoryNetworkOptions& options) const {
        options.send_buffer = 1000;
        options.receive_buffer = 500;
    }
};
struct Slow {
    void operator()(MemoryNetworkOptions& options) const {
        options.shortest_latency = options.longest_latency = milliseconds(10);
        options.bandwidth = 1000;
        options.largest_segment = 100;
    }
};
struct Resetting {
    void operator()(MemoryNetworkOptions& options) const { options.resets = 1; }
};
struct ResetTakesUnread {
    void operator()(MemoryNetworkOptions& options) const { options.reset_takes_unread = true; }
};
struct Few {
    void operator()(MemoryNetworkOptions& options) const { options.most_sockets = 3; }
};
struct Shuffled {
    void operator()(MemoryNetworkOptions& options) const { options.shuffled_events = true; }
};
struct ShortLog {
    void operator()(MemoryNetworkOptions& options) const { options.log_lines = 2; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_network)

REACTOR_NET_TEST(transports_and_streams_run_unchanged_on_a_pair) {
    auto ends = pair();
    Course course;
    const Transport transport = open(ends.first, course);
    transport.write("to the stream");
    reactor::net::Stream stream =
        loop.run_until_complete(reactor::net::make_stream(loop, ends.second.release()));
    BOOST_TEST(loop.run_until_complete(stream.read_exactly(13)) == "to the stream");
    stream.write("to the transport");
    settle();
    BOOST_TEST(course.bytes == "to the transport");
    BOOST_TEST(transport.remote_endpoint().str() == stream.transport().local_endpoint().str());
    BOOST_TEST(transport.local_endpoint().address() == "127.0.0.1");
    loop.run_until_complete(stream.close());
    settle();
    BOOST_TEST(course.calls == "made data eof lost");
    BOOST_TEST(network.counters().open_sockets == 0u);
    BOOST_TEST(network.counters().bytes_sent == 29u);
    BOOST_TEST(network.counters().bytes_received == 29u);
}

REACTOR_NET_TEST(bytes_take_the_time_that_the_options_say) {
    auto ends = pair();
    const TimePoint begin = loop.time();
    TimePoint come;
    ends.first.send("x");
    BOOST_TEST(ends.second.error_of_reading() == EAGAIN);
    loop.add_reader(ends.second.number(), [&] {
        come = loop.time();
        loop.remove_reader(ends.second.number());
    });
    settle();
    BOOST_TEST((come - begin >= support::microseconds(100)));
    BOOST_TEST((come - begin <= milliseconds(1)));
    BOOST_TEST(ends.second.take() == "x");
}

REACTOR_LOOP_TEST_IN(With<Slow>, a_line_has_a_bandwidth) {
    auto ends = pair();
    ends.first.send(std::string(1000, 'x'));
    loop.run_for(milliseconds(109));
    BOOST_TEST(ends.second.take().empty());
    loop.run_for(milliseconds(1));
    BOOST_TEST(ends.second.take().size() == 100u);
    loop.run_for(milliseconds(500));
    BOOST_TEST(ends.second.take().size() == 500u);
    loop.run_for(milliseconds(400));
    BOOST_TEST(ends.second.take().size() == 400u);
}

REACTOR_NET_TEST(a_unix_pair_takes_no_time) {
    auto ends = local_pair();
    ends.first.send("x");
    BOOST_TEST(ends.second.take() == "x");
    BOOST_TEST(network.calls().local_endpoint(ends.first.number()).str() == "unix:");
}

REACTOR_LOOP_TEST_IN(With<Narrow>, a_peer_that_does_not_read_stops_the_sender) {
    auto ends = pair();
    BOOST_TEST(ends.first.send(std::string(2000, 'x')) == 1000);
    BOOST_TEST(ends.first.send("x") == -1);
    settle();
    // The peer's half of it has been taken: there is room for as much again, and no more.
    BOOST_TEST(ends.first.send(std::string(2000, 'x')) == 500);
    settle();
    BOOST_TEST(ends.first.send("x") == -1);
    std::size_t got = 0;
    for (int i = 0; i < 10; ++i) {
        got += ends.second.take().size();
        settle();
    }
    BOOST_TEST(got == 1500u);
}

REACTOR_LOOP_TEST_IN(With<Narrow>, a_transport_pauses_its_protocol_and_goes_on) {
    auto ends = pair();
    Course course;
    const Transport transport = open(ends.first, course);
    const std::string sent = pattern(200000);
    transport.write(sent);
    settle();
    BOOST_TEST(course.calls == "made pause");
    std::string got;
    for (int i = 0; i < 10000 && got.size() < sent.size(); ++i) {
        got += ends.second.take();
        loop.run_for(milliseconds(2));
    }
    BOOST_TEST((got == sent));
    BOOST_TEST(course.calls == "made pause resume");
    transport.close();
    settle();
}

REACTOR_LOOP_TEST_IN(With<ShortCalls>, reads_and_writes_are_short_and_nothing_is_lost) {
    auto ends = pair();
    Course course;
    const Transport transport = open(ends.first, course);
    const std::string sent = pattern(20000);
    constexpr std::size_t piece = 500;
    std::size_t calls = 0;
    for (std::size_t out = 0; out < sent.size(); ++calls) {
        const ::ssize_t took = ends.second.send(sent.substr(out, piece));
        if (took > 0) out += static_cast<std::size_t>(took);
        settle();
    }
    BOOST_TEST(calls > sent.size() / piece);
    BOOST_TEST((course.bytes == sent));
    BOOST_TEST(course.reads > calls);
    transport.write(sent);
    transport.close();
    std::string got;
    bool ended = false;
    for (int i = 0; i < 1000 && !ended; ++i) {
        got += ends.second.take(1 << 20, &ended);
        settle();
    }
    BOOST_TEST((got == sent));
    BOOST_TEST(course.calls == "made data lost");
    ends.second.close();  // for which the other one lingers
    settle();
}

REACTOR_LOOP_TEST_IN(With<Spurious>, an_event_may_be_spurious_and_time_passes_all_the_same) {
    auto ends = pair();
    int events = 0;
    loop.add_reader(ends.first.number(), [&] {
        ++events;
        BOOST_TEST(ends.first.error_of_reading() == EAGAIN);
    });
    loop.call_later(milliseconds(1), [] {});
    loop.run_for(milliseconds(2));
    BOOST_TEST(events >= 2);
    loop.remove_reader(ends.first.number());
    Course course;
    const Transport transport = open(ends.first, course);
    settle();
    ends.second.send("x");
    settle();
    BOOST_TEST(course.calls == "made data");
    transport.close();
    settle();
}

REACTOR_LOOP_TEST_IN(With<Resetting>, something_between_the_peers_may_reset_both) {
    auto ends = pair();
    Course course;
    open(ends.first, course);
    ends.second.send("x");
    settle();
    BOOST_TEST(course.code() == ECONNRESET);
    BOOST_TEST(network.counters().resets == 2u);
    ends.second.take();
    BOOST_TEST(ends.second.error_of_reading() == 0);  // told already
    ends.second.close();
    const MemoryNetworkCounters counters = network.counters();
    BOOST_TEST(counters.bytes_sent == counters.bytes_received + counters.bytes_lost);
}

REACTOR_NET_TEST(a_test_may_reset_a_connection_or_cut_it_off) {
    auto ends = pair();
    Course course;
    open(ends.first, course);
    network.reset(ends.second.number());
    settle();
    BOOST_TEST(course.code() == ECONNRESET);

    ends = pair();
    Course silent;
    const Transport transport = open(ends.first, silent);
    network.silence(transport.native_handle());
    transport.write("never heard");
    ends.second.send("neither");
    const TimePoint begin = loop.time();
    loop.run_for(seconds(923));
    BOOST_TEST(silent.calls == "made");
    loop.run_for(seconds(2));
    BOOST_TEST(silent.code() == ETIMEDOUT);
    BOOST_TEST((loop.time() - begin == seconds(925)));
    BOOST_TEST(ends.second.error_of_reading() == ETIMEDOUT);
    BOOST_CHECK_THROW(network.silence(-1), std::invalid_argument);
    BOOST_CHECK_THROW(network.reset(0), std::invalid_argument);
}

REACTOR_NET_TEST(what_has_come_before_a_reset_can_be_read) {
    auto ends = pair();
    ends.first.send("before");
    ends.first.reset();
    settle();
    BOOST_TEST(ends.second.take() == "before");
    BOOST_TEST(network.counters().bytes_lost == 0u);
}

REACTOR_LOOP_TEST_IN(With<ResetTakesUnread>, unless_the_option_says_otherwise) {
    auto ends = pair();
    ends.first.send("before");
    ends.first.reset();
    settle();
    BOOST_TEST(ends.second.error_of_reading() == ECONNRESET);
    BOOST_TEST(network.counters().bytes_lost == 6u);
}

REACTOR_LOOP_TEST_IN(With<Few>, there_are_so_many_sockets_and_no_more) {
    const auto ends = pair();
    BOOST_CHECK_EXCEPTION(network.pair(), std::system_error, [](const std::system_error& error) {
        return error.code().value() == EMFILE;
    });
    BOOST_TEST(network.counters().open_sockets == 2u);
    BOOST_TEST(network.calls().listen(transports::Endpoint("127.0.0.1", 0), 1) >= 0);
    BOOST_TEST(network.calls().listen(transports::Endpoint("127.0.0.1", 0), 1) == -1);
    BOOST_TEST(network.open_sockets().find("#4 127.0.0.1:") != std::string::npos);
    for (int fd = 0; fd < 1000; ++fd) network.close(fd);  // those of others it leaves alone
}

REACTOR_LOOP_TEST_IN(With<Shuffled>, events_may_come_in_any_order) {
    std::vector<Socket> mine, theirs;
    for (int i = 0; i < 3; ++i) {
        auto ends = local_pair();
        mine.push_back(std::move(ends.first));
        theirs.push_back(std::move(ends.second));
    }
    std::vector<std::string> orders;
    for (int turn = 0; turn < 40; ++turn) {
        for (int i = 0; i < 3; ++i) {
            Socket& socket = mine[static_cast<std::size_t>(i)];
            theirs[static_cast<std::size_t>(i)].send("x");
            loop.add_reader(socket.number(), [&, i] {
                socket.take();
                say(std::to_string(i))();
            });
        }
        loop.run_iterations(1);
        orders.push_back(heard());
    }
    for (const char* const order : {"0 1 2", "0 2 1", "1 0 2", "1 2 0", "2 0 1", "2 1 0"}) {
        BOOST_TEST((std::find(orders.begin(), orders.end(), order) != orders.end()), order);
    }
    for (const Socket& socket : mine) loop.remove_reader(socket.number());
}

REACTOR_NET_TEST(real_descriptors_work_beside_it) {
    transports::Connection real(loop);
    real.open();
    auto ends = pair();
    Course course;
    const Transport transport = open(ends.first, course);
    transports::put(real.theirs.number, "real");
    ends.second.send("made");
    settle();
    BOOST_TEST(real.course.bytes == "real");
    BOOST_TEST(course.bytes == "made");
    BOOST_TEST(network.counters().bytes_sent == 4u);
    transport.close();
    settle();
}

REACTOR_NET_TEST(the_log_tells_it_line_by_line) {
    auto ends = pair();
    ends.first.send("abc");
    settle();
    ends.second.take(2);
    ends.second.close();
    settle();
    const std::string log = network.log();
    std::string without_times;
    for (std::size_t at = 0; at < log.size(); at = log.find('\n', at) + 1) {
        BOOST_TEST(log.substr(at, 2) == "0.");
        without_times += log.substr(at + 12, log.find('\n', at) + 1 - at - 12);
    }
    BOOST_TEST(without_times ==
               "#1 and #2 are a pair\n#1 sends 3 of 3 bytes\n#2 gets 3 bytes\n"
               "#2 reads 2 of 3 bytes\n#2 closes, unread 1 byte\n#2 resets\n"
               "#1 is told: Connection reset by peer\n");
}

REACTOR_LOOP_TEST_IN(With<ShortLog>, the_log_keeps_the_latest_lines) {
    auto ends = pair();
    ends.first.send("a");
    ends.first.send("b");
    const std::string log = network.log();
    BOOST_TEST(log.find("(1 lines before are not kept)\n") == 0u);
    BOOST_TEST(std::count(log.begin(), log.end(), '\n') == 3);
}

REACTOR_LOOP_TEST(what_is_open_at_the_end_fails_the_test) {
    failures.clear();
    int left = -1;
    {
        MemoryNetwork network(loop, 1, MemoryNetworkOptions(), &note_failure);
        const std::pair<int, int> ends = network.pair();
        left = ends.first;
        network.close(ends.second);
    }
    BOOST_REQUIRE(failures.size() == 1u);
    BOOST_TEST(failures[0].find("ends with 1 open sockets:\n#1 127.0.0.1:") != std::string::npos);
    ::close(left);
}

REACTOR_LOOP_TEST(a_network_may_go_before_what_it_has_opened) {
    failures.clear();
    Course course, late;
    {
        MemoryNetwork network(loop, 1, MemoryNetworkOptions(), &note_failure);
        const std::pair<int, int> ends = network.pair();
        loop.run_until_complete(
            transports::make_transport(loop, ends.first, transports::told(course)));
        loop.run_until_complete(
            transports::make_transport(loop, ends.second, transports::told(late)));
    }
    BOOST_TEST(failures.size() == 1u);
    course.transport.write("to nobody");
    late.transport.close();
    loop.run_iterations(3);
    BOOST_TEST(course.code() == ENOTSOCK);
    BOOST_TEST(late.lost == 1);
}

REACTOR_NET_TEST(a_loop_that_closes_takes_its_sockets_along) {
    auto ends = pair();
    Course course;
    const Transport transport = open(ends.first, course);
    reactor::net::Stream stream =
        loop.run_until_complete(reactor::net::make_stream(loop, ends.second.release()));
    loop.close();
    BOOST_TEST(course.destroyed == 1);
    BOOST_TEST(network.counters().open_sockets == 0u);
    stream.abort();
}

REACTOR_LOOP_TEST(misuse_is_told) {
    const MemoryNetwork network(loop);
    BOOST_CHECK_THROW(MemoryNetwork(loop, 2), StateError);
    MemoryNetworkOptions bad;
    bad.resets = 1.5;
    BOOST_CHECK_THROW(MemoryNetwork(loop, 2, bad), std::invalid_argument);
    bad = MemoryNetworkOptions();
    bad.shortest_latency = seconds(1);
    BOOST_CHECK_THROW(MemoryNetwork(loop, 2, bad), std::invalid_argument);
    bad = MemoryNetworkOptions();
    bad.receive_buffer = 0;
    BOOST_CHECK_THROW(MemoryNetwork(loop, 2, bad), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
