// SPDX-License-Identifier: BSL-1.0
#include <net/resolver.hpp>

#include "processes.hpp"

#include <reactor/detail/inbox.hpp>

#include <test/support/forwarding_selector.hpp>

#include <functional>
#include <future>
#include <memory>
#include <utility>

using namespace processes;
using reactor::EventLoop;

// Fault C1 (epics-base/p4p#143, python/cpython#156054): threads of this library have something to
// tell to a loop that sleeps and cannot be woken. It hears of it when it wakes up by itself; until
// then there is no silence.

namespace {

/// Standard error, in a pipe.
struct Errors {
    Errors() : before(::dup(STDERR_FILENO)) {
        BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        ::dup2(ends[1], STDERR_FILENO);
    }
    ~Errors() {
        ::dup2(before, STDERR_FILENO);
        for (const int fd : {before, ends[0], ends[1]}) ::close(fd);
    }
    Errors(const Errors&) = delete;
    Errors& operator=(const Errors&) = delete;

    /// What was said, as soon as something was, or nothing within ten seconds.
    std::string wait() const {
        ::pollfd said = {ends[0], POLLIN, 0};
        if (::poll(&said, 1, 10000) != 1) return std::string();
        char text[1000];
        const ::ssize_t got = ::read(ends[0], text, sizeof text);
        return std::string(text, got < 0 ? 0 : static_cast<std::size_t>(got));
    }

    int before;
    int ends[2];
};

/// In place of a sleep it does something, once.
class SleepingSelector final : public support::ForwardingSelector {
public:
    SleepingSelector() : ForwardingSelector("poll") {}
    const char* name() const noexcept override { return "sleeping"; }
    void wait(reactor::Duration timeout, std::vector<reactor::SelectorEvent>& ready) override {
        ForwardingSelector::wait(reactor::Duration::zero(), ready);
        if (!ready.empty() || timeout <= reactor::Duration::zero()) return;
        if (asleep) {
            const auto once = std::move(asleep);
            asleep = nullptr;
            once();
        } else {
            ForwardingSelector::wait(timeout, ready);
        }
    }

    std::function<void()> asleep;
};

/// A loop that cannot be woken from the moment on in which it falls asleep to the one in which
/// something was said.
struct Deaf {
    Deaf() : selector(new SleepingSelector), loop(std::unique_ptr<reactor::Selector>(selector)) {}

    /// What is said while it sleeps, after `then`.
    void sleep(std::function<void()> then) {
        selector->asleep = [this, then] {
            const int wake_up = loop.core().inbox->wakeup()->fd();
            const int kept = ::fcntl(wake_up, F_DUPFD_CLOEXEC, 0);
            const int deaf = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
            ::dup3(deaf, wake_up, O_CLOEXEC);
            const Errors errors;
            then();
            said = errors.wait();
            ::dup3(kept, wake_up, O_CLOEXEC);
            ::close(kept);
            ::close(deaf);
        };
    }

    SleepingSelector* selector;
    EventLoop loop;
    std::string said;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(lost_wake_up)

BOOST_AUTO_TEST_CASE(an_answer_of_the_resolver_that_comes_to_a_deaf_loop) {
    Deaf deaf;
    std::promise<void> asleep;
    std::shared_future<void> answers(asleep.get_future());
    deaf.loop.service<reactor::net::Resolver>().set_lookup([answers](const std::string&) {
        answers.wait();
        return std::vector<reactor::net::Endpoint>{reactor::net::Endpoint("192.0.2.1", 0)};
    });
    const auto found = reactor::net::resolve(deaf.loop, "pics.example", 80);
    deaf.sleep([&] { asleep.set_value(); });
    BOOST_TEST(deaf.loop.run_until_complete(found).size() == 1u);
    BOOST_TEST(deaf.said.find("The answer to a look-up") != std::string::npos, deaf.said);
    BOOST_TEST(deaf.said.find("cannot be woken") != std::string::npos, deaf.said);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_child_that_comes_to_a_deaf_loop) {
    Deaf deaf;
    deaf.loop.service<reactor::net::detail::ChildService>().uses_pidfd = false;
    int gate[2];
    BOOST_REQUIRE(::pipe2(gate, O_CLOEXEC) == 0);
    Process child = deaf.loop.run_until_complete(
        start_process(deaf.loop, "sh", {"-c", "read line; exit 7"},
                      ProcessOptions().input(ChildIo::descriptor(gate[0]))));
    deaf.sleep([&] { BOOST_TEST(::write(gate[1], "go\n", 3) == 3); });
    BOOST_TEST(deaf.loop.run_until_complete(child.wait()).code() == 7);
    BOOST_TEST(deaf.said.find("The end of a child process") != std::string::npos, deaf.said);
    BOOST_TEST(deaf.said.find("cannot be woken") != std::string::npos, deaf.said);
    for (const int fd : gate) ::close(fd);
}

BOOST_AUTO_TEST_SUITE_END()
