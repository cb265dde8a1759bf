// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>
#include <net/detail/connect_attempt.hpp>
#include <net/detail/simulated_attempt.hpp>
#include <net/socket.hpp>
#include <reactor/task.hpp>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

namespace {

// The least that an attempt gets where they wait for each other, however many addresses are to
// come; Go's dialer has the same.
constexpr Duration least_share = std::chrono::seconds(2);

/// In place of an attempt for which the deadline left no time.
struct TooLate {};

/// Its text has the reasons already: that of a TimeoutError would end with one more.
struct LateConnect final : TimeoutError {
    explicit LateConnect(std::string text) : text_(std::move(text)) {}
    const char* what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

/// Owns the socket while it connects, so that it is closed on every path but success.
class Attempt final : public Task<NewConnection> {
public:
    Attempt(const Endpoint& to, const Endpoint& from, TimePoint deadline)
        : to_(to), from_(from), deadline_(deadline), socket_(loop()) {}

private:
    Next start() override {
        return await(from_.empty() ? socket_.connect(to_, deadline_)
                                   : socket_.connect(to_, from_, deadline_),
                     &Attempt::connected);
    }
    Next connected() { return finish(NewConnection(std::move(socket_))); }

    Endpoint to_;
    Endpoint from_;
    TimePoint deadline_;
    Socket socket_;
};

/// The local address for attempts at `to`; empty: any.
Endpoint local_for(const Endpoint& to, const std::vector<Endpoint>& locals) {
    if (locals.empty()) return Endpoint();
    for (const Endpoint& local : locals) {
        if (local.family() == to.family()) return local;
    }
    throw std::system_error(EADDRNOTAVAIL, std::system_category(),
                            "connect to " + to.str() + ": no local address of its family is given");
}

/// By when an attempt must be over that has `left` - 1 more behind it.
TimePoint share(TimePoint now, TimePoint deadline, std::size_t left) {
    if (deadline == never()) return never();
    const Duration equal =
        std::max((deadline - now) / static_cast<Duration::rep>(left), least_share);
    return std::min(deadline, deadline_after(now, equal));
}

}  // namespace

std::vector<std::function<Promise<NewConnection>()>> connect_attempts(
    EventLoop& loop, const SocketCalls& calls, const std::vector<Endpoint>& addresses,
    const ConnectOptions& options, TimePoint deadline) {
    const bool shares = options.happy_eyeballs_delay() == forever();
    const std::vector<Endpoint> locals = options.locals();
    std::vector<std::function<Promise<NewConnection>()>> starters;
    starters.reserve(addresses.size());
    for (std::size_t i = 0; i < addresses.size(); ++i) {
        const Endpoint to = addresses[i];
        const std::size_t left = addresses.size() - i;
        EventLoop* const on = &loop;
        starters.push_back([=]() -> Promise<NewConnection> {
            const TimePoint now = on->time();
            // The first one may do what it can at once.
            if (i != 0 && deadline != never() && now >= deadline) throw TooLate();
            const TimePoint until = shares ? detail::share(now, deadline, left) : deadline;
            const Endpoint from = detail::local_for(to, locals);
            if (calls.simulated()) return simulated_attempt(*on, calls, to, from, until);
            return on->create_task<Attempt>(to, from, until);
        });
    }
    return starters;
}

ConnectFailure::ConnectFailure(std::string what, std::vector<Endpoint> addresses,
                               const std::vector<std::exception_ptr>& errors)
    : what_(std::move(what)), addresses_(std::move(addresses)) {
    for (const std::exception_ptr& error : errors) {
        try {
            std::rethrow_exception(error);
        } catch (const TooLate&) {
            return;  // and so are the rest
        } catch (const std::system_error& attempt) {
            attempts_.push_back(attempt);
        }
    }
}

std::exception_ptr ConnectFailure::error(bool late, bool all) const {
    if (late && (attempts_.size() < addresses_.size() || any_timed_out())) {
        return std::make_exception_ptr(LateConnect(text()));
    }
    if (!all && alike()) return std::make_exception_ptr(attempts_.front());
    return std::make_exception_ptr(ConnectError(text(), attempts_));
}

bool ConnectFailure::any_timed_out() const {
    return std::any_of(attempts_.begin(), attempts_.end(), [](const std::system_error& attempt) {
        return attempt.code() == std::errc::timed_out;
    });
}

bool ConnectFailure::alike() const {
    const std::error_condition first = attempts_.front().code().default_error_condition();
    return std::all_of(attempts_.begin(), attempts_.end(),
                       [&](const std::system_error& attempt) { return attempt.code() == first; });
}

/// Each address with its reason, or all of them with the one that they share, and for which one it
/// was too late.
std::string ConnectFailure::text() const {
    const std::string begin = "connect to ";
    const std::size_t late = addresses_.size() - attempts_.size();
    if (attempts_.size() == 1 && late == 0) return attempts_.front().what();
    const bool shared = attempts_.size() > 1 && alike();
    std::string text = what_;
    for (std::size_t i = 0; i < attempts_.size(); ++i) {
        text += i == 0 ? ": " : shared ? ", " : "; ";
        if (shared && i + 1 < attempts_.size()) {
            text += addresses_[i].str();
            continue;
        }
        const std::string attempt = attempts_[i].what();
        text +=
            attempt.compare(0, begin.size(), begin) == 0 ? attempt.substr(begin.size()) : attempt;
    }
    if (late != 0) text += "; too late for " + addresses_[attempts_.size()].str();
    if (late > 1) text += " and " + std::to_string(late - 1) + " more";
    return text;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
