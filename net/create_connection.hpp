// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_CREATE_CONNECTION_HPP
#define REACTOR_NET_CREATE_CONNECTION_HPP

#include <net/connect_options.hpp>
#include <net/endpoint.hpp>
#include <net/port.hpp>
#include <net/protocol.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <string>
#include <vector>

namespace reactor {
namespace net {

/// Looks `host` up, connects to its addresses as connect() does, and hands the connection to a
/// protocol. The result's protocol() is what the factory has made; null if the connection is lost
/// by then. asyncio: create_connection.
///
/// The factory is called once, from the loop, when the connection is there, and never if it does
/// not come about. Then follow connection_made(), the promise's callbacks, and what the protocol
/// receives. What the factory throws is the promise's error, and the connection is closed at once;
/// so is std::invalid_argument if it gives a null pointer. What connection_made() throws goes to
/// connection_lost() and not to the promise.
///
/// Errors are those of connect(). The deadline is for the connecting and not for the connection.
/// Cancelling the promise ends look-up and attempts, and aborts a connection that was made already:
/// its protocol hears connection_made() and connection_lost(). Once the promise is done the
/// connection lives by itself, see Transport. EventLoop::close() closes what there is.
///
/// On the loop's thread; the form without a loop takes the one that runs on this thread (StateError
/// if none does). Throws std::invalid_argument for an empty factory. For a socket that is connected
/// already there is make_transport().
Promise<Transport> create_connection(EventLoop& loop, ProtocolFactory factory,
                                     const std::string& host, const Port& port,
                                     const ConnectOptions& options = ConnectOptions());
Promise<Transport> create_connection(ProtocolFactory factory, const std::string& host,
                                     const Port& port,
                                     const ConnectOptions& options = ConnectOptions());

/// The same with addresses that are known already, or one; Unix sockets, too. Throws
/// std::invalid_argument if there is none. asyncio: create_unix_connection.
Promise<Transport> create_connection(EventLoop& loop, ProtocolFactory factory,
                                     std::vector<Endpoint> addresses,
                                     const ConnectOptions& options = ConnectOptions());
Promise<Transport> create_connection(ProtocolFactory factory, std::vector<Endpoint> addresses,
                                     const ConnectOptions& options = ConnectOptions());
Promise<Transport> create_connection(EventLoop& loop, ProtocolFactory factory,
                                     const Endpoint& address,
                                     const ConnectOptions& options = ConnectOptions());
Promise<Transport> create_connection(ProtocolFactory factory, const Endpoint& address,
                                     const ConnectOptions& options = ConnectOptions());

}  // namespace net
}  // namespace reactor

#endif
