// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DATAGRAM_PROTOCOL_HPP
#define REACTOR_NET_DATAGRAM_PROTOCOL_HPP

#include <net/byte_view.hpp>
#include <net/endpoint.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <system_error>

namespace reactor {
namespace net {

class DatagramTransport;

/// What a program does at one datagram endpoint, as callbacks of its transport. asyncio:
/// DatagramProtocol.
///
/// Owned by its transport, which destroys it once connection_lost() has returned, or when the loop
/// closes before that. All is called on the loop's thread, from the loop, never inside a call of
/// the transport, in this order:
///
///     connection_made ─> (datagram_received, datagram_truncated, error_received)* ─>
///                        pause_writing and resume_writing take turns    connection_lost once
///
/// What one of them throws is reported with its name, and the endpoint goes on: one bad datagram is
/// no reason to lose those of others. LoopExit leaves the loop; what was received with that
/// datagram comes when the loop runs again.
class DatagramProtocol {
public:
    DatagramProtocol() = default;
    DatagramProtocol(const DatagramProtocol&) = delete;
    DatagramProtocol& operator=(const DatagramProtocol&) = delete;
    virtual ~DatagramProtocol() = default;

    /// First of all. A protocol that sends keeps a copy of the transport.
    virtual void connection_made(const DatagramTransport& transport);
    /// A datagram as it was sent, perhaps empty, and who has sent it ("unix:" for a Unix socket
    /// without a name). The bytes are the loop's, and gone when this returns.
    virtual void datagram_received(ByteView bytes, const Endpoint& from) = 0;
    /// A datagram of `full_size` bytes was longer than the transport's max_datagram_size(): these
    /// are the ones that there was room for, the rest is lost. By default an error_received()
    /// (EMSGSIZE: "receive 70000 bytes from unix:/run/app, with room for 65536"): half a datagram
    /// never counts as one. asyncio cuts without a word.
    virtual void datagram_truncated(ByteView beginning, const Endpoint& from,
                                    std::size_t full_size);
    /// A datagram could not be sent, and is dropped; or the system says something of an earlier one
    /// ("send to 127.0.0.1:9: Connection refused": ICMP, which only a connected socket hears of).
    /// The endpoint goes on. Does nothing by default: of datagrams nothing is promised.
    virtual void error_received(const std::system_error& error);
    /// Last of all. `error` is null after close() and abort(); else why the endpoint cannot be used
    /// any more: std::system_error, std::bad_alloc.
    virtual void connection_lost(std::exception_ptr error);

    /// More is waiting to be sent than the transport's high mark: send less.
    virtual void pause_writing();
    /// No more than the low mark is waiting.
    virtual void resume_writing();

    /// What reports call it; a text that lives as long as the protocol.
    virtual const char* protocol_name() const noexcept;
};

/// Makes the protocol of a new endpoint. What it throws closes the socket.
using DatagramProtocolFactory = std::function<std::unique_ptr<DatagramProtocol>()>;

}  // namespace net
}  // namespace reactor

#endif
