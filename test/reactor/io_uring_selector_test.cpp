// SPDX-License-Identifier: BSL-1.0
#include <reactor/io_uring_selector.hpp>

#include <boost/test/unit_test.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include <reactor/event_loop.hpp>

#include <test/support/no_descriptors_left.hpp>

#include "forbidden.hpp"
#include "forked.hpp"
#include "selectors.hpp"

// What is io_uring's own: system calls that are not made, the ring's thread and process, and what
// happens where the system has none. All else every selector's tests show for it, too.

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#define SYS_io_uring_enter 426
#endif

namespace {

int calls = 0;  // that ask what is ready

}  // namespace

// These stand before the C library's, and count.
extern "C" int epoll_wait(int epoll, ::epoll_event* events, int capacity, int timeout) {
    ++calls;
    return ::epoll_pwait(epoll, events, capacity, timeout, nullptr);
}
extern "C" long syscall(long number, ...) noexcept {
    using Call = long (*)(long, ...);
    static Call real = nullptr;
    if (!real) {
        void* const found = ::dlsym(RTLD_NEXT, "syscall");
        static_assert(sizeof real == sizeof found, "as POSIX has it");
        __builtin_memcpy(&real, &found, sizeof real);
    }
    if (number == SYS_io_uring_enter) ++calls;
    std::va_list rest;
    va_start(rest, number);
    long a[6];
    for (long& argument : a) argument = va_arg(rest, long);
    va_end(rest);
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

using namespace selectors;
using reactor::IoUringSelector;

namespace {

int calls_of(const std::function<void()>& f) {
    const int before = calls;
    f();
    return calls - before;
}

/// Looks until nothing is found for nothing: true if that comes soon.
bool comes_to_rest(Selector& selector) {
    for (int looks = 0; looks < 4; ++looks) {
        if (calls_of([&] { look(selector); }) == 0) return true;
    }
    return false;
}

void send(const Pair& pair) { BOOST_REQUIRE(::write(pair.theirs, "x", 1) == 1); }
void receive(const Pair& pair) {
    char byte;
    BOOST_REQUIRE(::read(pair.mine, &byte, 1) == 1);
}

/// The end of a ring interrupts the thread whose it was, also if another one has closed it: waits
/// until that is over.
void outlast_the_rings_of_this_thread() {
    reactor::EpollSelector other;
    const Duration long_enough = std::chrono::milliseconds(60);
    for (int waits = 0; waits < 50; ++waits) {
        const auto start = std::chrono::steady_clock::now();
        look(other, long_enough);
        const Duration passed = std::chrono::steady_clock::now() - start;
        if (passed >= long_enough) return;
    }
}

/// An echo of `rounds` bytes, each of which comes while the loop sleeps and is answered `hops`
/// iterations later: how often the system is asked.
int calls_of_an_echo(const std::string& selector, int rounds, int hops) {
    reactor::EventLoop loop(reactor::make_selector(selector));
    StreamPair pair;
    int left = rounds;
    std::function<void(int)> hop = [&](int n) {
        if (n > 0) {
            loop.call_soon(hop, n - 1);
        } else {
            BOOST_REQUIRE(::write(pair.mine, "y", 1) == 1);
        }
    };
    loop.add_reader(pair.mine, [&] {
        receive(pair);
        hop(hops);
    });
    loop.add_reader(pair.theirs, [&] {
        char byte;
        BOOST_REQUIRE(::read(pair.theirs, &byte, 1) == 1);
        if (--left == 0) return loop.stop();
        send(pair);
    });
    send(pair);
    const int made = calls_of([&] { loop.run_forever(); });
    loop.remove_reader(pair.mine);
    loop.remove_reader(pair.theirs);
    return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(io_uring_selector)

BOOST_AUTO_TEST_CASE(while_nothing_is_ready_the_system_is_not_asked) {
    const std::unique_ptr<Selector> selector = reactor::make_selector(support::OnIoUring::name());
    if (selector->name() == std::string("epoll")) return;
    StreamPair pair, other;
    selector->add(pair.mine, Interest::read, 1);
    selector->add(other.mine, Interest::read, 2);
    BOOST_TEST(comes_to_rest(*selector));
    for (int round = 0; round < 100; ++round) {
        BOOST_TEST(calls_of([&] {
                       for (int i = 0; i < 100; ++i) look(*selector);
                   }) == 0);
        send(pair);
        BOOST_TEST(bits(*selector, 1) == Interest::read);  // at once
        receive(pair);
        BOOST_TEST(calls_of([&] {
                       for (int i = 0; i < 100; ++i) BOOST_TEST(look(*selector).empty());
                   }) == 1);
    }
    // What makes something ready by a change is found, too.
    selector->modify(pair.mine, Interest::write, 3);
    BOOST_TEST(bits(*selector, 3) == Interest::write);
    selector->remove(pair.mine);
    BOOST_TEST(comes_to_rest(*selector));
    send(other);
    selector->remove(other.mine);
    BOOST_TEST(look(*selector).empty());
    BOOST_TEST(comes_to_rest(*selector));
    selector->add(other.mine, Interest::read, 4);
    BOOST_TEST(bits(*selector, 4) == Interest::read);
}

BOOST_AUTO_TEST_CASE(what_stays_ready_is_told_at_every_wait_for_one_call_each) {
    const std::unique_ptr<Selector> selector = reactor::make_selector(support::OnIoUring::name());
    StreamPair pair;
    selector->add(pair.mine, Interest::read, 1);
    look(*selector);
    send(pair);
    const int made = calls_of([&] {
        for (int i = 0; i < 1000; ++i) BOOST_TEST(bits(*selector, 1) == Interest::read);
    });
    BOOST_TEST(made <= 1001);
}

BOOST_AUTO_TEST_CASE(a_chain_of_callbacks_asks_the_system_a_few_times_in_all) {
    const std::string name = support::OnIoUring::name();
    reactor::EventLoop loop(reactor::make_selector(name));
    StreamPair pair;
    int left = 10000, read_at = 0;
    loop.add_reader(pair.mine, [&] {
        receive(pair);
        read_at = left;
    });
    std::function<void()> link = [&] {
        if (--left == 5000) send(pair);
        if (left > 0) {
            loop.call_soon(link);
        } else {
            loop.stop();
        }
    };
    loop.call_soon(link);
    const int made = calls_of([&] { loop.run_forever(); });
    // In the very next iteration, behind what was queued: as with a system call in each.
    BOOST_TEST(read_at == 4999);
    if (name == "io_uring") BOOST_TEST(made <= 10);
    loop.remove_reader(pair.mine);
}

BOOST_AUTO_TEST_CASE(an_echo_asks_no_more_often_than_on_epoll) {
    for (int hops = 0; hops < 6; ++hops) {
        const int on_epoll = calls_of_an_echo("epoll", 1000, hops);
        const int on_ring = calls_of_an_echo(support::OnIoUring::name(), 1000, hops);
        BOOST_TEST_MESSAGE(hops << " hops: " << on_epoll << " calls on epoll, " << on_ring
                                << " on io_uring");
        BOOST_TEST(on_ring <= on_epoll + 10, on_ring << " against " << on_epoll);
    }
}

// A poll in the ring holds the file: one per descriptor would keep the connection open.
BOOST_AUTO_TEST_CASE(the_peer_of_a_socket_closed_before_its_removal_hears_of_it_at_once) {
    const std::unique_ptr<Selector> selector = reactor::make_selector(support::OnIoUring::name());
    TcpPair pair;
    selector->add(pair.mine, Interest::read, 1);
    look(*selector);
    pair.close_mine();
    char byte;
    BOOST_TEST(::recv(pair.theirs, &byte, 1, 0) == 0);
}

BOOST_AUTO_TEST_CASE(always_ready_files_that_come_and_go_leave_the_ring_in_order) {
    const std::unique_ptr<Selector> selector = reactor::make_selector(support::OnIoUring::name());
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    StreamPair pair;
    selector->add(pair.mine, Interest::read, 1);
    for (int i = 0; i < 1000; ++i) {
        selector->add(null, Interest::read, 2);
        BOOST_TEST(bits(*selector, 2) == Interest::read);
        selector->remove(null);
        BOOST_TEST(look(*selector).empty());
    }
    send(pair);
    BOOST_TEST(bits(*selector, 1) == Interest::read);
    receive(pair);
    for (int i = 0; i < 1000; ++i) {
        selector->reset();
        BOOST_TEST(look(*selector).empty());
    }
    selector->add(pair.mine, Interest::read, 3);
    send(pair);
    BOOST_TEST(bits(*selector, 3) == Interest::read);
    ::close(null);
}

BOOST_AUTO_TEST_CASE(another_thread_may_go_on_with_it_and_the_first_may_end) {
    const std::string name = support::OnIoUring::name();
    StreamPair pair;
    std::unique_ptr<Selector> selector;
    for (int round = 0; round < 20; ++round) {
        std::thread([&] {
            if (!selector) {
                selector = reactor::make_selector(name);
                selector->add(pair.mine, Interest::read, 1);
            }
            BOOST_TEST(look(*selector).empty());
            if (round % 2 != 0) BOOST_TEST((comes_to_rest(*selector) || name == "epoll"));
        }).join();
        send(pair);
        BOOST_TEST(bits(*selector, 1, round % 3 ? Duration::zero() : reactor::forever()) ==
                   Interest::read);
        if (round % 4 == 0) BOOST_TEST(bits(*selector, 1) == Interest::read);
        receive(pair);
        BOOST_TEST((comes_to_rest(*selector) || name == "epoll"));
    }
    outlast_the_rings_of_this_thread();
}

BOOST_AUTO_TEST_CASE(a_forked_child_has_a_ring_of_its_own) {
    const std::string name = support::OnIoUring::name();
    const std::unique_ptr<Selector> selector = reactor::make_selector(name);
    StreamPair pair;
    selector->add(pair.mine, Interest::read, 1);
    look(*selector);
    const Forked child = forked([&] {
        for (int i = 0; i < 100; ++i) {
            if (!look(*selector).empty()) ::_exit(2);
        }
        if (name == "io_uring" && !comes_to_rest(*selector)) ::_exit(3);
        if (::write(pair.theirs, "x", 1) != 1) ::_exit(4);
        for (int i = 0; i < 3; ++i) {
            if (look(*selector).size() != 1) ::_exit(5);
        }
    });
    BOOST_TEST(child.status == 0);
    BOOST_TEST(child.errors == "");
    for (int i = 0; i < 3; ++i) BOOST_TEST(bits(*selector, 1) == Interest::read);
    receive(pair);
    BOOST_TEST((comes_to_rest(*selector) || name == "epoll"));
    send(pair);
    BOOST_TEST(bits(*selector, 1) == Interest::read);
}

// The kernel ends a ring late, and interrupts the thread whose it was.
BOOST_AUTO_TEST_CASE(its_end_cuts_no_later_wait_short) {
    reactor::EpollSelector other;
    const Duration long_enough = std::chrono::milliseconds(60);
    for (int round = 0; round < 3; ++round) {
        {
            const std::unique_ptr<Selector> selector =
                reactor::make_selector(support::OnIoUring::name());
            if (round > 0) look(*selector);
        }
        const auto start = std::chrono::steady_clock::now();
        BOOST_TEST(look(other, long_enough).empty());
        const Duration passed = std::chrono::steady_clock::now() - start;
        BOOST_TEST(passed.count() >= long_enough.count());
    }
}

// ---- where the system has none ----

BOOST_AUTO_TEST_CASE(a_refusal_says_what_to_do_and_the_environments_wish_ends_on_epoll) {
    const struct {
        int error;
        const char* part;
    } refusals[] = {
        {ENOSYS, "the kernel has no io_uring: use epoll, or Linux 6.1 or later"},
        {EINVAL, "the kernel's io_uring is too old: use epoll, or Linux 6.1 or later"},
        {EPERM, "io_uring is forbidden here: see kernel.io_uring_disabled"},
        {ENOMEM, "raise ulimit -l, or use epoll"},
    };
    for (const auto& refusal : refusals) {
        const Forked child = forked([&] {
            if (!forbid(SYS_io_uring_setup, refusal.error)) ::_exit(7);
            try {
                reactor::make_selector("io_uring");
                ::_exit(2);
            } catch (const std::system_error& error) {
                if (error.code().value() != refusal.error) ::_exit(3);
                if (std::string(error.what()).find(refusal.part) == std::string::npos) ::_exit(4);
            }
            ::setenv("REACTOR_SELECTOR", "io_uring", 1);
            reactor::EventLoop loop;
            if (loop.selector_name() != std::string("epoll")) ::_exit(5);
            bool ran = false;
            loop.call_later(std::chrono::milliseconds(1), [&] { ran = true; });
            while (!ran) loop.run_once();
        });
        if (child.status == 7) {
            BOOST_TEST_MESSAGE("no seccomp filters here: nothing to test with");
            return;
        }
        BOOST_TEST(child.status == 0);
        const std::string line =
            "reactor: warning: REACTOR_SELECTOR=io_uring is not possible, so the loop runs on "
            "epoll: io_uring selector: ";
        BOOST_TEST(child.errors.find(line) == 0u, child.errors);
        BOOST_TEST(child.errors.find(refusal.part) != std::string::npos, child.errors);
        BOOST_TEST(child.errors.find('\n') == child.errors.size() - 1, child.errors);
    }
}

BOOST_AUTO_TEST_CASE(a_ring_that_may_be_made_and_not_used_is_refused) {
    const Forked child = forked([] {
        if (!forbid(SYS_io_uring_enter, EPERM)) return;
        const std::size_t before = reactor::testing::open_descriptors();
        if (code_of([] { reactor::make_selector("io_uring"); }) == 0) ::_exit(2);
        if (reactor::testing::open_descriptors() != before) ::_exit(3);
    });
    BOOST_TEST(child.status == 0);
}

// A program that locks itself up after its start; a loop that goes on in another thread when no
// descriptor is left for a ring there.
BOOST_AUTO_TEST_CASE(who_loses_his_ring_goes_on_as_epoll) {
    for (const bool forbidden : {true, false}) {
        StreamPair pair;
        std::unique_ptr<Selector> selector;
        if (!forbidden) {
            selector = reactor::make_selector(support::OnIoUring::name());
            look(*selector);
        }
        bool good = true;
        std::thread([&] {
            std::unique_ptr<support::NoDescriptorsLeft> none;
            if (forbidden) {
                selector = reactor::make_selector(support::OnIoUring::name());
                if (!forbid(SYS_io_uring_enter, EPERM)) return;
            } else {
                none.reset(new support::NoDescriptorsLeft);
            }
            selector->add(pair.mine, Interest::read, 1);
            for (int i = 0; i < 10; ++i) {
                good = good && look(*selector).empty();
                good = good && ::write(pair.theirs, "x", 1) == 1;
                good = good && look(*selector).size() == 1 && look(*selector).size() == 1;
                char byte;
                good = good && ::read(pair.mine, &byte, 1) == 1;
            }
        }).join();
        BOOST_TEST(good);
    }
    outlast_the_rings_of_this_thread();
}

BOOST_AUTO_TEST_SUITE_END()
