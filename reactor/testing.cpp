// SPDX-License-Identifier: BSL-1.0
#include <reactor/error.hpp>
#include <reactor/inspect.hpp>
#include <reactor/testing.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <initializer_list>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace reactor {
namespace testing {

namespace {

// Far more than any test needs, and over in a second.
constexpr std::size_t too_many_iterations = 1000000;

// Of what a test has left: enough to see what it was.
constexpr std::size_t most_lines = 20;

// For the kernel, which delivers at once what a test's own thread has sent, or nearly so.
constexpr Duration most_patience_to_pass_time = std::chrono::milliseconds(20);

/// A selector's patience, for a while.
class Patience {
public:
    Patience(VirtualSelector& selector, Duration real_time)
        : selector_(selector), before_(selector.patience()) {
        selector_.set_patience(real_time);
    }
    Patience(const Patience&) = delete;
    Patience& operator=(const Patience&) = delete;
    ~Patience() { selector_.set_patience(before_); }

private:
    VirtualSelector& selector_;
    const Duration before_;
};

}  // namespace

namespace detail {

VirtualParts::VirtualParts(const std::string& selector, TimePoint start)
    : clock_(start),
      made_(new VirtualSelector(selector.empty() ? default_selector() : make_selector(selector),
                                clock_)),
      selector_(*made_) {}

}  // namespace detail

// ---- TestLoop -------------------------------------------------------------------------------

TestLoop::TestLoop(const std::string& selector, TimePoint start)
    : VirtualParts(selector, start), EventLoop(std::move(made_), clock_) {}

void TestLoop::run_iterations(std::size_t count) {
    while (count-- > 0) run_once(Duration::zero());
}

bool TestLoop::busy() {
    return ready_count() != 0 || selector_.last_found() != 0 ||
           core().timers.next_deadline() <= clock_.now();
}

void TestLoop::run_until_idle() {
    std::size_t left = too_many_iterations;
    do {
        if (left-- == 0) {
            throw StateError("TestLoop::run_until_idle: the loop does not come to rest");
        }
        run_once(Duration::zero());
    } while (busy());
}

void TestLoop::run_for(Duration length) {
    // Time is to pass in any case: a long patience would be spent in full, for nothing.
    const Patience short_one(selector_, std::min(selector_.patience(), most_patience_to_pass_time));
    const TimePoint end = deadline_after(clock_.now(), length);
    std::size_t left = too_many_iterations;
    do {
        const TimePoint now = clock_.now();
        run_once(now < end ? end - now : Duration::zero());
        if (clock_.now() != now) {
            left = too_many_iterations;
        } else if (left-- == 0) {
            throw StateError("TestLoop::run_for: time does not pass, something is always ready");
        }
    } while (clock_.now() < end || busy());
}

// ---- LoopFixture ----------------------------------------------------------------------------

std::size_t open_descriptors() {
    std::size_t count = 0;
    if (::DIR* const folder = ::opendir("/proc/self/fd")) {
        while (::readdir(folder)) ++count;
        ::closedir(folder);
        return count - 3;  // ".", ".." and the folder itself
    }
    const long most = ::sysconf(_SC_OPEN_MAX);
    for (int fd = 0; fd < most; ++fd) {
        if (::fcntl(fd, F_GETFD) >= 0) ++count;
    }
    return count;
}

LoopFixture::LoopFixture(const std::string& selector, Fail fail)
    : fail_(fail), descriptors_before_(open_descriptors()), loop(selector) {
    loop.set_exception_handler(
        [this](EventLoop&, const Report& report) { reports_.push_back(report); });
}

LoopFixture::~LoopFixture() {
#if defined(__cpp_lib_uncaught_exceptions)
    const bool failing = std::uncaught_exceptions() > 0;
#else
    const bool failing = std::uncaught_exception();
#endif
    if (!failing) check();  // else the exception is what the test will be told of
}

void LoopFixture::check() {
    using Kind = Waiting::Kind;
    const Alive alive = why_alive(loop);
    const auto left = [this, &alive](std::size_t count, const char* what,
                                     std::initializer_list<Kind> kinds) {
        if (count == 0) return;
        const std::string list = alive.only(kinds).text(most_lines);
        fail_("the test leaves " + std::to_string(count) + " " + what + " behind" +
              (list.empty() ? list : ":\n" + list));
    };
    left(loop.ready_count(), "callbacks that were queued and not run",
         {Kind::queued, Kind::posted});
    left(loop.timer_count(), "armed timers", {Kind::timer});
    left(loop.watch_count(), "watched descriptors",
         {Kind::reader, Kind::writer, Kind::urgent_reader, Kind::signal});
    loop.close();  // which may report more
    const std::size_t descriptors = open_descriptors();
    if (descriptors != descriptors_before_) {
        fail_("the test began with " + std::to_string(descriptors_before_) +
              " open descriptors and ends with " + std::to_string(descriptors));
    }
    for (const Report& report : reports_)
        fail_("a report the test did not ask for: " + report.text());
}

std::vector<Report> LoopFixture::take_reports() {
    std::vector<Report> taken;
    taken.swap(reports_);
    return taken;
}

std::string LoopFixture::expect_report(const std::string& prefix) {
    for (auto at = reports_.begin(); at != reports_.end(); ++at) {
        if (at->message.compare(0, prefix.size(), prefix) != 0) continue;
        const std::string message = at->message;
        reports_.erase(at);
        return message;
    }
    fail_("no report begins with \"" + prefix + "\"");
    return std::string();
}

}  // namespace testing
}  // namespace reactor
