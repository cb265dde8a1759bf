// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DATAGRAM_SOCKET_HPP
#define REACTOR_NET_DATAGRAM_SOCKET_HPP

#include <net/byte_view.hpp>
#include <net/datagram_options.hpp>
#include <net/deadline.hpp>
#include <net/endpoint.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace reactor {
namespace net {

namespace detail {

class DatagramSettings;
class DatagramState;
struct DatagramSocketAccess;

}  // namespace detail

/// A datagram that has come; a value.
struct Datagram {
    std::string bytes;
    Endpoint from;              ///< who has sent it, "unix:" for a Unix socket without a name
    std::size_t full_size = 0;  ///< as it was sent
    bool truncated = false;     ///< `bytes` is only its beginning: it was longer than asked for
};

/// One whose bytes are in a buffer of the caller's; a value.
struct DatagramInBuffer {
    std::size_t size = 0;  ///< so many are there
    Endpoint from;
    std::size_t full_size = 0;
    bool truncated = false;
};

/// A datagram socket (UDP or Unix) whose operations are promises, beside the stream's net::Socket.
/// asyncio: loop.sock_recvfrom, sock_recvfrom_into, sock_sendto.
///
/// Open from its construction on. Moves, and is owned by whoever holds it; used on its loop's
/// thread, where any callback may destroy it. Empty when default-constructed or moved from;
/// everything but bool, assignment, close() and destruction throws StateError then, and so it does
/// once it is closed.
///
/// A datagram comes as a whole, or not at all, or twice, in any order; an empty one is one. One
/// receive may be pending at a time: another one throws StateError. Sends queue up and go out in
/// the order of the calls. Each operation can be cancelled, which neither takes nor sends anything,
/// and takes a deadline after which it fails with TimeoutError. What can be done at once is tried
/// inside the call; the promise's callbacks run from the loop all the same.
///
/// Errors are std::system_error (category std::system_category()) whose text names the step, the
/// address and the system's reason: "send to 127.0.0.1:9: Connection refused". The socket stays
/// usable, and the sends behind a failed one go on. On a connected UDP socket what the network says
/// of an earlier datagram (ECONNREFUSED, EHOSTUNREACH: ICMP) fails the operation that hears it
/// first, be it a send, whose own datagram is not sent then, or a receive. A descriptor that the
/// loop's selector refuses, or lets go of later, fails what would have to wait, or waits, for it;
/// as in net/socket.hpp, where it says whose the number is meanwhile, and what happens when it is
/// another file's: this socket is closed then, and the file of a Unix path stays. In debug mode
/// receive and send throw std::invalid_argument if somebody has taken O_NONBLOCK from the
/// descriptor.
///
/// close(), release() and the destructor cancel what is pending: those promises end with
/// CancelledError. After the loop was closed it can only be closed and destroyed. A loop with a
/// network in memory has no datagrams: StateError.
class DatagramSocket {
public:
    /// Holds every datagram of IP; a Unix socket's may be longer.
    static constexpr std::size_t max_size = 64 * 1024;

    DatagramSocket() noexcept;
    /// Bound to that address; port 0 lets the system choose: see local_endpoint(). The file of a
    /// Unix path is the socket's, as a Listener's is: close() removes it, and one whose socket is
    /// gone is replaced. Throws std::system_error ("bind 127.0.0.1:53: Permission denied"),
    /// std::invalid_argument for an empty address and permissions that are none.
    DatagramSocket(EventLoop& loop, const Endpoint& local,
                   DatagramOptions options = DatagramOptions());
    /// Without an address: the first send gets one from the system, but for a Unix socket, to which
    /// nobody can answer. Throws std::system_error, std::invalid_argument for Family::none.
    DatagramSocket(EventLoop& loop, Endpoint::Family family,
                   DatagramOptions options = DatagramOptions());
    DatagramSocket(DatagramSocket&&) noexcept;
    DatagramSocket& operator=(DatagramSocket&&) noexcept;
    ~DatagramSocket();

    /// Takes over a datagram socket's descriptor, connected or not, and makes it non-blocking and
    /// close-on-exec; a Unix path stays the caller's. Throws std::invalid_argument for what is no
    /// datagram socket; StateError for a descriptor that a transport or a listening socket of this
    /// loop has; std::system_error; the descriptor stays the caller's then. Whatever else of this
    /// loop has had the number, a socket or a callback of add_reader(), has lost it.
    static DatagramSocket adopt(EventLoop& loop, int descriptor);

    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// From now on sends to that address and receives from there only, and hears the network's
    /// errors; again: another address. Done at once. What came from others before is received
    /// still. A Unix socket whose peer is gone must be connected again. Throws std::system_error
    /// ("connect to unix:/run/app: No such file or directory"); StateError while sends wait.
    void connect(const Endpoint& remote);

    /// The next datagram, of which at most `max` bytes: the rest of a longer one is lost, and
    /// `truncated` says so. Cancelled or late, it has taken nothing.
    Promise<Datagram> receive_from(std::size_t max = max_size, Deadline deadline = Deadline(),
                                   Here here = Here());
    /// The same into `buffer`, which must last, and is written to only, until the promise is done.
    Promise<DatagramInBuffer> receive_into(char* buffer, std::size_t size,
                                           Deadline deadline = Deadline(), Here here = Here());
    /// Of a connected socket (else StateError), the bytes alone; a longer one is cut without a
    /// word.
    Promise<std::string> receive(std::size_t max = max_size, Deadline deadline = Deadline(),
                                 Here here = Here());

    /// Sends one datagram; done with its size when the system has taken it, which is all that is
    /// known of its way. The bytes are copied only if it has to wait. One too long is EMSGSIZE:
    /// "send 70000 bytes to 127.0.0.1:9: Message too long". A Unix receiver that is full and that
    /// this socket is not connected to is asked again, at growing intervals, until the deadline.
    Promise<std::size_t> send_to(ByteView bytes, const Endpoint& to, Deadline deadline = Deadline(),
                                 Here here = Here());
    /// The same to the address of connect(): else StateError.
    Promise<std::size_t> send(ByteView bytes, Deadline deadline = Deadline(), Here here = Here());

    /// Cancels what is pending and closes. Again, or if empty: no effect. Works on a closed loop
    /// too.
    void close() noexcept;
    /// Cancels what is pending and gives the descriptor, non-blocking, to the caller, and with it
    /// the file of a Unix path. -1 if the number is that of another file by now.
    int release();

    bool is_open() const noexcept;
    bool is_connected() const noexcept;
    /// The descriptor, -1 if closed, or its number is that of another file by now. Stays the
    /// socket's. While something waits, what the system puts into its error queue, if somebody
    /// asks for that (IP_RECVERR, SO_TIMESTAMPING), is thrown away.
    int native_handle() const noexcept;
    EventLoop& loop() const;

    /// As the system has it now.
    Endpoint local_endpoint() const;
    /// As the system has it: after connect() to 0.0.0.0 or [::] this machine's own address.
    /// StateError if not connected.
    Endpoint remote_endpoint() const;

    // Socket options. What the system says is thrown.

    /// SO_BROADCAST: without it, sending to a broadcast address is EACCES.
    void set_broadcast(bool on);
    bool broadcast() const;
    /// IP_TTL, IPV6_UNICAST_HOPS. Throws std::invalid_argument unless 0 to 255, here and below.
    void set_ttl(int hops);
    int ttl() const;
    /// SO_SNDBUF and SO_RCVBUF. Linux has twice as much then, half of it for what it keeps beside
    /// the bytes: told is what is for these, which is what was asked for.
    void set_send_buffer_size(int bytes);
    void set_receive_buffer_size(int bytes);
    int send_buffer_size() const;
    int receive_buffer_size() const;

    /// From now on receives what is sent to that group (its port does not count) and our port. On
    /// the network interface of that number (if_nametoindex), 0: the zone of the group's address,
    /// else the system's choice. Throws std::invalid_argument unless it is an IP address.
    void join_group(const Endpoint& group, unsigned interface_index = 0);
    /// The counterpart of the same join.
    void leave_group(const Endpoint& group, unsigned interface_index = 0);
    /// Where what is sent to groups leaves; 0: the system's choice.
    void set_multicast_interface(unsigned interface_index);
    /// IP_MULTICAST_TTL, IPV6_MULTICAST_HOPS: 1 stays in the local network, which is the default.
    void set_multicast_ttl(int hops);
    int multicast_ttl() const;
    /// Whether this host's members of the group get it, too: on by default.
    void set_multicast_loop(bool on);
    bool multicast_loop() const;

private:
    friend struct detail::DatagramSocketAccess;

    detail::DatagramState& state(const char* call) const;
    detail::DatagramState& opened(const char* call) const;
    detail::DatagramState& connected(const char* call) const;
    detail::DatagramSettings settings(const char* call) const;

    std::unique_ptr<detail::DatagramState> state_;
};

}  // namespace net
}  // namespace reactor

#endif
