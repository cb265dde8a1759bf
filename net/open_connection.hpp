// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_OPEN_CONNECTION_HPP
#define REACTOR_NET_OPEN_CONNECTION_HPP

#include <net/connect_options.hpp>
#include <net/endpoint.hpp>
#include <net/port.hpp>
#include <net/stream.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <string>
#include <vector>

namespace reactor {
namespace net {

/// Looks `host` up, connects to its addresses as connect() does, and gives the connection as a
/// Stream. asyncio: open_connection.
///
/// Errors are those of connect(). The deadline is for the connecting and not for the stream.
/// Cancelling the promise ends look-up and attempts, and aborts a connection that was made already.
///
/// On the loop's thread; the form without a loop takes the one that runs on this thread (StateError
/// if none does). For a socket that is connected already there is make_stream().
Promise<Stream> open_connection(EventLoop& loop, const std::string& host, const Port& port,
                                const ConnectOptions& options = ConnectOptions());
Promise<Stream> open_connection(const std::string& host, const Port& port,
                                const ConnectOptions& options = ConnectOptions());

/// The same with addresses that are known already, or one; Unix sockets, too. Throws
/// std::invalid_argument if there is none. asyncio: open_unix_connection.
Promise<Stream> open_connection(EventLoop& loop, std::vector<Endpoint> addresses,
                                const ConnectOptions& options = ConnectOptions());
Promise<Stream> open_connection(std::vector<Endpoint> addresses,
                                const ConnectOptions& options = ConnectOptions());
Promise<Stream> open_connection(EventLoop& loop, const Endpoint& address,
                                const ConnectOptions& options = ConnectOptions());
Promise<Stream> open_connection(const Endpoint& address,
                                const ConnectOptions& options = ConnectOptions());

}  // namespace net
}  // namespace reactor

#endif
