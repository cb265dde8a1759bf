// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <test/support/loop_test.hpp>
#include <test/support/refusal.hpp>

using namespace support;

namespace {

struct Descriptor {
    explicit Descriptor(int n) : number(n) { BOOST_REQUIRE(n >= 0); }
    ~Descriptor() { close(); }
    void close() { SocketPair::close(number); }
    int number;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(watch)

REACTOR_LOOP_TEST(IO_02_a_new_reader_replaces_the_old_one_and_leaves_the_writer_alone) {
    SocketPair pair;
    pair.send();
    loop.add_writer(pair.mine, say("W"));
    reactor::Handle f = loop.add_reader(pair.mine, say("f"));
    loop.add_reader(pair.mine, say("g"));
    BOOST_TEST(f.cancelled());
    BOOST_TEST(loop.watch_count() == 2u);
    loop.run_iterations(1);
    BOOST_TEST(heard() == "g W");
    loop.remove_reader(pair.mine);
    loop.remove_writer(pair.mine);
}

REACTOR_LOOP_TEST(IO_03_a_replaced_writer_that_is_queued_already_does_not_run) {
    SocketPair pair;
    pair.send();
    loop.add_reader(pair.mine, [&] {
        say("R")();
        loop.add_writer(pair.mine, say("W2"));
        loop.remove_reader(pair.mine);
    });
    loop.add_writer(pair.mine, say("W"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "R");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "W2");
    loop.remove_writer(pair.mine);
}

REACTOR_LOOP_TEST(IO_06_remove_says_whether_there_was_one) {
    SocketPair pair;
    const int fd = pair.mine;
    BOOST_TEST(!loop.remove_reader(fd));
    BOOST_TEST(!loop.remove_reader(-1));
    BOOST_TEST(!loop.remove_writer(1000000));
    loop.add_writer(fd, say("W"));
    BOOST_TEST(!loop.remove_reader(fd));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "W");
    BOOST_TEST(loop.remove_writer(fd));
    BOOST_TEST(!loop.remove_writer(fd));
    loop.add_reader(fd, say("R"));
    BOOST_TEST(!loop.remove_writer(fd));
    loop.add_writer(fd, say("W"));
    pair.send();
    BOOST_TEST(loop.remove_reader(fd));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "W");
    loop.add_reader(fd, say("R"));
    BOOST_TEST(loop.remove_writer(fd));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "R");
    BOOST_TEST(loop.remove_reader(fd));
    BOOST_TEST(!loop.remove_urgent_reader(fd));
}

REACTOR_LOOP_TEST(IO_07_reader_before_writer) {
    SocketPair pair;
    pair.send();
    loop.add_writer(pair.mine, say("W"));
    loop.add_reader(pair.mine, say("R"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "R W");
    loop.remove_reader(pair.mine);
    loop.remove_writer(pair.mine);
}

REACTOR_LOOP_TEST(IO_10_a_reader_that_is_replaced_from_inside_is_not_called_again) {
    SocketPair pair;
    pair.send();
    loop.add_reader(pair.mine, [&] {
        say("f")();
        loop.remove_reader(pair.mine);
        loop.add_reader(pair.mine, say("g"));
    });
    loop.run_iterations(1);
    BOOST_TEST(heard() == "f");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "g");
    loop.remove_reader(pair.mine);
}

REACTOR_LOOP_TEST(B3_data_then_one_end_of_file) {
    int fds[2];
    BOOST_REQUIRE(::pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
    Descriptor in(fds[0]);
    Descriptor out(fds[1]);
    BOOST_TEST(::write(out.number, "x", 1) == 1);
    out.close();
    loop.add_reader(in.number, [&] {
        char c;
        const ::ssize_t got = ::read(in.number, &c, 1);
        say(got == 1 ? "data" : got == 0 ? "end" : "error")();
        if (got <= 0) loop.remove_reader(in.number);
    });
    loop.run_until_idle();
    BOOST_TEST(heard() == "data end");
}

REACTOR_LOOP_TEST(B3_a_hang_up_while_reading_is_paused_does_not_spin) {
    for (const bool owned : {false, true}) {
        reactor::Options options;
        if (owned) options.owned_descriptor();
        SocketPair pair;
        const auto reader = [&] { say(pair.receive() + "end")(); };
        loop.add_reader(options, pair.mine, reader);
        loop.run_iterations(1);
        loop.remove_reader(pair.mine);
        pair.close_theirs();
        loop.call_later(hours(1), [] {});
        const std::size_t waits = loop.selector().waits();
        loop.run_for(hours(1));
        BOOST_TEST(loop.selector().waits() - waits <= 5u);
        BOOST_TEST(heard() == "");
        loop.add_reader(options, pair.mine, reader);
        loop.run_iterations(1);
        BOOST_TEST(heard() == "end");
        BOOST_TEST(loop.forget_descriptor(pair.mine));
    }
}

REACTOR_LOOP_TEST(B3_data_for_a_paused_reader_does_not_spin) {
    SocketPair pair;
    const reactor::Options owned = reactor::Options().owned_descriptor();
    loop.add_reader(owned, pair.mine, [&] { say(pair.receive())(); });
    loop.remove_reader(pair.mine);
    pair.send("more");
    loop.call_later(hours(1), [] {});
    const std::size_t waits = loop.selector().waits();
    loop.run_for(hours(1));
    BOOST_TEST(loop.selector().waits() - waits <= 6u);
    BOOST_TEST(heard() == "");
    loop.add_reader(owned, pair.mine, [&] { say(pair.receive())(); });
    loop.run_iterations(2);
    BOOST_TEST(heard() == "more");
    BOOST_TEST(loop.forget_descriptor(pair.mine));
}

REACTOR_LOOP_TEST(B3_a_writer_hears_that_the_pipes_reader_has_gone) {
    int fds[2];
    BOOST_REQUIRE(::pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
    Descriptor in(fds[0]);
    Descriptor out(fds[1]);
    std::string much(1 << 16, 'x');
    while (::write(out.number, much.data(), much.size()) > 0) {
    }
    loop.add_writer(out.number, [&] {
        say("writer")();
        loop.remove_writer(out.number);
    });
    loop.run_iterations(1);
    BOOST_TEST(heard() == "");
    in.close();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "writer");
}

REACTOR_LOOP_TEST(B5_a_regular_file_and_dev_null_are_always_ready) {
    std::FILE* const file = std::tmpfile();
    BOOST_REQUIRE(file);
    Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    loop.add_reader(::fileno(file), say("file"));
    loop.add_reader(null.number, say("null"));
    loop.run_iterations(1);
    BOOST_TEST(heard().size() == 9u);  // in either order
    loop.run_iterations(1);
    BOOST_TEST(heard().size() == 9u);
    loop.remove_reader(::fileno(file));
    std::fclose(file);
    const int number = null.number;
    loop.remove_reader(number);
    // A socket with the same number works: nothing half-registered stayed behind.
    SocketPair pair;
    BOOST_REQUIRE(::dup3(pair.mine, number, O_CLOEXEC) == number);
    loop.add_reader(number, say("socket"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "");
    pair.send();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "socket");
    loop.remove_reader(number);
}

REACTOR_LOOP_TEST(what_cannot_be_watched_is_refused_by_the_call) {
    SocketPair pair;
    const int closed = pair.theirs;
    pair.close_theirs();
    const reactor::Options owned = reactor::Options().owned_descriptor();
    BOOST_CHECK_THROW(loop.add_reader(-1, say("no")), std::invalid_argument);
    BOOST_TEST(code_of([&] { loop.add_reader(closed, say("no")); }) == EBADF);
    BOOST_TEST(code_of([&] { loop.add_reader(owned, closed, say("no")); }) == EBADF);
    BOOST_TEST(code_of([&] { loop.add_writer(100000, say("no")); }) == EBADF);
    BOOST_TEST(loop.watch_count() == 0u);
    loop.add_reader(pair.mine, say("end"));  // hung up: readable
    loop.run_iterations(1);
    BOOST_TEST(heard() == "end");
    loop.remove_reader(pair.mine);
}

REACTOR_LOOP_TEST(a_descriptor_closed_behind_the_loops_back_harms_nobody) {
    SocketPair pair;
    SocketPair other;
    loop.add_reader(pair.mine, say("never"));
    loop.add_reader(other.mine, say("other"));
    pair.close_mine();
    other.send();
    loop.run_iterations(2);
    const std::string words = heard();
    BOOST_TEST((words == "other other" || words == "other"));
    if (forgets_what_is_closed(loop.selector_name())) {
        loop.remove_reader(pair.mine);  // -1 by now
        BOOST_TEST(take_reports().empty());
        loop.add_writer(other.mine, say("w"));
        loop.run_iterations(1);
        BOOST_TEST(loop.watch_count() == 3u);
        loop.close();
    } else {
        expect_report("Descriptor");
        BOOST_TEST(loop.watch_count() == 1u);
        loop.remove_reader(other.mine);
    }
}

// epoll goes on reporting a file whose number is closed while a duplicate keeps it open, and a
// removal by number no longer reaches it.
REACTOR_LOOP_TEST(a_registration_that_a_duplicate_keeps_alive_is_shaken_off) {
    SocketPair pair;
    Descriptor duplicate(::fcntl(pair.mine, F_DUPFD_CLOEXEC, 0));
    loop.add_reader(pair.mine, say("read"));
    const int number = pair.mine;
    pair.close_mine();
    loop.remove_reader(number);
    pair.send();
    loop.run_until_idle();  // would never come to rest
    BOOST_TEST(heard() == "");
    SocketPair fresh;
    fresh.send();
    loop.add_reader(fresh.mine, say("fresh"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "fresh");
    loop.remove_reader(fresh.mine);
}

REACTOR_LOOP_TEST(urgent_data_has_a_reader_of_its_own) {
    SocketPair pair;
    reactor::Handle urgent = loop.add_urgent_reader(pair.mine, say("urgent"));
    loop.add_reader(pair.mine, say("read"));
    pair.send();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "read");
    BOOST_TEST(urgent.cancel());
    BOOST_TEST(!loop.remove_urgent_reader(pair.mine));
    BOOST_TEST(loop.remove_reader(pair.mine));
}

// A removal in the child would be one in the parent: they share the epoll set.
REACTOR_LOOP_TEST(a_forked_child_does_not_take_the_parents_registrations) {
    SocketPair pair;
    SocketPair other;
    reactor::Handle reader = loop.add_reader(pair.mine, say("read"));
    loop.add_reader(other.mine, [] {});
    const ::pid_t child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
        reader.cancel();
        loop.forget_descriptor(other.mine);
        loop.close();
        ::_exit(loop.is_closed() ? 0 : 1);
    }
    int status = -1;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    BOOST_TEST(status == 0);
    pair.send();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "read");
    loop.remove_reader(pair.mine);
    loop.remove_reader(other.mine);
}

BOOST_AUTO_TEST_SUITE_END()
