// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_PROTOCOL_HPP
#define REACTOR_NET_PROTOCOL_HPP

#include <net/byte_view.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

namespace reactor {
namespace net {

namespace detail {

class TransportState;

}  // namespace detail

class BufferedProtocol;
class Transport;

/// What a program does with one connection, as callbacks of its transport. asyncio: Protocol.
///
/// Owned by its transport, which destroys it once connection_lost() has returned, or when the loop
/// closes before that. All is called on the loop's thread, from the loop, never inside a call of
/// the transport, in this order:
///
///     connection_made ─> (data_received)* ─> eof_received at most once ─> connection_lost once
///                        pause_writing and resume_writing take turns
///
/// What one of them throws is reported with its name, and ends the connection: connection_lost()
/// gets the error, and what was not sent yet is dropped. What pause_writing(), resume_writing() and
/// connection_lost() throw is reported and nothing else. LoopExit leaves the loop.
class Protocol {
public:
    Protocol() = default;
    Protocol(const Protocol&) = delete;
    Protocol& operator=(const Protocol&) = delete;
    virtual ~Protocol() = default;

    /// First of all. A protocol that writes keeps a copy of the transport.
    virtual void connection_made(const Transport& transport);
    /// The bytes that have come, at least one. They are the loop's, and gone when this returns.
    virtual void data_received(ByteView bytes) = 0;
    /// The peer sends no more. False, the default, closes the connection, once what was written has
    /// gone out; true keeps the sending half open, until close().
    virtual bool eof_received();
    /// Last of all. `error` is null after close(), abort() and the peer's orderly end; else what
    /// ended the connection: std::system_error for what the system said, TimeoutError for a time
    /// limit of the transport, what a method of this protocol threw.
    virtual void connection_lost(std::exception_ptr error);

    /// More is waiting to be sent than the transport's high mark: write less.
    virtual void pause_writing();
    /// No more than the low mark is waiting.
    virtual void resume_writing();

    /// What reports call it; a text that lives as long as the protocol.
    virtual const char* protocol_name() const noexcept;

private:
    friend class detail::TransportState;

    // Instead of a dynamic_cast, which a program without RTTI has not.
    virtual BufferedProtocol* buffered() noexcept;
};

/// A protocol that says where the bytes go, so that nothing is copied: for large messages of known
/// size. asyncio: BufferedProtocol.
class BufferedProtocol : public Protocol {
public:
    struct Buffer {
        char* data;
        std::size_t size;
    };

    /// Where the next bytes shall go; `hint` is how many the transport would read by itself. Must
    /// have room for at least one, and be good until buffer_updated(). Also asked for when it turns
    /// out that the stream has ended, or that nothing has come.
    virtual Buffer get_buffer(std::size_t hint) = 0;
    /// So many bytes have been put there.
    virtual void buffer_updated(std::size_t count) = 0;

private:
    void data_received(ByteView bytes) final;
    BufferedProtocol* buffered() noexcept final;
};

/// Makes the protocol of a new connection. What it throws closes the connection.
using ProtocolFactory = std::function<std::unique_ptr<Protocol>()>;

}  // namespace net
}  // namespace reactor

#endif
