// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_CREATE_DATAGRAM_ENDPOINT_HPP
#define REACTOR_NET_CREATE_DATAGRAM_ENDPOINT_HPP

#include <net/datagram_endpoint_options.hpp>
#include <net/datagram_protocol.hpp>
#include <net/datagram_socket.hpp>
#include <net/datagram_transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

namespace reactor {
namespace net {

/// Opens a datagram socket, binds and connects it as the options say, and hands it to a protocol.
/// The result's protocol() is what the factory has made; null if the endpoint is lost by then.
/// asyncio: create_datagram_endpoint.
///
///     create_datagram_endpoint(loop, factory, DatagramEndpointOptions().local({"0.0.0.0", 53}));
///
/// Of a name with several addresses the first one that can be taken is, together with one of the
/// same family at the other end if there are both. The factory is called once, from the loop, when
/// the socket is there, and never if it does not come about. Then follow connection_made(), the
/// promise's callbacks, and what the protocol receives. What the factory throws is the promise's
/// error, and the socket is closed at once; so is std::invalid_argument if it gives a null pointer.
///
/// Fails with std::system_error ("bind 127.0.0.1:53: Permission denied", "connect to 10.0.0.9:53:
/// Network is unreachable"; of several the first one), with what resolve() fails with, and with
/// std::invalid_argument if names have led to no two addresses of one family. Cancelling the
/// promise ends the look-up, and aborts an endpoint that was made already. Once the promise is done
/// the endpoint lives by itself, see DatagramTransport. EventLoop::close() closes what there is.
///
/// On the loop's thread; the form without a loop takes the one that runs on this thread (StateError
/// if none does). Throws std::invalid_argument for an empty factory, for options without an address
/// and a family, and for addresses of two families; StateError for a loop with a network in memory,
/// which has no datagrams.
Promise<DatagramTransport> create_datagram_endpoint(EventLoop& loop,
                                                    DatagramProtocolFactory factory,
                                                    const DatagramEndpointOptions& options);
Promise<DatagramTransport> create_datagram_endpoint(DatagramProtocolFactory factory,
                                                    const DatagramEndpointOptions& options);

/// The same with a socket that is open already, of this loop, with all the options that it was
/// given, connected or not; what it waited for is cancelled. One of somebody else's:
/// DatagramSocket::adopt(). Throws StateError if it is empty or closed, and std::invalid_argument
/// if it is another loop's, and leaves it alone then. asyncio: sock.
Promise<DatagramTransport> create_datagram_endpoint(EventLoop& loop,
                                                    DatagramProtocolFactory factory,
                                                    DatagramSocket&& socket);
Promise<DatagramTransport> create_datagram_endpoint(DatagramProtocolFactory factory,
                                                    DatagramSocket&& socket);

}  // namespace net
}  // namespace reactor

#endif
