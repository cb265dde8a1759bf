// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_CONNECT_ATTEMPT_HPP
#define REACTOR_NET_DETAIL_CONNECT_ATTEMPT_HPP

#include <net/connect_options.hpp>
#include <net/detail/new_connection.hpp>
#include <net/endpoint.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

/// How each attempt of one connect() is made: what staggered_race() starts. By the system, or in
/// the network in memory that `calls` know.
std::vector<std::function<Promise<NewConnection>()>> connect_attempts(
    EventLoop& loop, const SocketCalls& calls, const std::vector<Endpoint>& addresses,
    const ConnectOptions& options, TimePoint deadline);

/// What became of the attempts when all have failed, and the one error that tells it.
class ConnectFailure {
public:
    /// `what` is what was to be done, as messages begin. `errors` is a race's: one for each of the
    /// addresses. Rethrows one that is no std::system_error: it is not the network's.
    ConnectFailure(std::string what, std::vector<Endpoint> addresses,
                   const std::vector<std::exception_ptr>& errors);

    /// `late`: the deadline has passed. `all`: see ConnectOptions::all_errors().
    std::exception_ptr error(bool late, bool all) const;

private:
    bool any_timed_out() const;
    bool alike() const;
    std::string text() const;

    std::string what_;
    std::vector<Endpoint> addresses_;
    std::vector<std::system_error> attempts_;  // of the first addresses; the others came too late
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
