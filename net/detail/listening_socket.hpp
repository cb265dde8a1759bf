// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_LISTENING_SOCKET_HPP
#define REACTOR_NET_DETAIL_LISTENING_SOCKET_HPP

#include <net/detail/socket_calls.hpp>
#include <net/detail/socket_service.hpp>
#include <net/detail/unix_socket_file.hpp>
#include <net/endpoint.hpp>
#include <reactor/event_loop.hpp>

#include <memory>

namespace reactor {
namespace net {
namespace detail {

struct ListeningOptions {
    int backlog;  // how many clients may wait to be accepted
    bool reuse_address;
    bool reuse_port;
    bool v6_only;
    int permissions;  // of a Unix path; -1: what the umask leaves of 0777
};

/// A socket that listens, non-blocking and close-on-exec: what Listener and Server are made of.
/// Owns the descriptor and, for a Unix path that it has made, the file. Moves; whoever owns it has
/// removed its watch before it is closed. Works on, to be closed, when its loop is gone.
///
/// In a network in memory the address is taken by listen(), which is one step there with open():
/// before it there is no descriptor, and no port for port 0.
class ListeningSocket {
public:
    /// Empty: descriptor() is -1.
    ListeningSocket() noexcept;
    ListeningSocket(ListeningSocket&&) noexcept;
    ListeningSocket& operator=(ListeningSocket&&) noexcept;
    ~ListeningSocket();

    /// Takes the address, where clients are refused before listen(). Throws std::system_error
    /// ("listen on 127.0.0.1:80: Address already in use"), std::invalid_argument for permissions
    /// that are none.
    static ListeningSocket open(EventLoop& loop, const Endpoint& at,
                                const ListeningOptions& options);
    /// Throws likewise: two TCP sockets may be open at one address with reuse_address, and the
    /// first one to listen keeps the other one out. Again: no effect.
    void listen();

    /// Takes over one that somebody else has opened and that listens already; a Unix path stays
    /// theirs. Throws std::invalid_argument for what is no listening stream socket,
    /// std::system_error; the descriptor is the caller's still.
    static ListeningSocket adopt(EventLoop& loop, int descriptor);

    bool is_open() const noexcept { return open_; }
    int descriptor() const noexcept { return descriptor_; }
    /// With the port that the system has chosen; after close() too.
    const Endpoint& local() const noexcept { return local_; }

    /// The next client's descriptor, non-blocking and close-on-exec, and its address; -1 and errno.
    int accept(Endpoint& peer) noexcept;

    /// Closes, and removes the Unix file if it is still the one that was made here. In a forked
    /// child it only closes. Again: no effect.
    void close() noexcept;

    /// Somebody else has closed the descriptor: forgets it, whose number may be another file's by
    /// now. A Unix file stays, since without its socket nobody can tell whose it is.
    void let_go() noexcept;

private:
    ListeningSocket(EventLoop& loop, const Endpoint& at, const ListeningOptions& options);

    void prepare();
    void bind();
    [[noreturn]] void fail(int code) const;

    ListeningOptions options_;
    Endpoint local_;
    SocketCalls calls_;
    std::shared_ptr<boost::asio::io_context> context_;  // outlives acceptor_
    std::unique_ptr<AsioAcceptor> acceptor_;            // null in a network in memory
    UnixSocketFile file_;
    int descriptor_ = -1;
    bool open_ = false;
    bool listens_ = false;
};

/// What accept4() says of the client that it would have given, or of its network: the next one may
/// be fine. accept(2) asks for this list to be treated like EAGAIN (nodejs/node#45242,
/// hickory-dns/hickory-dns#3726 are listeners that did not).
bool accept_error_concerns_one_client(int code) noexcept;

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
