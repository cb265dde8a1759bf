// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include <fcntl.h>

#include "selectors.hpp"
#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Options;

// Ends and resets that nobody asked for neither spin nor are lost (apple/swift-nio#277,
// h2o/h2o#603, redpanda-data/seastar#65); files that cannot be polled have one answer on every
// selector (clustershell/clustershell#56, reactphp/stream#31).

namespace {

struct IgnorePipeSignal {
    IgnorePipeSignal() : before(::signal(SIGPIPE, SIG_IGN)) {}
    ~IgnorePipeSignal() { ::signal(SIGPIPE, before); }
    void (*before)(int);
};

/// Standard input is another file, as long as this lives.
struct StandardInput {
    explicit StandardInput(int fd) : before(::fcntl(0, F_DUPFD_CLOEXEC, 3)) {
        BOOST_REQUIRE(before >= 0);
        BOOST_REQUIRE(::dup2(fd, 0) == 0);
    }
    ~StandardInput() {
        ::dup2(before, 0);
        ::close(before);
    }
    int before;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(hang_up)

REACTOR_LOOP_TEST(a_writer_whose_reader_goes_is_called_and_gets_EPIPE) {
    const IgnorePipeSignal ignored;
    for (const bool full : {false, true}) {
        selectors::Pipe pipe;
        if (full) {
            const std::string much(1 << 16, 'x');
            while (::write(pipe.theirs, much.data(), much.size()) > 0) {
            }
        }
        pipe.close_mine();
        loop.add_writer(pipe.theirs, [&] {
            BOOST_TEST(::write(pipe.theirs, "y", 1) == -1);
            BOOST_TEST(errno == EPIPE);
            loop.remove_writer(pipe.theirs);
            say("told")();
        });
        loop.run_until_idle();
        BOOST_TEST(heard() == "told");
    }
}

REACTOR_LOOP_TEST(a_reset_while_reading_is_paused_does_not_spin_and_is_told_on_resume) {
    loop.selector().set_patience(milliseconds(50));
    for (const bool owned : {false, true}) {
        for (const bool writing : {false, true}) {
            BOOST_TEST_CONTEXT("owned " << owned << ", writing " << writing) {
                Options options;
                if (owned) options.owned_descriptor();
                selectors::TcpPair pair;
                const auto reader = [&] {
                    char byte;
                    BOOST_TEST(::recv(pair.mine, &byte, 1, MSG_DONTWAIT) == -1);
                    BOOST_TEST(errno == ECONNRESET);
                    say("reset")();
                    loop.remove_reader(pair.mine);
                };
                loop.add_reader(options, pair.mine, reader);
                if (writing) {
                    loop.add_writer(options, pair.mine, [&] { loop.remove_writer(pair.mine); });
                }
                loop.run_iterations(1);
                loop.remove_reader(pair.mine);
                const ::linger at_once = {1, 0};
                ::setsockopt(pair.theirs, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
                pair.close_theirs();
                loop.call_later(hours(1), [] {});
                const std::size_t waits = loop.selector().waits();
                loop.run_for(hours(1));
                BOOST_TEST(loop.selector().waits() - waits <= 7u);
                BOOST_TEST(heard() == "");
                loop.add_reader(options, pair.mine, reader);
                loop.run_iterations(2);
                BOOST_TEST(heard() == "reset");
                loop.forget_descriptor(pair.mine);
            }
        }
    }
}

REACTOR_LOOP_TEST(a_file_as_standard_input_is_always_ready_and_its_number_is_free_again) {
    std::FILE* const file = std::tmpfile();
    BOOST_REQUIRE(file);
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (const int given : {::fileno(file), null}) {
        {
            const StandardInput input(given);
            loop.add_reader(0, [&] {
                char byte;
                say(::read(0, &byte, 1) == 0 ? "end" : "error")();
            });
            loop.run_iterations(2);
            BOOST_TEST(heard() == "end end");
            loop.remove_reader(0);
        }
        SocketPair pair;
        const StandardInput input(pair.mine);
        loop.add_reader(0, say("socket"));
        loop.run_iterations(2);
        BOOST_TEST(heard() == "");
        pair.send();
        loop.run_iterations(1);
        BOOST_TEST(heard() == "socket");
        loop.remove_reader(0);
    }
    ::close(null);
    std::fclose(file);
}

// The number of a file that was watched, and closed without a word: a socket takes it over.
REACTOR_LOOP_TEST(a_socket_takes_the_number_of_a_file_that_is_watched) {
    std::FILE* const file = std::tmpfile();
    BOOST_REQUIRE(file);
    const int number = ::fcntl(::fileno(file), F_DUPFD_CLOEXEC, 3);
    std::fclose(file);
    loop.add_reader(number, say("file"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "file");
    SocketPair pair;
    BOOST_REQUIRE(::dup3(pair.mine, number, O_CLOEXEC) == number);
    loop.remove_reader(number);
    loop.add_reader(number, say("socket"));
    loop.run_iterations(2);
    BOOST_TEST(heard() == "");
    pair.send();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "socket");
    loop.remove_reader(number);
    ::close(number);
}

BOOST_AUTO_TEST_SUITE_END()
