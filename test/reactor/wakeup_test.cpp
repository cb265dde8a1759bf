// SPDX-License-Identifier: BSL-1.0
#include <reactor/wakeup.hpp>

#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <reactor/selector.hpp>
#include <test/support/loop_test.hpp>
#include <test/support/no_descriptors_left.hpp>
#include <test/support/refusal.hpp>

namespace {

using reactor::Wakeup;

static_assert(!std::is_copy_constructible<Wakeup>::value, "one owner per descriptor");
static_assert(!std::is_move_constructible<Wakeup>::value, "threads hold its address");
static_assert(noexcept(std::declval<Wakeup&>().notify()), "called from signal handlers");

bool readable(const Wakeup& wakeup) {
    ::pollfd asked = {wakeup.fd(), POLLIN, 0};
    return ::poll(&asked, 1, 0) == 1;
}

Wakeup* in_handler = nullptr;
volatile sig_atomic_t handler_succeeded = 0;

extern "C" void notify_from_handler(int) { handler_succeeded = in_handler->notify() ? 1 : 0; }

}  // namespace

BOOST_AUTO_TEST_SUITE(wakeup)

BOOST_AUTO_TEST_CASE(is_readable_from_notify_to_drain) {
    Wakeup wakeup;
    BOOST_TEST(!readable(wakeup));
    BOOST_TEST(wakeup.notify());
    BOOST_TEST(readable(wakeup));
    BOOST_TEST(wakeup.notify());
    wakeup.drain();  // takes back both
    BOOST_TEST(!readable(wakeup));
    wakeup.drain();  // of nothing: does not block
    BOOST_TEST(wakeup.notify());
    BOOST_TEST(readable(wakeup));
}

BOOST_AUTO_TEST_CASE(is_closed_on_exec_and_does_not_block) {
    Wakeup wakeup;
    BOOST_TEST((::fcntl(wakeup.fd(), F_GETFD) & FD_CLOEXEC) != 0);
    BOOST_TEST((::fcntl(wakeup.fd(), F_GETFL) & O_NONBLOCK) != 0);
}

BOOST_AUTO_TEST_CASE(closes_its_descriptor) {
    int number;
    {
        Wakeup wakeup;
        number = wakeup.fd();
    }
    BOOST_TEST(::fcntl(number, F_GETFD) == -1);
}

BOOST_AUTO_TEST_CASE(a_full_counter_neither_blocks_nor_fails) {
    Wakeup wakeup;
    const std::uint64_t nearly_full = UINT64_MAX - 2;
    BOOST_REQUIRE(::write(wakeup.fd(), &nearly_full, sizeof nearly_full) == sizeof nearly_full);
    for (int i = 0; i < 1000; ++i) BOOST_REQUIRE(wakeup.notify());
    BOOST_TEST(readable(wakeup));
    wakeup.drain();
    BOOST_TEST(!readable(wakeup));
}

BOOST_AUTO_TEST_CASE(errno_is_left_alone) {
    Wakeup wakeup;
    const std::uint64_t full = UINT64_MAX - 1;
    BOOST_REQUIRE(::write(wakeup.fd(), &full, sizeof full) == sizeof full);
    errno = ERANGE;
    const bool done = wakeup.notify();  // the write gives EAGAIN
    const int after = errno;
    BOOST_TEST(done);
    BOOST_TEST(after == ERANGE);
}

BOOST_AUTO_TEST_CASE(a_write_that_fails_is_told) {
    Wakeup wakeup;
    const int unwritable = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    BOOST_REQUIRE(::dup3(unwritable, wakeup.fd(), O_CLOEXEC) == wakeup.fd());
    ::close(unwritable);
    BOOST_TEST(!wakeup.notify());
}

BOOST_AUTO_TEST_CASE(no_descriptor_left_is_an_error) {
    int code = 0;
    {
        const support::NoDescriptorsLeft none;
        code = support::code_of([] { Wakeup refused; });
    }
    BOOST_TEST(code == EMFILE);
}

BOOST_AUTO_TEST_CASE(a_signal_handler_notifies) {
    Wakeup wakeup;
    in_handler = &wakeup;
    struct sigaction action = {};
    struct sigaction old;
    action.sa_handler = notify_from_handler;
    BOOST_REQUIRE(::sigaction(SIGUSR1, &action, &old) == 0);
    ::raise(SIGUSR1);
    BOOST_REQUIRE(::sigaction(SIGUSR1, &old, nullptr) == 0);
    in_handler = nullptr;
    BOOST_TEST(handler_succeeded == 1);
    BOOST_TEST(readable(wakeup));
}

// The order that drain() promises: whoever is woken finds what was posted before the notify().
BOOST_AUTO_TEST_CASE(threads_end_the_wait_of_every_selector) {
    for (const char* name : {"epoll", "poll", "select", support::OnIoUring::name()}) {
        const std::unique_ptr<reactor::Selector> selector = reactor::make_selector(name);
        Wakeup wakeup;
        selector->add(wakeup.fd(), reactor::Interest::read, 7);
        constexpr int each = 1000;
        std::atomic<int> posted(0);
        std::atomic<bool> failed(false);
        std::vector<std::thread> posters;
        for (int i = 0; i < 4; ++i) {
            posters.emplace_back([&] {
                for (int n = 0; n < each; ++n) {
                    ++posted;
                    if (!wakeup.notify()) failed = true;
                }
            });
        }
        std::vector<reactor::SelectorEvent> ready;
        int seen = 0;
        while (seen < 4 * each) {  // without a limit: a lost notification hangs here
            selector->wait(reactor::forever(), ready);
            for (const reactor::SelectorEvent& event : ready) BOOST_REQUIRE(event.token == 7u);
            wakeup.drain();
            seen = posted;
        }
        for (std::thread& poster : posters) poster.join();
        BOOST_TEST(!failed);
    }
}

// The old number is somebody else's: it must be neither written nor closed any more.
BOOST_AUTO_TEST_CASE(a_wakeup_that_cannot_be_renewed_is_loud_and_leaves_the_number_alone) {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    BOOST_REQUIRE(null >= 0);
    int number;
    {
        Wakeup wakeup;
        number = wakeup.fd();
        BOOST_REQUIRE(::dup3(null, number, O_CLOEXEC) == number);
        {
            const support::NoDescriptorsLeft none;
            BOOST_CHECK_THROW(wakeup.renew(), std::system_error);
        }
        BOOST_TEST(wakeup.fd() == -1);
        BOOST_TEST(!wakeup.notify());
    }
    BOOST_TEST(::fcntl(number, F_GETFD) != -1);
    ::close(number);
    ::close(null);
}

BOOST_AUTO_TEST_SUITE_END()
