// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_transport.hpp>

#include "datagram_endpoints.hpp"

#include <fcntl.h>
#include <malloc.h>

#include <cerrno>
#include <memory>
#include <stdexcept>

using namespace datagram_endpoints;

namespace {

using Strings = std::vector<std::string>;

/// The bytes that the program has from the heap; 0 if the allocator does not tell.
std::size_t memory_in_use() { return ::mallinfo2().uordblks; }

}  // namespace

BOOST_AUTO_TEST_SUITE(datagram_transport_lifetime)

REACTOR_LOOP_TEST(an_endpoint_lives_without_a_reference_and_ends_inside_its_own_callbacks) {
    Course course;
    DatagramSocket client(loop, Endpoint::Family::ipv4);
    client.connect(open(loop, course, at(any_port)).local_endpoint());
    course.on_datagram = [&] {
        course.transport.close();
        course.transport = DatagramTransport();
    };
    // The second one is in the same batch, and what was not handed over is dropped.
    BOOST_TEST(client.send("first").done());
    BOOST_TEST(client.send("second").done());
    run_until(loop, [&] { return course.lost == 1; });
    BOOST_TEST(course.got == Strings{"first"});
    BOOST_TEST(course.calls == "made lost");
    BOOST_TEST(course.destroyed == 1);
}

REACTOR_LOOP_TEST(one_that_is_closed_while_it_is_made_hears_both_and_is_given_as_lost) {
    for (const bool aborted : {true, false}) {
        Course course;
        course.on_made = [&] { aborted ? course.transport.abort() : course.transport.close(); };
        const DatagramTransport transport = open(loop, course, at(any_port));
        loop.run_iterations(1);
        BOOST_TEST(course.calls == "made lost");
        BOOST_TEST(transport.protocol() == nullptr);
        BOOST_TEST(transport.local_endpoint().address() == "127.0.0.1");
    }
}

// Of the datagrams that a LoopExit has left behind, which nobody is to get any more.
REACTOR_LOOP_TEST(a_lost_endpoint_keeps_no_datagrams) {
    Course course;
    const DatagramTransport transport = open(loop, course, at(abstract_name("held")));
    DatagramSocket peer(loop, Endpoint::Family::local);
    peer.connect(transport.local_endpoint());
    for (int i = 0; i < 3; ++i) BOOST_TEST(peer.send(std::string(50000, 'x')).done());
    course.on_datagram = [&] {
        course.got.clear();
        throw reactor::LoopExit();
    };
    const std::size_t before = memory_in_use();
    BOOST_CHECK_THROW(loop.run_forever(), reactor::LoopExit);
    end(loop, course);
    BOOST_TEST(memory_in_use() < before + 20000);
    BOOST_TEST(course.got.empty());
}

REACTOR_LOOP_TEST(any_callback_may_end_the_other_endpoint_of_the_same_batch) {
    Course one, two;
    open(loop, one, at(any_port));
    open(loop, two, at(any_port));
    one.on_datagram = [&] { two.transport.abort(); };
    two.on_datagram = [&] { one.transport.abort(); };
    one.transport.send_to("x", two.transport.local_endpoint());
    two.transport.send_to("x", one.transport.local_endpoint());
    run_until(loop, [&] { return one.lost + two.lost == 1; });
    BOOST_TEST(one.got.size() + two.got.size() == 1u);
    end(loop, one.lost ? two : one);
}

REACTOR_LOOP_TEST(what_is_sent_to_a_lost_endpoint_is_dropped_and_logged_from_the_fifth_time_on) {
    Course course;
    const DatagramTransport transport = open(loop, course, at(any_port));
    const Endpoint there = transport.local_endpoint();
    int warnings = 0;
    loop.set_log([&](reactor::LogLevel, const std::string&) { ++warnings; });
    transport.close();
    transport.send_to("x", there);
    run_until(loop, [&] { return course.lost == 1; });
    for (int i = 0; i < 3; ++i) transport.send_to("x", there);
    BOOST_TEST(warnings == 0);
    transport.send_to("x", there);
    BOOST_TEST(warnings == 1);
    transport.close();
    transport.abort();
    transport.set_protocol(told(course)());
    BOOST_TEST(course.destroyed == 2);
    loop.set_log(nullptr);
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(a_protocol_may_put_another_one_in_its_place) {
    Course before, after;
    const DatagramTransport transport = open(loop, before, at(any_port));
    before.on_datagram = [&] {
        transport.set_protocol(told(after)());
        BOOST_TEST(before.destroyed == 0);  // it runs
    };
    for (const char* const bytes : {"one", "two", "three"}) {
        transport.send_to(bytes, transport.local_endpoint());
    }
    run_until(loop, [&] { return after.got.size() == 2; });
    BOOST_TEST(before.got == Strings{"one"});
    BOOST_TEST(before.destroyed == 1);
    BOOST_TEST(after.calls == "");
    BOOST_CHECK_THROW(transport.set_protocol(nullptr), std::invalid_argument);
    after.transport = transport;
    end(loop, after);
}

REACTOR_LOOP_TEST(an_endpoints_descriptor_is_nobody_elses) {
    Course course;
    const DatagramTransport transport = open(loop, course, at(any_port));
    const int fd = transport.native_handle();
    BOOST_CHECK_THROW(loop.add_reader(fd, [] {}), StateError);
    BOOST_CHECK_THROW(loop.remove_writer(fd), StateError);
    BOOST_TEST(!loop.forget_descriptor(fd));
    BOOST_CHECK_THROW(DatagramSocket::adopt(loop, fd), std::system_error);
    end(loop, course);
}

// Law 6: poll and select see it at once, epoll cannot. The number may be somebody else's by then.
REACTOR_LOOP_TEST(
    a_descriptor_closed_behind_our_back_ends_the_endpoint_and_its_number_is_left_alone) {
    Course course;
    const DatagramTransport transport = open(loop, course, at(any_port));
    const int fd = transport.native_handle();
    ::close(fd);
    course.on_lost = [&] { BOOST_TEST(::fcntl(0, F_DUPFD_CLOEXEC, fd) == fd); };
    loop.run_iterations(1);
    if (support::forgets_what_is_closed(loop.selector_name())) {
        transport.send_to("x", any_port);
        loop.run_iterations(1);
        BOOST_TEST(course.code == EBADF);
        course.on_lost = nullptr;
        transport.abort();
        loop.run_iterations(1);
        BOOST_TEST(course.calls == "made error lost");
        return;
    }
    expect_report("Descriptor " + std::to_string(fd) + " cannot be watched any more");
    loop.run_iterations(1);
    BOOST_TEST(course.calls == "made lost");
    try {
        std::rethrow_exception(course.error);
    } catch (const std::system_error& error) {
        BOOST_TEST(error.code().value() == EBADF);
    }
    BOOST_TEST(course.destroyed == 1);
    BOOST_TEST(loop.watch_count() == 0u);
    BOOST_TEST(::close(fd) == 0);
}

REACTOR_LOOP_TEST(an_endpoint_that_has_lost_its_number_leaves_it_to_the_one_that_has_it_now) {
    Course first, second;
    open(loop, first, at(any_port));
    const int fd = first.transport.native_handle();
    ::close(fd);
    DatagramSocket socket(loop, any_port);
    BOOST_TEST(socket.native_handle() == fd);
    be_patient(loop);
    loop.run_until_complete(create_datagram_endpoint(loop, told(second), std::move(socket)));
    run_until(loop, [&] { return first.lost == 1; });
    expect_report("Descriptor " + std::to_string(fd) +
                  " cannot be watched any more: its number is that of another file now");
    BOOST_TEST(second.transport.native_handle() == fd);
    BOOST_CHECK_THROW(loop.add_reader(fd, [] {}), StateError);
    second.transport.send_to("x", second.transport.local_endpoint());
    run_until(loop, [&] { return second.got.size() == 1; });
    end(loop, second);
}

// As the kernel does beyond /proc/sys/fs/epoll/max_user_watches.
BOOST_AUTO_TEST_CASE(an_endpoint_that_the_selector_refuses_is_lost_and_closed) {
    reactor::testing::VirtualClock clock;
    auto* const selector = new reactor::testing::ScriptedSelector(clock);
    reactor::EventLoop loop(std::unique_ptr<reactor::Selector>(selector), clock);
    Course course;
    course.on_made = [&] { selector->refuse_next_change(ENOSPC); };
    const DatagramTransport transport =
        loop.run_until_complete(create_datagram_endpoint(loop, told(course), at(any_port)));
    const std::string address = transport.local_endpoint().str();
    loop.run_once(reactor::Duration::zero());
    BOOST_TEST(course.calls == "made lost");
    std::string text;
    try {
        std::rethrow_exception(course.error);
    } catch (const std::system_error& error) {
        text = error.what();
    }
    BOOST_TEST(text.find("receive on " + address + ": receive: scripted selector: ") == 0u, text);
    BOOST_TEST(transport.native_handle() == -1);
    BOOST_TEST(loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(an_empty_transport_says_so) {
    const DatagramTransport empty;
    BOOST_TEST(!empty);
    BOOST_TEST(!empty.is_closing());
    BOOST_TEST(empty.native_handle() == -1);
    BOOST_TEST(empty.write_buffer_size() == 0u);
    BOOST_TEST(empty.write_limits().high == WriteLimits().high);
    BOOST_TEST(empty.max_datagram_size() == 0u);
    BOOST_TEST(empty.protocol() == nullptr);
    BOOST_CHECK_THROW(empty.send("x"), StateError);
    BOOST_CHECK_THROW(empty.local_endpoint(), StateError);
    BOOST_CHECK_THROW(empty.set_broadcast(true), StateError);
    BOOST_CHECK_THROW(empty.loop(), StateError);
    empty.close();
    empty.abort();
}

REACTOR_LOOP_TEST(what_connection_lost_throws_is_reported_and_it_is_lost) {
    Course course;
    open(loop, course, at(any_port));
    course.on_lost = [&] {
        course.lost = 1;
        throw std::runtime_error("not so");
    };
    course.transport.close();
    loop.run_iterations(1);
    expect_report("protocol.connection_lost() failed");
    BOOST_TEST(course.destroyed == 1);
    BOOST_TEST(course.transport.native_handle() == -1);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_loop_may_be_closed_in_every_state, On, support::EverySelector) {
    const std::size_t before = reactor::testing::open_descriptors();
    DatagramTransport outlives;
    Course idle, fresh, full;
    {
        TestLoop loop(On::name());
        outlives = open(loop, idle, at(any_port));
        const DatagramSocket server(loop, abstract_name("full"));
        fill(server.local_endpoint());
        open(loop, full, DatagramEndpointOptions().family(Endpoint::Family::local));
        full.transport.send_to("x", server.local_endpoint());
        loop.run_iterations(2);
        full.transport.send_to("y", server.local_endpoint());
        full.transport.close();
        create_datagram_endpoint(loop, told(fresh), at(any_port));
        loop.run_iterations(1);
        loop.close();
        BOOST_TEST(idle.destroyed == 1);
        BOOST_TEST(full.destroyed == 1);
        BOOST_TEST(outlives.native_handle() == -1);
        outlives.send_to("x", any_port);
        BOOST_CHECK_THROW(outlives.set_ttl(3), StateError);
    }
    BOOST_TEST(outlives.local_endpoint().address() == "127.0.0.1");
    BOOST_CHECK_THROW(outlives.loop(), StateError);
    outlives.send_to("x", any_port);
    outlives.close();
    outlives.abort();
    for (Course* const course : {&idle, &full, &fresh}) {
        BOOST_TEST(course->lost == 0);
        course->transport = DatagramTransport();
    }
    outlives = DatagramTransport();
    BOOST_TEST(reactor::testing::open_descriptors() == before);
}

BOOST_AUTO_TEST_SUITE_END()
