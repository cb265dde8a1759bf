// SPDX-License-Identifier: BSL-1.0
#include <net/create_connection.hpp>

#include "in_memory.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>

using namespace in_memory;
using support::milliseconds;
using support::pattern;
using support::seconds;
using transports::Course;
using transports::Endpoint;
using transports::Transport;

namespace {

struct ShortCalls {
    void operator()(MemoryNetworkOptions& options) const {
        options.short_reads = options.short_writes = 0.5;
        options.largest_segment = 100;
    }
};
struct Spurious {
    void operator()(MemoryNetworkOptions& options) const { options.spurious_events = 1; }
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

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_faults)

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

REACTOR_NET_TEST(a_half_closed_connection_times_out_all_the_same) {
    auto ends = pair();
    ends.second.end_sending();
    settle();
    BOOST_TEST(ends.first.error_of_reading() == 0);
    network.silence(ends.first.number());
    ends.first.send("never heard");
    loop.run_for(seconds(925));
    BOOST_TEST(calls(network).connect_error(ends.first.number()) == ETIMEDOUT);
}

REACTOR_NET_TEST(a_reset_behind_the_own_end_is_a_reset) {
    auto ends = pair();
    ends.second.close();
    settle();
    BOOST_TEST(ends.first.error_of_reading() == 0);
    ends.first.send("to nobody");
    ends.first.end_sending();
    settle();
    BOOST_TEST(calls(network).connect_error(ends.first.number()) == ECONNRESET);
}

REACTOR_NET_TEST(silence_holds_for_resets_that_are_under_way) {
    auto ends = pair();
    ends.first.reset();
    network.silence(ends.second.number());
    settle();
    BOOST_TEST(ends.second.error_of_reading() == EAGAIN);
    ends.second.send("to nobody");
    loop.run_for(seconds(925));
    BOOST_TEST(ends.second.error_of_reading() == ETIMEDOUT);

    ends = pair();
    network.reset(ends.first.number());
    network.silence(ends.first.number());
    settle();
    BOOST_TEST(ends.first.error_of_reading() == EAGAIN);
    BOOST_TEST(ends.second.error_of_reading() == EAGAIN);

    ends = local_pair();
    BOOST_CHECK_THROW(network.silence(ends.first.number()), std::invalid_argument);
}

// At many points in time, from the call to the answer: be that a connection or a refusal.
REACTOR_NET_TEST(silence_holds_for_connects_that_are_not_answered) {
    const Endpoint at("192.0.2.1", 80);
    const Endpoint nobody("192.0.2.9", 80);
    const Socket listener(network, calls(network).listen(at, 10));
    for (const Endpoint& to : {at, nobody}) {
        int silenced = 0;
        for (int step = 0;; ++step) {
            Socket client(network, calls(network).connect(to, Endpoint()));
            loop.run_for(step * support::microseconds(50));
            const int state = calls(network).connect_error(client.number());
            if (state != EINPROGRESS) {
                BOOST_TEST(state == (to == at ? 0 : ECONNREFUSED));
                break;
            }
            ++silenced;
            network.silence(client.number());
            loop.run_for(seconds(126));
            BOOST_TEST(calls(network).connect_error(client.number()) == EINPROGRESS);
            loop.run_for(seconds(2));
            BOOST_TEST(calls(network).connect_error(client.number()) == ETIMEDOUT);
            if (to == nobody) continue;
            Endpoint peer;
            BOOST_TEST(calls(network).accept(listener.number(), peer) == -1);
        }
        BOOST_TEST(silenced > 5);
    }
}

REACTOR_LOOP_TEST_IN(With<Spurious>, a_spurious_event_ends_no_connect) {
    const Endpoint at("192.0.2.1", 80);
    const Socket listener(network, calls(network).listen(at, 10));
    Course course;
    const Transport transport = loop.run_until_complete(reactor::net::create_connection(
        loop, [&course] { return transports::told(course); }, at));
    BOOST_TEST((transport.remote_endpoint() == at));
    BOOST_TEST(network.log().find("#2 is called ready, and is not") <
               network.log().find("#2 is connected"));
    transport.abort();
    settle();
    Endpoint peer;
    const Socket accepted(network, calls(network).accept(listener.number(), peer));
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

REACTOR_LOOP_TEST_IN(With<ResetTakesUnread>, and_then_the_end_behind_it_is_none) {
    auto ends = pair();
    ends.first.send("before");
    ends.first.end_sending();
    settle();
    ends.first.reset();
    settle();
    BOOST_TEST(ends.second.error_of_reading() == ECONNRESET);
    BOOST_TEST(ends.second.error_of_reading() == 0);
    BOOST_TEST(network.counters().bytes_lost == 6u);
    // One that has been read stays read.
    ends = pair();
    ends.first.end_sending();
    settle();
    ends.first.reset();
    settle();
    BOOST_TEST(ends.second.error_of_reading() == 0);
}

REACTOR_LOOP_TEST_IN(With<Few>, there_are_so_many_sockets_and_no_more) {
    const auto ends = pair();
    BOOST_CHECK_EXCEPTION(network.pair(), std::system_error, [](const std::system_error& error) {
        return error.code().value() == EMFILE;
    });
    BOOST_TEST(network.counters().open_sockets == 2u);
    BOOST_TEST(calls(network).listen(transports::Endpoint("127.0.0.1", 0), 1) >= 0);
    BOOST_TEST(calls(network).listen(transports::Endpoint("127.0.0.1", 0), 1) == -1);
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

// Not in that of their numbers, which depend on what else the process has open.
REACTOR_NET_TEST(else_events_come_in_the_order_of_opening) {
    std::vector<transports::Descriptor> low(6);
    for (transports::Descriptor& one : low) one.number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    std::vector<Socket> mine, theirs;
    for (int i = 0; i < 3; ++i) {
        auto ends = local_pair();
        mine.push_back(std::move(ends.first));
        theirs.push_back(std::move(ends.second));
        low[static_cast<std::size_t>(5 - 2 * i)].close();
        low[static_cast<std::size_t>(4 - 2 * i)].close();
    }
    BOOST_REQUIRE(mine[0].number() > mine[1].number());
    BOOST_REQUIRE(mine[1].number() > mine[2].number());
    for (int turn = 0; turn < 10; ++turn) {
        for (int i : {2, 0, 1}) {
            Socket& socket = mine[static_cast<std::size_t>(i)];
            theirs[static_cast<std::size_t>(i)].send("x");
            loop.add_reader(socket.number(), [&socket, this, i] {
                socket.take();
                say(std::to_string(i))();
            });
        }
        loop.run_iterations(1);
        BOOST_TEST(heard() == "0 1 2");
    }
    for (const Socket& socket : mine) loop.remove_reader(socket.number());
}

BOOST_AUTO_TEST_SUITE_END()
