// SPDX-License-Identifier: BSL-1.0
#include <net/transport.hpp>

#include "transport_fixture.hpp"

#include <memory>

using namespace transports;

namespace {

using Shared = std::shared_ptr<const std::string>;

Shared share(std::string bytes) { return std::make_shared<const std::string>(std::move(bytes)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(transport_shared_write)

REACTOR_LOOP_TEST(what_is_sent_at_once_is_not_kept) {
    Connection c(loop);
    Transport& transport = c.open();
    const Shared line = share("a line of the least interest\n");
    transport.write(line);
    BOOST_TEST(take(c.theirs.number) == *line);
    BOOST_TEST(line.use_count() == 1);
    BOOST_TEST(transport.write_buffer_size() == 0u);
    transport.close();
    c.run_until_lost();
}

REACTOR_LOOP_TEST(what_waits_is_one_string_for_all_connections) {
    Connection first(loop), second(loop);
    const Shared line = share(pattern(400000));
    std::size_t waiting = 0;
    for (Connection* const c : {&first, &second}) {
        Transport& transport = c->open_narrow();
        transport.write(line);
        waiting = transport.write_buffer_size();
        BOOST_TEST(waiting > 0u);
        BOOST_TEST(waiting < line->size());
        transport.write(line);
        BOOST_TEST(transport.write_buffer_size() == waiting + line->size());
    }
    BOOST_TEST(line.use_count() == 5);
    for (Connection* const c : {&first, &second}) {
        BOOST_TEST((c->drain(2 * line->size()) == *line + *line));
        loop.run_iterations(1);
        BOOST_TEST(c->course.transport.write_buffer_size() == 0u);
        c->course.transport.close();
        c->run_until_lost();
    }
    BOOST_TEST(line.use_count() == 1);
}

REACTOR_LOOP_TEST(shared_and_other_pieces_go_out_in_order) {
    Connection c(loop);
    Transport& transport = c.open_narrow();
    const std::string first = pattern(300000);
    transport.write(ByteView(first));
    std::string expected = first;
    for (int i = 0; i < 200; ++i) {
        // Short ones, too, which are copied, and what could be put together with its neighbours.
        const Shared line =
            share(std::string(static_cast<std::size_t>(1 + 3 * i), char('a' + i % 26)));
        transport.write(line);
        transport.write("own");
        transport.write_lines({"x", "y"});
        transport.write(std::string(static_cast<std::size_t>(i) * 100, 'm'));
        expected += *line + "own" + "xy" + std::string(static_cast<std::size_t>(i) * 100, 'm');
    }
    BOOST_TEST(transport.write_buffer_size() > 300000u);
    transport.close();
    BOOST_TEST((c.drain_to_end() == expected));
    c.run_until_lost();
}

REACTOR_LOOP_TEST(whoever_goes_lets_go_of_it_at_once) {
    const Shared line = share(pattern(400000));
    Connection aborted(loop), flooded(loop);
    for (Connection* const c : {&aborted, &flooded}) {
        Transport& transport = c->open_narrow();
        transport.write(line);
        transport.write(line);
    }
    BOOST_TEST(line.use_count() == 5);
    aborted.course.transport.abort();
    BOOST_TEST(line.use_count() == 3);
    aborted.run_until_lost();
    flooded.course.transport.set_write_limits(WriteLimits(1000, 100, 2000));
    flooded.course.transport.write(line);
    BOOST_TEST(line.use_count() == 1);
    flooded.run_until_lost();
    BOOST_TEST(flooded.course.code() == ENOBUFS);
}

REACTOR_LOOP_TEST(it_is_refused_and_dropped_as_any_write) {
    Connection c(loop);
    Transport& transport = c.open();
    BOOST_CHECK_THROW(transport.write(Shared()), std::invalid_argument);
    transport.write(share(""));
    transport.write_eof();
    BOOST_CHECK_THROW(transport.write(share("late")), StateError);
    transport.close();
    const Shared line = share(pattern(1000));
    BOOST_CHECK_THROW(transport.write(line), StateError);
    c.run_until_lost();
    BOOST_CHECK_THROW(Transport().write(line), StateError);
    BOOST_TEST(line.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
