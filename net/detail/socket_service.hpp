// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SOCKET_SERVICE_HPP
#define REACTOR_NET_DETAIL_SOCKET_SERVICE_HPP

#include <net/endpoint.hpp>
#include <reactor/detail/descriptor_watch.hpp>
#include <reactor/event_loop.hpp>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/basic_endpoint.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/system/error_code.hpp>

#include <cerrno>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <system_error>

#include <sys/socket.h>

namespace reactor {
namespace net {
namespace detail {

/// Asio's view of a stream socket of any family. Asio's own protocols open sockets that a program
/// started in the meantime inherits; the two flags ride on the type that it hands to socket().
class StreamProtocol {
public:
    using endpoint = boost::asio::generic::basic_endpoint<StreamProtocol>;
    using socket = boost::asio::basic_stream_socket<StreamProtocol>;

    explicit StreamProtocol(int family, int protocol = 0) noexcept
        : family_(family), protocol_(protocol) {}

    int type() const noexcept { return SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK; }
    int protocol() const noexcept { return protocol_; }
    int family() const noexcept { return family_; }

private:
    int family_;
    int protocol_;
};

using AsioSocket =
    boost::asio::basic_stream_socket<StreamProtocol, boost::asio::io_context::executor_type>;
using AsioAcceptor =
    boost::asio::basic_socket_acceptor<StreamProtocol, boost::asio::io_context::executor_type>;

/// What the sockets of one loop share; a service of the loop.
///
/// The io_context is there because Asio's socket objects want one, and never runs: waiting is the
/// loop's. A Socket may outlive its loop's services, so each keeps a share of it.
class SocketService {
public:
    explicit SocketService(EventLoop& loop);

    std::shared_ptr<boost::asio::io_context> context;

    /// Every read goes through it: a buffer per socket would cost memory for each idle one, and
    /// its cache lines for each busy one.
    static constexpr std::size_t buffer_size = 64 * 1024;
    std::unique_ptr<char[]> buffer;
};

/// For the watches of our own descriptors; who waits is told by the promise, not by a place in
/// here.
inline Options watch_options(const char* label) {
    return Options(Here("", "", 0)).owned_descriptor().label(label);
}

/// How messages name it: its str(), which says nothing of a Unix socket without a name.
std::string in_words(const Endpoint& address);

/// "connect to 127.0.0.1:9: Connection refused".
std::system_error socket_error(int code, const std::string& step, const Endpoint& address);
inline std::system_error socket_error(const boost::system::error_code& code,
                                      const std::string& step, const Endpoint& address) {
    return detail::socket_error(code.value(), step, address);
}

/// The loop's refusal to watch a descriptor, as an error of that step: "read from 127.0.0.1:9:
/// epoll selector: add descriptor 7: No space left on device".
std::system_error watch_error(const std::system_error& refusal, const std::string& step,
                              const Endpoint& address);
/// The same with a step that names what is not reached by an address.
std::system_error watch_error(const std::system_error& refusal, const std::string& step);

/// What an operation fails with whose watch is lost while it waits: "read from 127.0.0.1:9:
/// descriptor 7 cannot be watched any more: No space left on device"; a StateError if it was taken.
std::exception_ptr lost_watch_error(const reactor::detail::WatchLoss& loss, int descriptor,
                                    const char* step, const Endpoint& address) noexcept;

/// In debug mode: throws std::invalid_argument if somebody has taken O_NONBLOCK from a descriptor
/// of ours. Not always, as it costs a system call. asyncio: the same, for sockets that it is given.
void refuse_blocking(const reactor::detail::LoopCore& core, int descriptor, const char* call);

inline bool would_block(int code) noexcept { return code == EAGAIN || code == EWOULDBLOCK; }

StreamProtocol::endpoint to_asio(const Endpoint& endpoint);
Endpoint from_asio(const StreamProtocol::endpoint& endpoint);

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
