// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_STREAM_RECEIVER_HPP
#define REACTOR_NET_DETAIL_STREAM_RECEIVER_HPP

#include <net/protocol.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>

#include <exception>

namespace reactor {
namespace net {
namespace detail {

class StreamState;

/// The protocol of a connection whose bytes go to a Stream. Who wants the Stream as soon as the
/// connection is there derives from it:
///
///     void connection_made(const Transport& transport) override {
///         StreamReceiver::connection_made(transport);
///         serve(take_stream());
///     }
class StreamReceiver : public Protocol {
public:
    explicit StreamReceiver(EventLoop& loop);
    ~StreamReceiver() override;

    /// Once: there is one Stream, and who drops it gives the connection up. Good for use from
    /// connection_made() on.
    Stream take_stream() noexcept;
    /// No warning if it is dropped while open: that is how it ends.
    void may_be_dropped() noexcept;

    void connection_made(const Transport& transport) override;
    void data_received(ByteView bytes) final;
    bool eof_received() final;
    void connection_lost(std::exception_ptr error) override;
    void pause_writing() final;
    void resume_writing() final;
    const char* protocol_name() const noexcept override;

private:
    StreamState* const state_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
