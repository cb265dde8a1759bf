// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_SERVER_OPTIONS_HPP
#define REACTOR_NET_SERVER_OPTIONS_HPP

#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/clock.hpp>

#include <chrono>
#include <cstddef>

namespace reactor {
namespace net {

/// What a server may be told; a value: any thread may hold one. Each function without an argument
/// says what the one of the same name has set.
class ServerOptions {
public:
    // ---- the listening sockets; of inherited ones only the backlog counts, which says how many
    //      clients are accepted in one go ----

    /// How many clients may wait to be accepted; the system has a limit of its own. Default: 100,
    /// as asyncio's. Throws std::invalid_argument unless it is positive.
    ServerOptions& backlog(int clients);
    /// SO_REUSEADDR, on by default: else a server cannot start again while connections of its
    /// predecessor are in TIME_WAIT. No effect on a Unix socket.
    ServerOptions& reuse_address(bool on) noexcept {
        reuse_address_ = on;
        return *this;
    }
    /// SO_REUSEPORT, off by default: several servers, of one user, share a port, and the system
    /// spreads the clients over them. No effect on a Unix socket.
    ServerOptions& reuse_port(bool on) noexcept {
        reuse_port_ = on;
        return *this;
    }
    /// IPV6_V6ONLY, on by default: "[::]" does not take IPv4 clients, which get a socket of their
    /// own. Off: it takes both; an empty host stands for this one socket then.
    ServerOptions& v6_only(bool on) noexcept {
        v6_only_ = on;
        return *this;
    }
    /// Who may connect to a Unix path, as chmod(2) has it (0600: its user only). Default: what the
    /// process's umask says. Throws std::invalid_argument for anything beyond 0777.
    ServerOptions& permissions(int mode);
    /// Off: the sockets are bound, but refuse clients until Server::start_serving().
    ServerOptions& start_serving(bool on) noexcept {
        start_serving_ = on;
        return *this;
    }

    // ---- how many clients ----

    /// With so many connections the server pauses: who comes then waits in the backlog, and the
    /// system refuses or ignores what does not fit there. Default: none, as many as there are
    /// descriptors. Throws std::invalid_argument for 0.
    ServerOptions& max_connections(std::size_t most);
    /// A client whose IP address has so many connections is reset at once, and counted. Default:
    /// none. Single addresses are counted, not networks: of IPv6 a client usually has 2^64, so this
    /// limits only those who mean no harm; max_connections() limits all. No effect on a Unix
    /// socket, whose clients have no address. Throws std::invalid_argument for 0.
    ServerOptions& max_per_address(std::size_t most);

    // ---- every connection ----

    /// Transport::set_idle_timeout() and its kin. Default: forever(). Throw std::invalid_argument
    /// unless positive.
    template <class Rep, class Period>
    ServerOptions& idle_timeout(std::chrono::duration<Rep, Period> length) {
        idle_timeout_ = positive(saturated(length, "ServerOptions::idle_timeout"));
        return *this;
    }
    template <class Rep, class Period>
    ServerOptions& read_timeout(std::chrono::duration<Rep, Period> length) {
        read_timeout_ = positive(saturated(length, "ServerOptions::read_timeout"));
        return *this;
    }
    template <class Rep, class Period>
    ServerOptions& write_timeout(std::chrono::duration<Rep, Period> length) {
        write_timeout_ = positive(saturated(length, "ServerOptions::write_timeout"));
        return *this;
    }
    /// Transport::set_write_limits(). Throws std::invalid_argument unless low <= high <= hard.
    ServerOptions& write_limits(const WriteLimits& limits);
    /// Stream::set_limit(), of start_server(). Throws std::invalid_argument for 0.
    ServerOptions& stream_limit(std::size_t bytes);

    int backlog() const noexcept { return backlog_; }
    bool reuse_address() const noexcept { return reuse_address_; }
    bool reuse_port() const noexcept { return reuse_port_; }
    bool v6_only() const noexcept { return v6_only_; }
    /// -1 by default.
    int permissions() const noexcept { return permissions_; }
    bool start_serving() const noexcept { return start_serving_; }
    static constexpr std::size_t no_limit = static_cast<std::size_t>(-1);
    /// `no_limit` by default, both.
    std::size_t max_connections() const noexcept { return max_connections_; }
    std::size_t max_per_address() const noexcept { return max_per_address_; }
    Duration idle_timeout() const noexcept { return idle_timeout_; }
    Duration read_timeout() const noexcept { return read_timeout_; }
    Duration write_timeout() const noexcept { return write_timeout_; }
    const WriteLimits& write_limits() const noexcept { return write_limits_; }
    std::size_t stream_limit() const noexcept { return stream_limit_; }

private:
    static Duration positive(Duration length);

    int backlog_ = 100;
    bool reuse_address_ = true;
    bool reuse_port_ = false;
    bool v6_only_ = true;
    bool start_serving_ = true;
    int permissions_ = -1;
    std::size_t max_connections_ = no_limit;
    std::size_t max_per_address_ = no_limit;
    Duration idle_timeout_ = forever();
    Duration read_timeout_ = forever();
    Duration write_timeout_ = forever();
    WriteLimits write_limits_;
    std::size_t stream_limit_ = Stream::default_limit;
};

}  // namespace net
}  // namespace reactor

#endif
