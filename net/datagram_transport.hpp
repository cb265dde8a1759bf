// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DATAGRAM_TRANSPORT_HPP
#define REACTOR_NET_DATAGRAM_TRANSPORT_HPP

#include <net/byte_view.hpp>
#include <net/datagram_protocol.hpp>
#include <net/endpoint.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace reactor {
namespace net {

namespace detail {

class DatagramSettings;
class DatagramTransportState;
struct DatagramTransportAccess;

}  // namespace detail

/// A datagram endpoint (UDP or Unix) that hands what it receives to a DatagramProtocol, and sends
/// without ever blocking; create_datagram_endpoint() makes one. asyncio: DatagramTransport.
///
/// A counted reference, plain: copies are cheap and stay on the loop's thread. The endpoint lives
/// by itself, whether or not anybody holds a reference, until it is lost; a lost one keeps the
/// names it had. Empty when default-constructed or moved from: what is noexcept answers false,
/// zero, -1 or null then, and everything else throws StateError. Any callback may close it, drop
/// it, or destroy its holders.
///
///     open ──close()──> closing: what waits still goes out ──┐
///       └──abort()───────────────────────────────────────────┴─> connection_lost() in the next
///                                                                iteration ─> lost
///
/// A datagram goes and comes as a whole, or not at all, or twice, in any order; an empty one is
/// one. Up to sixteen are received in an iteration, by one call of the system, and handed over one
/// by one in their order.
///
/// What is sent meanwhile, by any endpoint of the loop, goes out in the order of the sends and by
/// as few calls, when the last of them was handed over: no later, also if LoopExit leaves. Until
/// then it is behind what the program does by other means: a Stream, another socket, an option that
/// it sets by itself; and what ends the process loses it. What this class can be asked sends it
/// before: an option, a name, how much waits, close(), abort(); not so write_paused(), which those
/// ask who send much. After one that came alone, and anywhere else, a send goes out at once.
///
/// EventLoop::close() closes the socket and destroys the protocol, without connection_lost(); what
/// is asked of the transport then is answered as of a lost one, and calls have no effect.
class DatagramTransport {
public:
    /// Of max_datagram_size().
    static constexpr std::size_t largest_size = 1024 * 1024;

    DatagramTransport() noexcept = default;
    DatagramTransport(const DatagramTransport& other) noexcept;
    DatagramTransport(DatagramTransport&& other) noexcept : state_(other.state_) {
        other.state_ = nullptr;
    }
    DatagramTransport& operator=(DatagramTransport other) noexcept {
        std::swap(state_, other.state_);
        return *this;
    }
    ~DatagramTransport();

    explicit operator bool() const noexcept { return state_ != nullptr; }
    friend bool operator==(const DatagramTransport& a, const DatagramTransport& b) noexcept {
        return a.state_ == b.state_;
    }
    friend bool operator!=(const DatagramTransport& a, const DatagramTransport& b) noexcept {
        return !(a == b);
    }

    // ---- sending ----

    /// Sends a datagram to the remote address, inside the call (or see above) if the system takes
    /// it; else it is copied, and goes out in its place behind those that wait already. Never
    /// throws for what the network does: that comes to error_received(), and the datagram is
    /// dropped; of calls that fail before the loop has told of it, the first sixteen are told.
    /// Dropped without a word is one for a closing or lost transport (a warning is logged from the
    /// fifth time on). Throws StateError if the endpoint has no remote address. asyncio: sendto.
    void send(ByteView bytes) const;
    /// The same to that address. Throws std::invalid_argument if the endpoint has a remote address
    /// and this is neither that nor what was asked for, or if it is empty. A Unix receiver that is
    /// full, and that the endpoint is not connected to, is asked again at growing intervals, up to
    /// 100 ms.
    void send_to(ByteView bytes, const Endpoint& to) const;

    /// The bytes of the datagrams that wait to be sent.
    std::size_t write_buffer_size() const noexcept;
    /// For all of them each datagram counts some 150 bytes more than its own: empty ones cost
    /// memory, too. With `hard` bytes waiting the next one is dropped, and error_received() told
    /// (ENOBUFS), once for those dropped in a row. Throws std::invalid_argument, and changes
    /// nothing, unless low <= high <= hard. asyncio: 8 bytes more, since 3.13.
    void set_write_limits(WriteLimits limits) const;
    /// Of an empty one: the default.
    WriteLimits write_limits() const noexcept;
    /// Whether more than the high mark is waiting: told to the protocol by pause_writing(), which
    /// comes as a callback of its own, and not at all if it has changed by then.
    bool write_paused() const noexcept;

    // ---- ending ----

    /// Stops receiving at once, sends what waits, and then ends: connection_lost(null). What was
    /// not handed over yet is dropped. Again: no effect. A Unix receiver that is full and does not
    /// read keeps it from ending, without a limit: abort() does not wait.
    void close() const noexcept;
    /// Drops what waits and ends in the next iteration; also while closing.
    void abort() const noexcept;
    bool is_closing() const noexcept;

    // ---- what it is ----

    /// The longest datagram that is received whole, see datagram_truncated(). Default: 64 KiB,
    /// which holds every one of IP; those of Unix sockets may be longer. Counts from the next event
    /// on. Throws std::invalid_argument unless 1 to `largest_size`; beyond 64 KiB fewer than
    /// sixteen are received at once. asyncio: max_size, 256 KiB.
    void set_max_datagram_size(std::size_t bytes) const;
    std::size_t max_datagram_size() const noexcept;

    /// As the system has it now: the first send of an unbound socket changes it. Once lost, the
    /// last one. asyncio: get_extra_info("sockname").
    Endpoint local_endpoint() const;
    /// Where send() sends to, as the system has it, so that it is what datagrams come from: who
    /// asked for 0.0.0.0 or [::] gets this machine's own address. Empty if there is none. asyncio:
    /// "peername".
    Endpoint remote_endpoint() const;
    /// -1 once the endpoint is lost, or the number is that of another file: see Transport. Stays
    /// the transport's: neither closed nor watched by others. What the system puts into its error
    /// queue, if somebody asks for that (IP_RECVERR, SO_TIMESTAMPING), is thrown away.
    int native_handle() const noexcept;
    /// Null once the endpoint is lost.
    DatagramProtocol* protocol() const noexcept;
    /// The next callbacks go to another one, without a connection_made(). The old one is destroyed
    /// when it no longer runs. Throws std::invalid_argument for null; on a lost transport nothing
    /// happens. asyncio: set_protocol.
    void set_protocol(std::unique_ptr<DatagramProtocol> protocol) const;
    EventLoop& loop() const;

    // ---- socket options, as DatagramSocket has them: StateError once the endpoint is lost ----

    void set_broadcast(bool on) const;
    bool broadcast() const;
    void set_ttl(int hops) const;
    int ttl() const;
    void set_send_buffer_size(int bytes) const;
    int send_buffer_size() const;
    void set_receive_buffer_size(int bytes) const;
    int receive_buffer_size() const;
    void join_group(const Endpoint& group, unsigned interface_index = 0) const;
    void leave_group(const Endpoint& group, unsigned interface_index = 0) const;
    void set_multicast_interface(unsigned interface_index) const;
    void set_multicast_ttl(int hops) const;
    int multicast_ttl() const;
    void set_multicast_loop(bool on) const;
    bool multicast_loop() const;

private:
    friend struct detail::DatagramTransportAccess;
    /// Adds a reference.
    explicit DatagramTransport(detail::DatagramTransportState* state) noexcept;
    detail::DatagramTransportState& state(const char* call) const;
    detail::DatagramSettings settings(const char* call) const;

    detail::DatagramTransportState* state_ = nullptr;
};

}  // namespace net
}  // namespace reactor

#endif
