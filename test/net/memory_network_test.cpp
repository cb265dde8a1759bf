// SPDX-License-Identifier: BSL-1.0
#include "in_memory.hpp"

#include <net/stream.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

#include <test/support/no_descriptors_left.hpp>
#include <test/support/refusal.hpp>

using namespace in_memory;
using support::milliseconds;
using support::pattern;
using support::seconds;
using transports::Course;
using transports::StateError;
using transports::Transport;

namespace {

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
    BOOST_TEST(calls(network).local_endpoint(ends.first.number()).str() == "unix:");
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

REACTOR_LOOP_TEST(without_descriptors_there_is_none_and_the_loop_stays_as_it_was) {
    int code = 0;
    {
        const support::NoDescriptorsLeft none;
        code = support::code_of([&] { MemoryNetwork network(loop); });
    }
    BOOST_TEST(code == EMFILE);
    const MemoryNetwork network(loop);
}

BOOST_AUTO_TEST_SUITE_END()
