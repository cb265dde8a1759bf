// SPDX-License-Identifier: BSL-1.0
#include <net/protocol.hpp>

#include "transport_fixture.hpp"

using namespace transports;
using reactor::net::BufferedProtocol;

namespace {

/// Puts what comes into a buffer of its own.
class Into : public BufferedProtocol {
public:
    explicit Into(Course& course, std::size_t size) : course_(course), buffer_(size, '\0') {}
    ~Into() override { ++course_.destroyed; }

    void connection_made(const Transport& transport) override { course_.transport = transport; }
    Buffer get_buffer(std::size_t hint) override {
        BOOST_TEST(hint > 0u);
        Course::run(course_.on_made);
        return Buffer{&buffer_[0], buffer_.size()};
    }
    void buffer_updated(std::size_t count) override {
        course_.note("data");
        ++course_.reads;
        course_.bytes.append(buffer_, 0, count);
        Course::run(course_.on_data);
    }
    bool eof_received() override {
        course_.note("eof");
        return false;
    }
    void connection_lost(std::exception_ptr error) override {
        course_.note("lost");
        course_.error = std::move(error);
        ++course_.lost;
    }

private:
    Course& course_;
    std::string buffer_;
};

void open(Connection& c, std::size_t size) {
    c.loop.run_until_complete(
        make_transport(c.loop, c.mine.number, std::unique_ptr<Protocol>(new Into(c.course, size))));
    c.number = c.mine.release();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(buffered_protocol)

REACTOR_LOOP_TEST(bytes_go_where_the_protocol_says) {
    Connection c(loop);
    open(c, 10);
    const std::string bytes = pattern(95);
    put(c.theirs.number, bytes);
    loop.run_iterations(10);
    BOOST_TEST(c.course.reads == 10u);
    BOOST_TEST((c.course.bytes == bytes));
    c.theirs.close();
    c.run_until_lost();
    BOOST_TEST(c.course.calls == "data eof lost");
    BOOST_TEST(c.course.destroyed == 1);
}

REACTOR_LOOP_TEST(TR_06_an_empty_buffer_and_what_is_thrown_end_the_connection) {
    for (const int kind : {0, 1, 2}) {
        Connection c(loop);
        const auto fail = [] { throw std::runtime_error("no"); };
        if (kind == 1) c.course.on_made = fail;
        if (kind == 2) c.course.on_data = fail;
        open(c, kind == 0 ? 0 : 10);
        put(c.theirs.number, "x");
        c.run_until_lost();
        BOOST_TEST(c.course.bytes == (kind == 2 ? "x" : ""));
        BOOST_TEST(c.course.text() ==
                   (kind == 0 ? "get_buffer() has given an empty buffer" : "no"));
        expect_report(kind == 2 ? "Fatal error: protocol.buffer_updated() call failed."
                                : "Fatal error: protocol.get_buffer() call failed.");
    }
}

REACTOR_LOOP_TEST(get_buffer_may_close_or_pause_or_hand_over) {
    for (const int kind : {0, 1, 2}) {
        Connection c(loop);
        Course second;
        bool first = true;
        c.course.on_made = [&] {
            if (!first) return;
            first = false;
            if (kind == 0) c.course.transport.close();
            if (kind == 1) c.course.transport.pause_reading();
            if (kind == 2) c.course.transport.set_protocol(told(second));
        };
        open(c, 10);
        put(c.theirs.number, "x");
        loop.run_iterations(3);
        BOOST_TEST(c.course.bytes == "");
        BOOST_TEST(c.course.lost == (kind == 0 ? 1 : 0));
        if (kind == 1) {
            c.course.transport.resume_reading();
            loop.run_iterations(1);
            BOOST_TEST(c.course.bytes == "x");
        }
        if (kind == 2) {
            BOOST_TEST(second.bytes == "x");
            c.course.transport.close();
            loop.run_iterations(2);
            BOOST_TEST(second.lost == 1);
            c.course.lost = 1;
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
