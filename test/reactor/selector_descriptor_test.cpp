// SPDX-License-Identifier: BSL-1.0
#include <reactor/selector.hpp>

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <system_error>

#include <reactor/wakeup.hpp>

#include "selectors.hpp"

using namespace selectors;

namespace {

// What epoll refuses with EPERM: a regular file, a directory, two devices without poll.
const char* const always_ready[] = {"/proc/self/exe", "/", "/dev/null", "/dev/zero"};

constexpr unsigned both = Interest::read | Interest::write;

struct File {
    explicit File(const char* path, int flags = 0)
        : fd(::open(path, O_RDONLY | O_CLOEXEC | flags)) {
        BOOST_REQUIRE(fd >= 0);
    }
    ~File() { ::close(fd); }

    const int fd;
};

// Puts a duplicate of `fd` on the number `number`, closing what was there: the number is reused.
void reuse(int number, int fd) { BOOST_REQUIRE(::dup3(fd, number, O_CLOEXEC) == number); }

bool silent(const Selector& selector) { return support::forgets_what_is_closed(selector.name()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(selector_descriptor)

// B5
BOOST_AUTO_TEST_CASE_TEMPLATE(files_are_always_ready, S, Selectors) {
    for (const char* path : always_ready) {
        BOOST_TEST_CONTEXT(path) {
            S selector;
            File file(path);
            selector.add(file.fd, everything, 1);
            BOOST_TEST(bits(selector, 1, reactor::forever()) == both);  // does not block
            BOOST_TEST(bits(selector, 1, reactor::forever()) == both);  // nor stop
            selector.modify(file.fd, Interest::read, 2);
            BOOST_TEST(bits(selector, 2) == Interest::read);
            selector.modify(file.fd, Interest::write, 3);
            BOOST_TEST(bits(selector, 3) == Interest::write);
            selector.modify(file.fd, Interest::urgent, 4);  // never
            BOOST_TEST(look(selector).empty());
            BOOST_TEST(code_of([&] { selector.add(file.fd, Interest::read, 5); }) == EEXIST);
            selector.remove(file.fd);
            BOOST_TEST(look(selector).empty());
            BOOST_TEST(code_of([&] { selector.modify(file.fd, Interest::read, 6); }) == ENOENT);
            selector.add(file.fd, Interest::read, 7);
            selector.reset();
            BOOST_TEST(look(selector).empty());
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(files_and_sockets_are_reported_together, S, Selectors) {
    S selector;
    File file("/dev/null");
    StreamPair pair;
    selector.add(file.fd, Interest::read, 1);
    selector.add(pair.mine, Interest::read, 2);
    BOOST_TEST(bits(selector, 1) == Interest::read);
    BOOST_REQUIRE(::write(pair.theirs, "x", 1) == 1);
    const Events ready = look(selector, reactor::forever());
    BOOST_REQUIRE(ready.size() == 2u);
    BOOST_TEST(ready[0].token + ready[1].token == 3u);
    selector.modify(file.fd, Interest::urgent, 1);
    BOOST_TEST(bits(selector, 2, reactor::forever()) == Interest::read);
    selector.remove(pair.mine);
    const auto start = std::chrono::steady_clock::now();
    BOOST_TEST(look(selector, std::chrono::milliseconds(2)).empty());  // waits, does not spin
    const bool waited = std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(2);
    BOOST_TEST(waited);
}

// B5: nothing half-registered stays behind.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_socket_takes_the_number_of_a_file, S, Selectors) {
    for (const bool removed : {true, false}) {
        S selector;
        StreamPair pair;
        File file("/dev/null");
        selector.add(file.fd, both, 1);
        if (removed) selector.remove(file.fd);
        reuse(file.fd, pair.mine);
        if (removed || silent(selector)) {
            selector.add(file.fd, Interest::read, 2);
        } else {
            selector.modify(file.fd, Interest::read, 2);  // the number is still watched
        }
        BOOST_TEST(look(selector).empty());
        BOOST_REQUIRE(::write(pair.theirs, "x", 1) == 1);
        BOOST_TEST(bits(selector, 2) == Interest::read);
        BOOST_TEST(code_of([&] { selector.add(file.fd, Interest::read, 3); }) == EEXIST);
        selector.remove(file.fd);
        BOOST_TEST(look(selector).empty());
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(modify_notices_that_a_socket_replaced_a_file, S, Selectors) {
    S selector;
    StreamPair pair;
    File file("/dev/null");
    selector.add(file.fd, both, 1);
    reuse(file.fd, pair.mine);
    selector.modify(file.fd, Interest::read, 2);
    BOOST_TEST(look(selector).empty());
    BOOST_REQUIRE(::write(pair.theirs, "x", 1) == 1);
    BOOST_TEST(bits(selector, 2, reactor::forever()) == Interest::read);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_file_takes_the_number_of_a_socket, S, Selectors) {
    S selector;
    StreamPair pair;
    File file("/dev/null");
    selector.add(pair.mine, Interest::read, 1);
    reuse(pair.mine, file.fd);
    if (silent(selector)) {
        BOOST_TEST(code_of([&] { selector.modify(pair.mine, Interest::read, 2); }) == ENOENT);
        selector.add(pair.mine, Interest::read, 2);
    } else {
        selector.modify(pair.mine, Interest::read, 2);
    }
    BOOST_TEST(bits(selector, 2, reactor::forever()) == Interest::read);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_socket_takes_the_number_of_a_closed_socket, S, Selectors) {
    S selector;
    StreamPair old, fresh;
    selector.add(old.mine, Interest::write, 1);
    reuse(old.mine, fresh.mine);
    if (silent(selector)) {
        BOOST_TEST(look(selector).empty());  // the kernel dropped it
        BOOST_TEST(code_of([&] { selector.modify(old.mine, Interest::read, 2); }) == ENOENT);
        selector.add(old.mine, Interest::read, 2);
    } else {
        selector.modify(old.mine, Interest::read, 2);
    }
    BOOST_TEST(look(selector).empty());
    BOOST_REQUIRE(::write(fresh.theirs, "x", 1) == 1);
    BOOST_TEST(bits(selector, 2) == Interest::read);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(closed_behind_our_back_is_named_and_harms_nobody, S, Selectors) {
    S selector;
    StreamPair pair, gone;
    const int number = gone.mine;
    selector.add(gone.mine, both, 1);
    selector.add(pair.mine, Interest::write, 2);
    gone.close_mine();
    for (int wait = 0; wait < 2; ++wait) {
        const Events ready = look(selector, reactor::forever());
        unsigned of_gone = 0, of_pair = 0;
        for (const SelectorEvent& event : ready)
            (event.token == 1 ? of_gone : of_pair) = event.ready;
        BOOST_TEST(of_pair == Interest::write);
        BOOST_TEST(of_gone == (silent(selector) ? 0u : unsigned(SelectorEvent::invalid)));
    }
    BOOST_TEST(code_of([&] { selector.add(number, both, 3); }) == EBADF);
    if (silent(selector)) {
        BOOST_TEST(code_of([&] { selector.modify(number, both, 3); }) == EBADF);
    }
    selector.remove(number);
    BOOST_TEST(bits(selector, 2) == Interest::write);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_closed_file_is_named_by_every_selector, S, Selectors) {
    S selector;
    int number;
    {
        File file("/dev/null");
        number = file.fd;
        selector.add(number, both, 1);
    }
    BOOST_TEST(bits(selector, 1, reactor::forever()) == SelectorEvent::invalid);
    selector.remove(number);
    BOOST_TEST(look(selector).empty());
}

// Law 6: the file lives on in a duplicate, so the kernel goes on reporting a number that is gone.
BOOST_AUTO_TEST_CASE_TEMPLATE(reset_rids_epoll_of_a_registration_that_a_duplicate_keeps_alive, S,
                              OnEpollSets) {
    S selector;
    StreamPair pair;
    selector.add(pair.mine, Interest::write, 1);
    const int duplicate = ::fcntl(pair.mine, F_DUPFD_CLOEXEC, 0);
    const int number = pair.mine;
    pair.close_mine();
    selector.remove(number);
    BOOST_TEST(bits(selector, 1) == Interest::write);
    selector.reset();
    BOOST_TEST(look(selector).empty());
    ::close(duplicate);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_descriptor_without_input_or_output_is_refused, S, Selectors) {
    S selector;
    File path_only("/", O_PATH);
    BOOST_TEST(code_of([&] { selector.add(path_only.fd, Interest::read, 1); }) == EBADF);
}

// A forked child that drops its copy must not take the parent's registrations.
BOOST_AUTO_TEST_CASE_TEMPLATE(the_destructor_removes_nothing, S, Selectors) {
    StreamPair pair;
    const std::unique_ptr<S> selector(new S);
    selector->add(pair.mine, Interest::write, 1);
    const ::pid_t child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
        selector->~S();
        ::_exit(0);
    }
    BOOST_REQUIRE(::waitpid(child, nullptr, 0) == child);
    BOOST_TEST(bits(*selector, 1) == Interest::write);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(numbers_beyond_fd_setsize_are_refused_by_select_only, S, Selectors) {
    ::rlimit old;
    BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &old) == 0);
    ::rlimit more = old;
    more.rlim_cur = FD_SETSIZE + 64;
    if (old.rlim_cur < more.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &more) != 0) {
        BOOST_TEST_MESSAGE("skipped: the limit of descriptors cannot be raised");
        return;
    }
    S selector;
    reactor::Wakeup wakeup;
    StreamPair pair;
    const int beyond = ::fcntl(wakeup.fd(), F_DUPFD_CLOEXEC, FD_SETSIZE);
    BOOST_REQUIRE(beyond >= FD_SETSIZE);
    const int last = FD_SETSIZE - 1;
    if (::fcntl(last, F_GETFD) < 0) {
        reuse(last, wakeup.fd());
        selector.add(last, Interest::read, 1);
        BOOST_TEST(wakeup.notify());
        BOOST_TEST(bits(selector, 1) == Interest::read);
        selector.remove(last);
        ::close(last);
    }
    if (selector.name() == std::string("select")) {
        BOOST_CHECK_EXCEPTION(selector.add(beyond, Interest::read, 1), std::system_error,
                              [](const std::system_error& error) {
                                  return error.code().value() == EINVAL &&
                                         std::string(error.what()).find("FD_SETSIZE (1024)") !=
                                             std::string::npos;
                              });
        BOOST_TEST(code_of([&] { selector.modify(beyond, Interest::read, 1); }) == ENOENT);
        selector.remove(beyond);
    } else {
        selector.add(beyond, Interest::read, 1);
        BOOST_TEST(bits(selector, 1) == Interest::read);
        selector.remove(beyond);
    }
    BOOST_TEST(look(selector).empty());
    ::close(beyond);
    BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &old) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
