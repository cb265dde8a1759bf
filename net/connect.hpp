// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_CONNECT_HPP
#define REACTOR_NET_CONNECT_HPP

#include <net/deadline.hpp>
#include <net/socket.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstdint>
#include <string>
#include <system_error>
#include <vector>

namespace reactor {
namespace net {

/// No address of a host could be connected to, for different reasons. The code is that of the first
/// attempt; the text lists all: "connect to pics.example port 80: 192.0.2.1:80: Connection refused;
/// [2001:db8::1]:80: Network is unreachable".
struct ConnectError : std::system_error {
    ConnectError(const std::string& what, std::vector<std::system_error> all);
    const char* what() const noexcept override { return text_.c_str(); }

    std::vector<std::system_error> attempts;  ///< in the order in which they were made

private:
    std::string text_;
};

/// Looks `host` up and connects to its addresses, one after the other, until one accepts. The
/// deadline is for all together; an attempt gets an equal share of what is left, but at least two
/// seconds, so that an address that does not answer leaves time for the next. If all fail: the one
/// error there is, or the first if all have the same reason, else ConnectError. At the deadline:
/// TimeoutError, whose text lists the attempts so far. Cancelling it ends the attempt; sockets of
/// failed attempts are closed. On the loop's thread; the second form uses the loop that runs on
/// this thread (StateError if none does). asyncio: create_connection.
Promise<Socket> connect(EventLoop& loop, const std::string& host, std::uint16_t port,
                        Deadline deadline = Deadline());
Promise<Socket> connect(const std::string& host, std::uint16_t port,
                        Deadline deadline = Deadline());

}  // namespace net
}  // namespace reactor

#endif
