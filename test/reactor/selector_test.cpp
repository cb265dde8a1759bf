// SPDX-License-Identifier: BSL-1.0
#include <reactor/selector.hpp>

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "selectors.hpp"

// Readiness, the books, and the choice of a back end. Waiting is in selector_wait_test.cpp, odd,
// closed and reused descriptors are in selector_descriptor_test.cpp.

using namespace selectors;

BOOST_AUTO_TEST_SUITE(selector)

BOOST_AUTO_TEST_CASE_TEMPLATE(readable_until_read, S, Selectors) {
    S selector;
    StreamPair pair;
    selector.add(pair.mine, Interest::read, UINT64_MAX);
    BOOST_TEST(look(selector).empty());
    BOOST_REQUIRE(::write(pair.theirs, "x", 1) == 1);
    BOOST_TEST(bits(selector, UINT64_MAX, reactor::forever()) == Interest::read);
    BOOST_TEST(bits(selector, UINT64_MAX) == Interest::read);  // level-triggered
    char byte;
    BOOST_REQUIRE(::read(pair.mine, &byte, 1) == 1);
    BOOST_TEST(look(selector).empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(writable_while_there_is_room, S, Selectors) {
    S selector;
    Pipe pipe;
    selector.add(pipe.theirs, Interest::write, 2);
    BOOST_TEST(bits(selector, 2) == Interest::write);
    const std::vector<char> much(65536);
    while (::write(pipe.theirs, much.data(), much.size()) > 0) {
    }
    BOOST_TEST(look(selector).empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(out_of_band_data_is_urgent, S, Selectors) {
    S selector;
    TcpPair pair;
    selector.add(pair.mine, Interest::urgent, 3);
    BOOST_TEST(look(selector).empty());
    BOOST_REQUIRE(::send(pair.theirs, "ab", 2, MSG_NOSIGNAL) == 2);
    BOOST_TEST(look(selector).empty());
    BOOST_REQUIRE(::send(pair.theirs, "!", 1, MSG_OOB | MSG_NOSIGNAL) == 1);
    BOOST_TEST(bits(selector, 3, reactor::forever()) == Interest::urgent);
    selector.modify(pair.mine, everything, 4);
    BOOST_TEST(bits(selector, 4) == everything);
}

// B3: nobody asks for a hang-up, and everybody must hear of it.
BOOST_AUTO_TEST_CASE_TEMPLATE(hang_up_makes_a_reader_ready, S, Selectors) {
    S selector;
    Pipe pipe;
    selector.add(pipe.mine, Interest::read, 1);
    pipe.close_theirs();
    BOOST_TEST((bits(selector, 1, reactor::forever()) & Interest::read) != 0u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(error_makes_a_writer_of_a_full_pipe_ready, S, Selectors) {
    S selector;
    Pipe pipe;
    const std::vector<char> much(65536);
    while (::write(pipe.theirs, much.data(), much.size()) > 0) {
    }
    selector.add(pipe.theirs, Interest::write, 1);
    BOOST_TEST(look(selector).empty());
    pipe.close_mine();
    BOOST_TEST((bits(selector, 1, reactor::forever()) & Interest::write) != 0u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(hang_up_makes_reader_and_writer_ready, S, Selectors) {
    S selector;
    StreamPair pair;
    selector.add(pair.mine, Interest::read | Interest::write, 1);
    pair.close_theirs();
    const unsigned both = Interest::read | Interest::write;
    BOOST_TEST((bits(selector, 1, reactor::forever()) & both) == both);
}

// select cannot do this one: its exception set shows neither hang-up nor error.
BOOST_AUTO_TEST_CASE(hang_up_makes_an_urgent_reader_ready) {
    for (const char* name : {"epoll", "poll", support::OnIoUring::name()}) {
        const std::unique_ptr<Selector> selector = reactor::make_selector(name);
        StreamPair pair;
        selector->add(pair.mine, Interest::urgent, 1);
        BOOST_TEST(look(*selector).empty());
        pair.close_theirs();
        BOOST_TEST((bits(*selector, 1, reactor::forever()) & Interest::urgent) != 0u);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(modify_replaces_interest_and_token, S, Selectors) {
    S selector;
    StreamPair pair;
    BOOST_REQUIRE(::write(pair.theirs, "x", 1) == 1);
    selector.add(pair.mine, Interest::read, 1);
    selector.modify(pair.mine, Interest::write, 2);
    BOOST_TEST(bits(selector, 2) == Interest::write);
    selector.modify(pair.mine, Interest::read | Interest::write, 3);
    BOOST_TEST(bits(selector, 3) == (Interest::read | Interest::write));
    selector.modify(pair.mine, Interest::urgent, 4);
    BOOST_TEST(look(selector).empty());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(removed_is_not_reported_and_the_others_are, S, Selectors) {
    S selector;
    StreamPair pairs[4];
    for (std::uint64_t i = 0; i < 4; ++i) selector.add(pairs[i].mine, Interest::write, i);
    selector.remove(pairs[1].mine);  // from the middle
    selector.remove(pairs[3].mine);  // the last
    selector.remove(pairs[3].mine);  // again
    unsigned seen = 0;
    for (const SelectorEvent& event : look(selector)) seen |= 1u << event.token;
    BOOST_TEST(seen == 0x5u);
    selector.add(pairs[3].mine, Interest::write, 5);
    selector.remove(pairs[0].mine);
    selector.remove(pairs[2].mine);
    BOOST_TEST(bits(selector, 5) == Interest::write);
    selector.remove(pairs[3].mine);
    BOOST_TEST(look(selector).empty());
}

// More than the first buffer of epoll holds: level-triggering brings the rest, then it grows.
BOOST_AUTO_TEST_CASE_TEMPLATE(many_ready_at_once_are_all_reported, S, Selectors) {
    S selector;
    constexpr unsigned many = 200;
    const std::vector<StreamPair> pairs(many);
    for (unsigned i = 0; i < many; ++i) selector.add(pairs[i].mine, Interest::write, i);
    std::vector<bool> seen(many);
    for (int wait = 0; wait < 4; ++wait) {
        for (const SelectorEvent& event : look(selector)) seen.at(event.token) = true;
    }
    BOOST_TEST(std::count(seen.begin(), seen.end(), false) == 0);
    BOOST_TEST(look(selector).size() == many);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(mistakes_are_told_at_once_and_change_nothing, S, Selectors) {
    S selector;
    StreamPair pair, other;
    selector.add(pair.mine, Interest::write, 1);
    BOOST_TEST(code_of([&] { selector.add(pair.mine, Interest::read, 2); }) == EEXIST);
    BOOST_TEST(code_of([&] { selector.modify(other.mine, Interest::write, 2); }) == ENOENT);
    BOOST_TEST(code_of([&] { selector.modify(-1, Interest::write, 2); }) == EBADF);
    BOOST_TEST(code_of([&] { selector.add(-1, Interest::write, 2); }) == EBADF);
    const int closed = other.mine;
    other.close_mine();
    BOOST_TEST(code_of([&] { selector.add(closed, Interest::write, 2); }) == EBADF);
    BOOST_CHECK_THROW(selector.add(pair.theirs, 0, 2), std::invalid_argument);
    BOOST_CHECK_THROW(selector.add(pair.theirs, SelectorEvent::invalid, 2), std::invalid_argument);
    BOOST_CHECK_THROW(selector.modify(pair.mine, 0, 2), std::invalid_argument);
    selector.remove(-1);
    selector.remove(closed);
    selector.remove(1 << 30);
    BOOST_TEST(bits(selector, 1) == Interest::write);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_error_names_selector_verb_and_number, S, Selectors) {
    S selector;
    try {
        selector.add(-7, Interest::read, 1);
        BOOST_ERROR("no exception");
    } catch (const std::system_error& error) {
        const std::string start =
            std::string(selector.name()) + " selector: cannot add descriptor -7";
        BOOST_TEST(std::string(error.what()).find(start) == 0u);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(reset_forgets_everything_and_goes_on, S, Selectors) {
    S selector;
    StreamPair pair, other;
    selector.add(pair.mine, Interest::write, 1);
    selector.add(other.mine, Interest::write, 2);
    const int before = selector.fd();
    selector.reset();
    BOOST_TEST(selector.fd() == before);
    BOOST_TEST(look(selector).empty());
    selector.remove(pair.mine);
    selector.add(other.mine, Interest::write, 3);
    BOOST_TEST(bits(selector, 3) == Interest::write);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(neither_reset_nor_the_destructor_leaks, S, Selectors) {
    const auto lowest_free = [] {
        const int fd = ::fcntl(0, F_DUPFD_CLOEXEC, 0);
        ::close(fd);
        return fd;
    };
    const int before = lowest_free();
    {
        S selector;
        const int in_use = lowest_free();
        selector.reset();
        BOOST_TEST(lowest_free() == in_use);
    }
    BOOST_TEST(lowest_free() == before);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_descriptor_of_epoll_can_be_watched_by_a_foreign_loop, S,
                              OnEpollSets) {
    S inner;
    reactor::PollSelector outer;
    BOOST_TEST(outer.fd() == -1);
    BOOST_TEST(reactor::SelectSelector().fd() == -1);
    StreamPair pair;
    inner.add(pair.mine, Interest::read, 1);
    outer.add(inner.fd(), Interest::read, 2);
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST((::fcntl(inner.fd(), F_GETFD) & FD_CLOEXEC) != 0);
        BOOST_TEST(look(outer).empty());
        BOOST_REQUIRE(::write(pair.theirs, "x", 1) == 1);
        BOOST_TEST(bits(outer, 2, reactor::forever()) == Interest::read);
        char byte;
        BOOST_REQUIRE(::read(pair.mine, &byte, 1) == 1);
        inner.reset();
        inner.add(pair.mine, Interest::read, 1);
    }
}

BOOST_AUTO_TEST_CASE(the_name_chooses_the_selector) {
    for (const char* name : {"epoll", "poll", "select", support::OnIoUring::name()}) {
        BOOST_TEST(reactor::make_selector(name)->name() == std::string(name));
    }
    BOOST_CHECK_EXCEPTION(reactor::make_selector("kqueue"), std::invalid_argument,
                          [](const std::invalid_argument& error) {
                              const std::string text = error.what();
                              return text.find("kqueue") != text.npos &&
                                     text.find("epoll, poll, select or io_uring") != text.npos;
                          });
    BOOST_CHECK_THROW(reactor::make_selector(""), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(the_environment_chooses_the_selector) {
    const char* const variable = "REACTOR_SELECTOR";
    const char* const old = std::getenv(variable);
    const std::string saved = old ? old : "";
    ::unsetenv(variable);
    BOOST_TEST(reactor::default_selector()->name() == std::string("epoll"));
    ::setenv(variable, "", 1);
    BOOST_TEST(reactor::default_selector()->name() == std::string("epoll"));
    for (const char* name : {"epoll", "poll", "select", support::OnIoUring::name()}) {
        ::setenv(variable, name, 1);
        BOOST_TEST(reactor::default_selector()->name() == std::string(name));
    }
    ::setenv(variable, "Poll", 1);
    BOOST_CHECK_EXCEPTION(reactor::default_selector(), std::invalid_argument,
                          [](const std::invalid_argument& error) {
                              const std::string text = error.what();
                              return text.find("REACTOR_SELECTOR=Poll") != text.npos &&
                                     text.find("epoll, poll, select or io_uring") != text.npos;
                          });
    if (old) {
        ::setenv(variable, saved.c_str(), 1);
    } else {
        ::unsetenv(variable);
    }
}

BOOST_AUTO_TEST_SUITE_END()
