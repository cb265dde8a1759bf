// SPDX-License-Identifier: BSL-1.0
#include <net/stream.hpp>

#include "streamed.hpp"

#include <reactor/task.hpp>

using namespace streamed;

namespace {

// The example of net/stream.hpp.
class Echo : public reactor::Task<void> {
public:
    explicit Echo(Stream stream) : stream_(std::move(stream)) {}

private:
    Next start() override { return await(stream_.read_line(seconds(60)), &Echo::answer); }
    Next answer(std::string line) {
        if (line.empty()) return finish();
        stream_.write(std::move(line));
        return await(stream_.drain(), &Echo::start);
    }
    Next finally() override { return await(stream_.close(), &Echo::closed); }
    Next closed() { return end(); }

    Stream stream_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(stream_task)

REACTOR_LOOP_TEST(a_task_echoes_lines_until_the_end) {
    StreamPair ends(loop);
    const Promise<void> echo = loop.create_task<Echo>(std::move(ends.stream));
    ends.feed("one\ntw");
    BOOST_TEST(ends.sent() == "one\n");
    ends.feed("o\nthree\nrest");
    BOOST_TEST(ends.sent() == "two\nthree\n");
    BOOST_TEST(!echo.done());
    ends.feed_end();
    BOOST_TEST(ends.sent() == "rest");
    BOOST_TEST(outcome(echo) == "done");
}

REACTOR_LOOP_TEST(a_task_whose_peer_is_slow_waits_for_it) {
    StreamPair ends(loop);
    const Promise<void> echo = loop.create_task<Echo>(std::move(ends.stream));
    const std::string line = std::string(1000, 'l') + "\n";
    std::size_t fed = 0, taken = 0;
    // Until what the peer does not read has filled everything there is between the two.
    while (::send(ends.theirs, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
        ++fed;
        loop.run_iterations(3);
    }
    loop.run_until_idle();
    BOOST_TEST(!echo.done());
    BOOST_REQUIRE(::shutdown(ends.theirs, SHUT_WR) == 0);
    while (!echo.done()) {
        taken += ends.sent().size();
        loop.run_iterations(1);
    }
    taken += ends.sent().size();
    BOOST_TEST(taken == fed * line.size());
    BOOST_TEST(outcome(echo) == "done");
}

REACTOR_LOOP_TEST(a_cancelled_task_closes_its_stream) {
    StreamPair ends(loop);
    const Promise<void> echo = loop.create_task<Echo>(std::move(ends.stream));
    loop.run_until_idle();
    BOOST_TEST(echo.cancel());
    loop.run_until_idle();
    BOOST_TEST(outcome(echo) == "cancelled");
    char byte;
    BOOST_TEST(::recv(ends.theirs, &byte, 1, 0) == 0);
}

REACTOR_LOOP_TEST(a_task_whose_peer_says_nothing_ends_late) {
    StreamPair ends(loop);
    const Promise<void> echo = loop.create_task<Echo>(std::move(ends.stream));
    loop.run_for(seconds(61));
    BOOST_TEST(outcome(echo) == "late");
}

BOOST_AUTO_TEST_SUITE_END()
