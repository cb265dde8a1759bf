// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_DATAGRAM_DESCRIPTOR_HPP
#define REACTOR_NET_DETAIL_DATAGRAM_DESCRIPTOR_HPP

#include <net/byte_view.hpp>
#include <net/datagram_options.hpp>
#include <net/detail/unix_socket_file.hpp>
#include <net/endpoint.hpp>
#include <reactor/event_loop.hpp>

#include <boost/asio/basic_datagram_socket.hpp>
#include <boost/asio/generic/basic_endpoint.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <system_error>

#include <sys/socket.h>
#include <sys/types.h>

namespace reactor {
namespace net {
namespace detail {

/// Asio's view of a datagram socket of any family; see StreamProtocol for the flags.
class AsioDatagramProtocol {
public:
    using endpoint = boost::asio::generic::basic_endpoint<AsioDatagramProtocol>;

    explicit AsioDatagramProtocol(int family, int protocol = 0) noexcept
        : family_(family), protocol_(protocol) {}

    int type() const noexcept { return SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK; }
    int protocol() const noexcept { return protocol_; }
    int family() const noexcept { return family_; }

private:
    int family_;
    int protocol_;
};

using AsioDatagramSocket =
    boost::asio::basic_datagram_socket<AsioDatagramProtocol,
                                       boost::asio::io_context::executor_type>;

class DatagramBatch;
class DatagramGathering;

/// What came with the bytes of a datagram.
struct Arrival {
    Endpoint from;
    std::size_t size;       // of what is there
    std::size_t full_size;  // of what was sent
    bool truncated() const noexcept { return size < full_size; }
};

/// One that waits to be sent.
struct OutgoingDatagram {
    std::string bytes;
    Endpoint to;  // empty: the peer
};

/// An open datagram socket, non-blocking and close-on-exec: what a DatagramSocket and a
/// DatagramTransport are made of. Owns the descriptor and, for a Unix path that it has made, the
/// file. Moves; whoever owns it has removed its watches before it is closed. Works on, to be
/// closed, when its loop is gone.
class DatagramDescriptor {
public:
    /// Empty: number() is -1.
    DatagramDescriptor() noexcept;
    DatagramDescriptor(DatagramDescriptor&&) noexcept;
    DatagramDescriptor& operator=(DatagramDescriptor&&) noexcept;
    ~DatagramDescriptor();

    /// Throws StateError, naming `call`, on a wrong thread, a closed loop, and one that has a
    /// network in memory.
    static void check_loop(const EventLoop& loop, const char* call);
    /// These throw what DatagramSocket's constructors and adopt() promise.
    static DatagramDescriptor bound(EventLoop& loop, const Endpoint& local,
                                    const DatagramOptions& options);
    static DatagramDescriptor unbound(EventLoop& loop, Endpoint::Family family,
                                      const DatagramOptions& options);
    static DatagramDescriptor adopt(EventLoop& loop, int descriptor);

    /// Throws std::system_error, and is connected as it was.
    void connect(const Endpoint& remote);

    AsioDatagramSocket& socket() const noexcept { return *socket_; }
    bool is_open() const noexcept { return socket_ != nullptr; }
    int number() const noexcept { return socket_ ? socket_->native_handle() : -1; }
    bool is_connected() const noexcept { return connected_; }
    /// As the system has it: the one that datagrams come from. Whoever connects to 0.0.0.0 or [::]
    /// is connected to this machine.
    const Endpoint& peer() const noexcept { return peer_; }
    /// Asked from the system each time: the first send of an unbound socket changes it.
    Endpoint local() const;
    /// The same for messages: empty where not even the system knows it.
    Endpoint address() const;

    /// -1 and errno, or 0 and what has come.
    int receive(char* room, std::size_t size, Arrival& arrival) noexcept;
    /// The size of the next datagram, which stays; -1 and errno.
    ::ssize_t next_size() noexcept;
    /// As many as there are, until the batch, which was open()ed, is full. -1 and errno, or how
    /// many.
    int receive(DatagramBatch& batch) noexcept;
    /// An event told of something, and nothing was there: takes what else it may have been, for it
    /// would tell so for ever. What an option of somebody else's has the system note beside the
    /// datagrams (IP_RECVERR, SO_TIMESTAMPING) is thrown away.
    void drop_notes() noexcept;
    /// To the peer if `to` is empty. -1 and errno, or what the system took.
    ::ssize_t send(ByteView bytes, const Endpoint& to) noexcept;
    /// The first ones of a queue, at most 64, in one call. -1 and errno, which is what the first
    /// one met; or how many are out, then the next call tells what was wrong with the one behind
    /// them.
    int send(const std::deque<OutgoingDatagram>& queue) noexcept;
    /// The same of those that were gathered, from that one on.
    int send(DatagramGathering& gathering, unsigned from) noexcept;

    /// Whether writability tells of room at `to`. A Unix socket counts as writable when it has room
    /// itself and so has the receiver that it is connected to: another one, which is full, has to
    /// be asked from time to time.
    bool tells_of_room(const Endpoint& to) const noexcept {
        return to.family() != Endpoint::Family::local || (connected_ && to == peer_);
    }
    /// What a send() of so many bytes has met.
    std::system_error send_error(int code, std::size_t size, const Endpoint& to) const;
    /// Who has sent what came with that address.
    static Endpoint sender(const ::sockaddr_storage& from, ::socklen_t size) noexcept;

    /// Closes, and removes the Unix file if it is still the one that was made here.
    void close() noexcept;
    int release() noexcept;
    /// Somebody else has closed it, and its number may be another file's: forgets the number, so
    /// that everything fails with EBADF. It counts as open until close(). A Unix file stays, since
    /// without its socket nobody can tell whose it is.
    void lose_number() noexcept;

private:
    explicit DatagramDescriptor(EventLoop& loop);
    int open(int family, const DatagramOptions& options);
    int bind(const Endpoint& local, const DatagramOptions& options);

    std::shared_ptr<boost::asio::io_context> context_;  // outlives socket_
    std::unique_ptr<AsioDatagramSocket> socket_;        // null: closed
    UnixSocketFile file_;
    Endpoint peer_;
    bool connected_ = false;
    bool ip_ = false;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
