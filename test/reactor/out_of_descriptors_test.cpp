// SPDX-License-Identifier: BSL-1.0
#include <reactor/executor.hpp>

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <string>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <signal.h>

#include <reactor/signals.hpp>

#include <test/support/loop_test.hpp>
#include <test/support/no_descriptors_left.hpp>
#include <test/support/refusal.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::Report;

// A process without descriptors hears of it by ordinary errors, its loops go on, and as soon as
// there are some again all works as before (joyent/libuv#690, nodejs/node#45242).

BOOST_AUTO_TEST_SUITE(out_of_descriptors)

BOOST_AUTO_TEST_CASE_TEMPLATE(no_loop_can_be_made_and_nothing_is_left_of_it, S, EverySelector) {
    { EventLoop warm_up(reactor::make_selector(S::name())); }
    const std::size_t before = reactor::testing::open_descriptors();
    for (int left = 0; left < 2; ++left) {
        int made = 0;
        {
            const NoDescriptorsLeft few(left);
            made = code_of([] { EventLoop loop(reactor::make_selector(S::name())); });
        }
        // epoll needs two, io_uring three, the others the wake-up only.
        const bool enough = left == 1 && !forgets_what_is_closed(S::name());
        BOOST_TEST(made == (enough ? 0 : EMFILE));
        BOOST_TEST(reactor::testing::open_descriptors() == before);
    }
    BOOST_TEST(code_of([] { EventLoop loop(reactor::make_selector(S::name())); }) == 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_running_loop_goes_on_and_its_jobs_hear_of_it, S, EverySelector) {
    EventLoop loop(reactor::make_selector(S::name()));
    int beats = 0, posts = 0;
    reactor::TimerHandle heartbeat = loop.call_every(milliseconds(2), [&] { ++beats; });
    {
        const NoDescriptorsLeft none;
        const auto job = loop.run_in_executor([] {
            const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
            if (fd < 0) throw std::system_error(errno, std::system_category(), "open /dev/null");
            ::close(fd);
        });
        BOOST_TEST(code_of([&] { loop.run_until_complete(job); }) == EMFILE);
        std::thread other([&] { loop.call_soon_threadsafe([&] { ++posts; }); });
        while (beats < 10 || posts < 1) loop.run_once();
        other.join();
    }
    heartbeat.cancel();
    BOOST_TEST(loop.run_until_complete(loop.run_in_executor([] { return 7; })) == 7);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_signal_handler_is_refused_and_can_be_set_later, S, EverySelector) {
    EventLoop loop(reactor::make_selector(S::name()));
    {
        const NoDescriptorsLeft none;
        for (int i = 0; i < 2; ++i) {
            BOOST_TEST(code_of([&] { loop.add_signal_handler(SIGUSR1, [] {}); }) == EMFILE);
        }
    }
    int calls = 0;
    loop.add_signal_handler(SIGUSR1, [&] { ++calls; });
    ::raise(SIGUSR1);
    while (calls == 0) loop.run_once();
    BOOST_TEST(loop.remove_signal_handler(SIGUSR1));
}

// What only a new epoll set gets rid of, and none can be made: that is told once and not in every
// iteration, and made good once there is a descriptor.
REACTOR_LOOP_TEST(a_selector_that_cannot_be_rebuilt_is_reported_once) {
    SocketPair pair;
    const int duplicate = ::fcntl(pair.mine, F_DUPFD_CLOEXEC, 0);
    loop.add_reader(pair.mine, say("read"));
    const int number = pair.mine;
    pair.close_mine();
    const int taken = ::fcntl(0, F_DUPFD_CLOEXEC, number);  // the number is free no more
    loop.remove_reader(number);
    pair.send();
    {
        const NoDescriptorsLeft none;
        loop.run_iterations(50);
    }
    BOOST_TEST(heard() == "");
    if (forgets_what_is_closed(loop.selector_name()))
        expect_report("A descriptor was closed while the loop watched it");
    BOOST_TEST(take_reports().empty());
    loop.run_until_idle();  // rebuilt: or it would never come to rest
    ::close(taken);
    ::close(duplicate);
}

BOOST_AUTO_TEST_SUITE_END()
