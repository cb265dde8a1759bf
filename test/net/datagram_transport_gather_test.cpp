// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_transport.hpp>

#include "datagram_sender.hpp"

#include <cerrno>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace datagram_sender;

namespace {

using Counts = std::vector<int>;

/// A Sender that answers the datagrams of one batch.
struct Answering : Sender {
    explicit Answering(const std::string& selector) : Sender(selector) {}

    /// That many datagrams come in one batch, and this is done for each: from 0 on.
    void batch(int count, const std::function<void(int)>& answer) {
        const std::size_t before = course.got.size();
        int index = 0;
        course.on_datagram = [&] { answer(index++); };
        for (int i = 0; i < count; ++i) {
            BOOST_TEST(receivers[0].send_to("asks", transport.local_endpoint()).done());
        }
        loop.run_iterations(1);
        course.on_datagram = nullptr;
        BOOST_TEST(course.got.size() - before == static_cast<std::size_t>(index));
        BOOST_TEST(calls().received == Counts{count});
    }
    /// Sends the number, to the receivers in turn.
    void send(int number) { transport.send_to(std::to_string(number), address(number)); }
    const Endpoint& address(int number) { return addresses[static_cast<std::size_t>(number % 3)]; }
    /// What has come of the numbers below that, in their order; a point for one that has not.
    std::string come(int count) {
        std::string all;
        for (int i = 0; i < count; ++i) {
            const std::string expected = std::to_string(i);
            DatagramSocket& receiver = receivers[static_cast<std::size_t>(i % 3)];
            const bool here = peek(receiver) == expected;
            all += here ? steal(receiver) : ".";
        }
        BOOST_TEST(stolen() == nothing);
        return all;
    }
    std::string refusal(int number, const std::string& reason) {
        return "send to " + address(number).str() + ": " + reason;
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(datagram_transport_gather)

REACTOR_LOOP_TEST_IN(Answering, answers_to_the_datagrams_of_one_batch_go_out_in_one_call) {
    std::string memory;
    batch(9, [&](int i) {
        memory = std::to_string(i);  // the caller's, and used again
        transport.send_to(memory, address(i));
    });
    BOOST_TEST(come(9) == "012345678");
    BOOST_TEST(calls().many == Counts{9});
    BOOST_TEST(calls().single == 0);
    BOOST_TEST(loop.watch_count() == 1u);
    BOOST_TEST(course.calls == "made");
    transport.send_to("at once", addresses[1]);
    BOOST_TEST(steal(receivers[1]) == "at once");
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Answering, an_answer_to_one_that_came_alone_goes_out_inside_the_call) {
    batch(1, [&](int) {
        transport.send_to("one", addresses[0]);
        BOOST_TEST(steal(receivers[0]) == "one");
    });
    BOOST_TEST(calls().single == 1);
    BOOST_TEST(calls().many.empty());
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Answering, a_refused_answer_in_the_middle_is_told_once_and_stops_no_other) {
    calls().plan = {0, 0, EPERM, 0, EACCES, EMSGSIZE};
    batch(8, [&](int i) { send(i); });
    BOOST_TEST(come(8) == "01.3..67");
    BOOST_TEST(calls().many == (Counts{2, 1, 2}));
    BOOST_TEST(course.calls == "made");  // not inside of anything
    loop.run_iterations(1);
    BOOST_TEST(course.errors ==
               (Strings{refusal(2, "Operation not permitted"), refusal(4, "Permission denied"),
                        "send 1 bytes to " + address(5).str() + ": Message too long"}));
    loop.run_iterations(2);
    BOOST_TEST(course.errors.size() == 3u);
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Answering, of_many_refused_answers_no_more_than_sixteen_are_told) {
    calls().plan.assign(30, EPERM);
    batch(2, [&](int i) {
        for (int j = 0; j < 15; ++j) send(i);
    });
    BOOST_TEST(calls().plan.empty());  // each was tried
    loop.run_iterations(1);
    BOOST_TEST(course.errors.size() == 16u);
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Answering, what_does_not_fit_of_the_answers_waits_and_goes_out_in_order) {
    transport.set_write_limits(WriteLimits(2, 0));
    calls().plan = {0, 0, EAGAIN};
    batch(6, [&](int i) { send(i); });
    BOOST_TEST(come(2) == "01");
    BOOST_TEST(transport.write_buffer_size() == 4u);
    BOOST_TEST(transport.write_paused());
    BOOST_TEST(loop.watch_count() == 2u);
    send(6);
    BOOST_TEST(transport.write_buffer_size() == 5u);
    loop.run_iterations(3);
    BOOST_TEST(come(7) == "..23456");
    BOOST_TEST(course.calls == "made pause resume");
    BOOST_TEST(!transport.write_paused());
    BOOST_TEST(loop.watch_count() == 1u);
    end(loop, course);
}

// The marks and the hard limit are of what the system has refused.
REACTOR_LOOP_TEST_IN(Answering, answers_that_wait_count_for_the_marks_and_the_limit) {
    transport.set_write_limits(WriteLimits(0, 0, 400));
    calls().full = true;
    batch(12, [&](int i) {
        send(i);
        BOOST_TEST(!transport.write_paused());
    });
    BOOST_TEST(transport.write_paused());
    loop.run_iterations(1);
    BOOST_TEST(course.errors.size() == 1u);
    BOOST_TEST(course.code == ENOBUFS);
    BOOST_TEST(course.calls == "made pause error");
    calls().full = false;
    loop.run_iterations(2);
    BOOST_TEST(come(12) == "012.........");
    BOOST_TEST(course.calls == "made pause error resume");
    end(loop, course);
}

// While something waits, an answer has its place behind it.
REACTOR_LOOP_TEST_IN(Answering, answers_go_behind_what_waits_already) {
    calls().full = true;
    send(0);
    batch(3, [&](int i) { send(i + 1); });
    calls().full = false;
    BOOST_TEST(come(4) == "....");
    BOOST_TEST(transport.write_buffer_size() == 4u);
    loop.run_iterations(1);
    BOOST_TEST(come(4) == "0123");
    BOOST_TEST(calls().many == Counts{4});
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Answering,
                     one_that_is_closed_or_aborted_inside_has_sent_what_was_sent_before) {
    for (const bool aborted : {false, true}) {
        Course own;
        transport = open(loop, own, at(any_port));
        const Watched calls_of(transport.native_handle());
        int index = 0;
        own.on_datagram = [&] {
            send(index++);
            if (index != 3) return;
            aborted ? transport.abort() : transport.close();
            send(index);  // dropped
        };
        for (int i = 0; i < 5; ++i) {
            BOOST_TEST(receivers[0].send_to("asks", transport.local_endpoint()).done());
        }
        loop.run_iterations(1);
        BOOST_TEST(index == 3);
        BOOST_TEST(calls().many == Counts{3});
        BOOST_TEST(come(4) == "012.");
        BOOST_TEST(own.calls == "made");
        loop.run_iterations(1);
        BOOST_TEST(own.calls == "made lost");
        BOOST_TEST(!own.error);
    }
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Answering, a_close_inside_waits_for_answers_that_do_not_fit) {
    calls().full = true;
    batch(3, [&](int i) {
        send(i);
        if (i == 2) transport.close();
    });
    loop.run_iterations(2);
    BOOST_TEST(course.lost == 0);
    calls().full = false;
    run_until(loop, [&] { return course.lost == 1; });
    BOOST_TEST(come(3) == "012");
    BOOST_TEST(course.calls == "made lost");
}

// Options are of the datagrams behind them, and what is asked is answered as if each had gone out.
REACTOR_LOOP_TEST_IN(Answering, answers_go_out_before_what_would_make_a_difference_to_them) {
    const std::vector<std::function<void()>> all = {
        [&] { transport.set_ttl(7); },
        [&] { transport.local_endpoint(); },
        [&] { transport.native_handle(); },
        [&] { BOOST_TEST(transport.write_buffer_size() == 0u); },
        [&] { transport.set_write_limits(WriteLimits()); },
    };
    const int count = static_cast<int>(all.size());
    batch(count, [&](int i) {
        send(i);
        BOOST_TEST(calls().many.size() == static_cast<std::size_t>(i));
        all[static_cast<std::size_t>(i)]();
        BOOST_TEST(calls().many.size() == static_cast<std::size_t>(i + 1));
    });
    BOOST_TEST(calls().many == Counts(all.size(), 1));
    BOOST_TEST(come(count) == "01234");
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Answering, what_leaves_the_loop_leaves_no_answer_behind) {
    course.on_datagram = [&] {
        send(static_cast<int>(course.got.size()) - 1);
        if (course.got.size() == 2) throw reactor::LoopExit();
        if (course.got.size() == 1) throw std::runtime_error("answered all the same");
    };
    for (int i = 0; i < 4; ++i) {
        BOOST_TEST(receivers[0].send_to("asks", transport.local_endpoint()).done());
    }
    BOOST_CHECK_THROW(loop.run_forever(), reactor::LoopExit);
    expect_report("protocol.datagram_received() failed");
    BOOST_TEST(calls().many == Counts{2});
    loop.run_iterations(1);
    BOOST_TEST(course.got.size() == 4u);
    BOOST_TEST(come(4) == "0123");
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Answering, long_answers_go_by_calls_of_their_own_in_their_place) {
    const std::string sizes[] = {"small", std::string(4096, 'a'), std::string(4097, 'b'),
                                 std::string(60000, 'c'), "last"};
    batch(5, [&](int i) { transport.send_to(sizes[i], addresses[1]); });
    BOOST_TEST(calls().many == (Counts{2, 1}));
    BOOST_TEST(calls().single == 2);
    for (const std::string& sent : sizes) BOOST_TEST((next(loop, receivers[1]).bytes == sent));
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Answering, more_answers_than_can_be_gathered_go_out_in_several_calls) {
    batch(2, [&](int i) {
        for (int j = 0; j < 50; ++j) transport.send_to(std::to_string(i * 50 + j), addresses[1]);
    });
    BOOST_TEST(calls().many == (Counts{64, 36}));
    for (int i = 0; i < 100; ++i) BOOST_TEST(steal(receivers[1]) == std::to_string(i));
    const std::string longest(4096, 'x');
    calls().many.clear();
    calls().received.clear();
    batch(2, [&](int) {
        for (int j = 0; j < 10; ++j) transport.send_to(longest, addresses[1]);
    });
    BOOST_TEST(calls().many == (Counts{16, 4}));
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Answering, an_endpoint_with_a_remote_address_answers_by_one_call_too) {
    Course own;
    const DatagramTransport connected = open(loop, own, to(addresses[1]));
    const Endpoint here = connected.local_endpoint();
    const Watched calls_of(connected.native_handle());
    own.on_datagram = [&] {
        connected.send(own.got.back());
        connected.send_to("to there", addresses[1]);
    };
    for (const char* const asked : {"one", "two"}) {
        BOOST_TEST(receivers[1].send_to(asked, here).done());
    }
    loop.run_iterations(1);
    BOOST_TEST(calls().many == Counts{4});
    for (const char* const sent : {"one", "to there", "two", "to there"}) {
        BOOST_TEST(steal(receivers[1]) == sent);
    }
    end(loop, own);
    end(loop, course);
}

// A relay sends by another endpoint than it receives by.
REACTOR_LOOP_TEST_IN(Answering, what_other_endpoints_send_meanwhile_is_gathered_too_in_order) {
    Course other;
    const DatagramTransport out = open(loop, other, at(any_port));
    {
        const Watched watched_out(out.native_handle());
        for (int i = 0; i < 3; ++i) {
            BOOST_TEST(receivers[0].send_to("asks", transport.local_endpoint()).done());
        }
        course.on_datagram = [&] {
            out.send_to(std::to_string(course.got.size()), addresses[1]);
            BOOST_TEST(calls().many.empty());
        };
        loop.run_iterations(1);
        BOOST_TEST(calls().many == Counts{3});
        for (const char* const sent : {"1", "2", "3"}) BOOST_TEST(steal(receivers[1]) == sent);
    }
    course.on_datagram = [&] {
        for (const DatagramTransport& each : {transport, out, out, transport}) {
            each.send_to(each == out ? "out" : "in", addresses[1]);
        }
    };
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST(receivers[0].send_to("asks", transport.local_endpoint()).done());
    }
    loop.run_iterations(1);
    for (const char* const sent : {"in", "out", "out", "in", "in", "out", "out", "in"}) {
        const reactor::net::Datagram come = next(loop, receivers[1]);
        const DatagramTransport& from = sent == std::string("in") ? transport : out;
        BOOST_TEST(come.bytes == sent);
        BOOST_TEST((come.from == from.local_endpoint()));
    }
    end(loop, other);
    end(loop, course);
}

REACTOR_LOOP_TEST_IN(Answering, another_endpoint_may_end_while_what_it_has_sent_is_gathered) {
    Course other;
    open(loop, other, at(any_port));
    batch(3, [&](int i) {
        send(i);
        if (i == 0) other.transport.send_to("gathered", addresses[2]);
        if (i != 1) return;
        other.transport.abort();
        other.transport = DatagramTransport();
    });
    BOOST_TEST(calls().many == (Counts{1, 2}));  // of its own
    BOOST_TEST(steal(receivers[2]) == "gathered");
    BOOST_TEST(come(3) == "012");
    loop.run_iterations(1);
    BOOST_TEST(other.calls == "made lost");
    BOOST_TEST(other.destroyed == 1);
    end(loop, course);
}

// What is gathered is not of the next batch, nor of a send outside of any.
REACTOR_LOOP_TEST_IN(Answering, sends_of_callbacks_behind_the_batch_go_out_at_once) {
    batch(2, [&](int i) {
        loop.call_soon([this, i] { send(i + 2); });
        send(i);
    });
    BOOST_TEST(calls().many == Counts{2});
    loop.run_iterations(1);
    BOOST_TEST(calls().single == 2);
    BOOST_TEST(come(4) == "0123");
    end(loop, course);
}

BOOST_AUTO_TEST_SUITE_END()
