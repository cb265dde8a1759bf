// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_CONNECT_HPP
#define REACTOR_NET_CONNECT_HPP

#include <net/connect_options.hpp>
#include <net/endpoint.hpp>
#include <net/port.hpp>
#include <net/socket.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

namespace reactor {
namespace net {

/// No address of a host could be connected to, for different reasons. The code is that of the first
/// attempt; the text lists all: "connect to pics.example port 80: 192.0.2.1:80: Connection refused;
/// [2001:db8::1]:80: Network is unreachable". A value.
struct ConnectError : std::system_error {
    ConnectError(const std::string& what, std::vector<std::system_error> all);
    const char* what() const noexcept override { return text_.c_str(); }

    std::vector<std::system_error> attempts;  ///< in the order in which they were begun

private:
    std::string text_;
};

/// Looks `host` up and connects to its addresses, with happy eyeballs (RFC 8305): the families take
/// turns, each attempt gets a head start before the next one, and the first that is accepted is the
/// result; the sockets of the others are closed at once, their promises dropped.
///
/// If all fail: the one error there is, or the first if all have the same reason, else
/// ConnectError. At the deadline, which is for all together: TimeoutError, whose text lists the
/// attempts and tells what it was too late for. If the look-up fails: its error, and for
/// a host that resolve() refuses, what that throws. Cancelling it ends look-up and attempts. On the
/// loop's thread; the second form uses the loop that runs on this thread (StateError if none does).
/// Throws StateError on a loop whose network is in memory (net/testing.hpp): that has no Sockets.
/// asyncio: create_connection.
Promise<Socket> connect(EventLoop& loop, const std::string& host, const Port& port,
                        const ConnectOptions& options = ConnectOptions());
Promise<Socket> connect(const std::string& host, const Port& port,
                        const ConnectOptions& options = ConnectOptions());

/// The same with addresses that are known already. Throws std::invalid_argument if there is none.
Promise<Socket> connect(EventLoop& loop, std::vector<Endpoint> addresses,
                        const ConnectOptions& options = ConnectOptions());

/// The addresses in an order in which their families take turns, after `first_count` of the first
/// one's; the order within a family stays. 0: as they are. Any thread. asyncio: interleave of
/// create_connection; RFC 8305, section 4.
std::vector<Endpoint> interleave(const std::vector<Endpoint>& addresses, std::size_t first_count);

}  // namespace net
}  // namespace reactor

#endif
