// SPDX-License-Identifier: BSL-1.0
#include <net/server_options.hpp>

#include <stdexcept>
#include <string>

namespace reactor {
namespace net {

constexpr std::size_t ServerOptions::no_limit;

namespace {

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("ServerOptions::") + what);
}

}  // namespace

ServerOptions& ServerOptions::backlog(int clients) {
    require(clients > 0,
            "backlog: it must be positive: each client waits there until it is "
            "accepted");
    backlog_ = clients;
    return *this;
}

ServerOptions& ServerOptions::permissions(int mode) {
    require(mode >= 0 && mode <= 0777, "permissions: a mode is 0 to 0777, in octal digits");
    permissions_ = mode;
    return *this;
}

ServerOptions& ServerOptions::max_connections(std::size_t most) {
    require(most > 0, "max_connections: 0 would serve nobody");
    max_connections_ = most;
    return *this;
}

ServerOptions& ServerOptions::max_per_address(std::size_t most) {
    require(most > 0, "max_per_address: 0 would serve nobody");
    max_per_address_ = most;
    return *this;
}

ServerOptions& ServerOptions::write_limits(const WriteLimits& limits) {
    require(limits.low <= limits.high && limits.high <= limits.hard,
            "write_limits: low <= high <= hard does not hold");
    write_limits_ = limits;
    return *this;
}

ServerOptions& ServerOptions::stream_limit(std::size_t bytes) {
    require(bytes > 0, "stream_limit: 0 would leave no room to read into");
    stream_limit_ = bytes;
    return *this;
}

Duration ServerOptions::positive(Duration length) {
    require(length > Duration::zero(), "a time limit must be positive: forever() is for none");
    return length;
}

}  // namespace net
}  // namespace reactor
