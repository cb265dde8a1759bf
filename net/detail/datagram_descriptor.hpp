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
#include <memory>

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

/// What came with the bytes of a datagram.
struct Arrival {
    Endpoint from;
    std::size_t size = 0;       // of what is there
    std::size_t full_size = 0;  // of what was sent
    bool truncated() const noexcept { return size < full_size; }
};

/// An open datagram socket, non-blocking and close-on-exec: what a DatagramSocket is made of. Owns
/// the descriptor and, for a Unix path that it has made, the file. Moves; whoever owns it has
/// removed its watches before it is closed. Works on, to be closed, when its loop is gone.
class DatagramDescriptor {
public:
    /// Empty: number() is -1.
    DatagramDescriptor() noexcept;
    DatagramDescriptor(DatagramDescriptor&&) noexcept;
    DatagramDescriptor& operator=(DatagramDescriptor&&) noexcept;
    ~DatagramDescriptor();

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
    const Endpoint& peer() const noexcept { return peer_; }
    /// Asked from the system each time: the first send of an unbound socket changes it.
    Endpoint local() const;

    /// -1 and errno, or 0 and what has come.
    int receive(char* room, std::size_t size, Arrival& arrival) noexcept;
    /// The size of the next datagram, which stays; -1 and errno.
    ::ssize_t next_size() noexcept;
    /// To the peer if `to` is empty. -1 and errno, or what the system took.
    ::ssize_t send(ByteView bytes, const Endpoint& to) noexcept;

    /// Closes, and removes the Unix file if it is still the one that was made here.
    void close() noexcept;
    int release() noexcept;

private:
    explicit DatagramDescriptor(EventLoop& loop);
    int open(int family, const DatagramOptions& options);
    int bind(const Endpoint& local, const DatagramOptions& options);

    std::shared_ptr<boost::asio::io_context> context_;  // outlives socket_
    std::unique_ptr<AsioDatagramSocket> socket_;        // null: closed
    UnixSocketFile file_;
    Endpoint peer_;
    bool connected_ = false;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
