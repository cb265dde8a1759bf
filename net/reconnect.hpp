// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_RECONNECT_HPP
#define REACTOR_NET_RECONNECT_HPP

#include <net/backoff.hpp>
#include <net/connect_options.hpp>
#include <net/deadline.hpp>
#include <net/port.hpp>
#include <net/socket.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace reactor {
namespace net {

/// How a Reconnector goes about it; a value: any thread may hold one.
class ReconnectOptions {
public:
    /// Called before each pause, from the loop, with why the last try failed. What it throws ends
    /// the tries.
    using OnRetry = std::function<void(const std::system_error& error, Duration pause)>;

    ReconnectOptions& backoff(const BackoffOptions& options) {
        backoff_ = options;
        return *this;
    }
    /// At most so many tries for a connection; 0, the default: as many as it takes.
    ReconnectOptions& tries(std::size_t most) noexcept {
        tries_ = most;
        return *this;
    }
    /// By when a connection must be there, with all tries and pauses. Default: no limit.
    ReconnectOptions& deadline(Deadline when) noexcept {
        deadline_ = when;
        return *this;
    }
    /// A connection that had lasted less long when the next one was asked for counts as one more
    /// failure: else a server that accepts and hangs up at once would be asked without any pause.
    /// Default: ten seconds. Throws std::invalid_argument for NaN.
    template <class Rep, class Period>
    ReconnectOptions& stable_after(std::chrono::duration<Rep, Period> length) {
        stable_after_ = saturated(length);
        return *this;
    }
    ReconnectOptions& on_retry(OnRetry f) {
        on_retry_ = std::move(f);
        return *this;
    }

    const BackoffOptions& backoff() const noexcept { return backoff_; }
    std::size_t tries() const noexcept { return tries_; }
    Deadline deadline() const noexcept { return deadline_; }
    Duration stable_after() const noexcept { return stable_after_; }
    const OnRetry& on_retry() const noexcept { return on_retry_; }

private:
    BackoffOptions backoff_;
    std::size_t tries_ = 0;
    Deadline deadline_;
    Duration stable_after_ = std::chrono::seconds(10);
    OnRetry on_retry_;
};

/// Gives one connection after the other to the same server, and waits longer and longer while that
/// does not work. Owned by whoever reconnects, used on its loop's thread; may go at any time: a
/// connect() that is pending goes on without it, cancel its promise. Empty when moved from.
/// Twisted: ClientService.
///
///            connect()              done
///     idle ───────────> trying ───────────> idle
///                       │  ^  failed
///                       └──┘  a pause: first · factor^n, with jitter
class Reconnector {
public:
    /// A try, which must be over by `deadline`; called from the loop.
    using Connect = std::function<Promise<Socket>(TimePoint deadline)>;

    /// Throws std::invalid_argument for an empty function.
    Reconnector(EventLoop& loop, Connect connect, ReconnectOptions options = ReconnectOptions());
    /// By net::connect(). `each` is for each try: give it a length of time as its deadline, since a
    /// point in time would leave none to the tries after it.
    Reconnector(EventLoop& loop, const std::string& host, const Port& port,
                ReconnectOptions options = ReconnectOptions(),
                const ConnectOptions& each = ConnectOptions());
    Reconnector(Reconnector&&) noexcept;
    Reconnector& operator=(Reconnector&&) noexcept;
    ~Reconnector();

    /// The next connection: after a pause if the last one did not last, or was not to be had, else
    /// at once; after each std::system_error another try. Fails with the last error when the tries
    /// have come to their limit, or when the deadline would pass before the next one; with any
    /// other error at once. Cancelling it ends the try or the pause. Throws StateError while
    /// another one is pending, and on an empty Reconnector.
    Promise<Socket> connect();

    /// The connection has shown to be good, however short: the next one is tried for at once, and
    /// pauses begin again with the first. StateError on an empty Reconnector.
    void reset();

private:
    struct State;
    class Trying;

    State& state(const char* call) const;

    std::shared_ptr<State> state_;
};

/// A single Reconnector::connect().
Promise<Socket> connect_with_backoff(EventLoop& loop, const std::string& host, const Port& port,
                                     ReconnectOptions options = ReconnectOptions(),
                                     const ConnectOptions& each = ConnectOptions());

}  // namespace net
}  // namespace reactor

#endif
