// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_SERVER_HPP
#define REACTOR_NET_SERVER_HPP

#include <net/endpoint.hpp>
#include <net/listening_sockets.hpp>
#include <net/port.hpp>
#include <net/protocol.hpp>
#include <net/server_options.hpp>
#include <net/stream_handler.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace reactor {
namespace net {

namespace detail {

class ServerState;
struct ServerAccess;

}  // namespace detail

/// What a server has seen so far. A value.
struct ServerCounters {
    std::uint64_t accepted = 0;          ///< clients that were given a protocol or a handler,
    std::size_t open = 0;                ///< whose connection is not lost yet
    std::uint64_t refused_by_limit = 0;  ///< that were reset because of max_per_address
    std::uint64_t failed = 0;            ///< whose factory threw, or that were gone before accept
    std::uint64_t rests = 0;             ///< times that the system had no descriptor or memory left
};

/// What became of the clients that were there at a Server::shutdown(). A value.
struct ShutdownSummary {
    std::size_t finished = 0;  ///< by themselves, within the grace
    std::size_t closed = 0;    ///< by shutdown(); what was written to them has been sent
    std::size_t aborted = 0;   ///< had not gone after that
};

/// Listening sockets, and the connections that came through them. asyncio: Server.
///
/// Moves, and is owned by whoever holds it; used on its loop's thread. Destroyed, it stops
/// listening, as close() does: the connections go on without it. Empty when default-constructed or
/// moved from: what is noexcept has no effect or answers false then, and everything else throws
/// StateError. Any callback may close it or destroy it. When the loop closes first, nothing is
/// called any more, and it is a closed server.
///
///     bound ──start_serving()──> serving ──close(), shutdown(), destroyed──> closed
///
/// In one iteration it accepts at most as many clients as its backlog holds, on each socket. Each
/// gets a protocol from the factory; what that throws costs its client the connection, and nobody
/// else (debug mode reports it). A client that is gone before it is accepted, and errors of its
/// network, are passed over. Out of descriptors or memory, or refused by the selector, it reports
/// that and rests for a second, or until a connection of the loop has ended; the clients wait in
/// the backlog. A listening socket that somebody else has closed is left alone, as a
/// Listener's is (see Listener::accept()), and the others serve on.
class Server {
public:
    Server() noexcept = default;
    Server(Server&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
    Server& operator=(Server&& other) noexcept;
    ~Server();

    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// For a server that was made with start_serving(false). Again: no effect. Throws
    /// std::system_error, and StateError on a closed server.
    void start_serving();
    bool is_serving() const noexcept;
    /// Done when somebody has closed the server, all connections are lost and all handlers of
    /// start_server() done; starts serving. Cancelling it closes the server.
    Promise<void> serve_forever(Here here = Here());

    /// Stops listening at once; the connections go on. Clients in the backlog are reset. The file
    /// of a Unix path is removed if it is still this server's. Again: no effect.
    void close() noexcept;
    /// Done when the server is closed and its last connection is lost.
    Promise<void> wait_closed(Here here = Here());
    /// Transport::close() of every connection there is, and abort(): a shutdown() that goes on
    /// counts them as aborted then.
    void close_clients() noexcept;
    void abort_clients() noexcept;

    /// Closes the server; gives connections and handlers `grace` to finish by themselves, then
    /// cancels the handlers, which may still say goodbye, and closes the connections that have
    /// none, then, after `flush`, aborts what is left. Done when all is over. Again: each has its
    /// own limits, and the shorter one ends the clients. Cancelled: the limits no longer count.
    Promise<ShutdownSummary> shutdown(Duration grace, Duration flush = std::chrono::seconds(5),
                                      Here here = Here());

    /// Where it listens, with the ports that the system has chosen; empty once closed. asyncio:
    /// sockets.
    std::vector<Endpoint> endpoints() const;
    ServerCounters counters() const;
    EventLoop& loop() const;

private:
    friend struct detail::ServerAccess;
    /// Takes over a reference.
    explicit Server(detail::ServerState* state) noexcept : state_(state) {}
    detail::ServerState& state(const char* call) const;

    detail::ServerState* state_ = nullptr;
};

// ---- made: with a protocol for each client --------------------------------------------------

/// Listens at these addresses, IP or Unix, all or none; duplicates count once. Port 0 lets the
/// system choose, for each address by itself. A Unix path that a server has left behind is taken
/// over, one that is alive or no socket is not. Throws std::system_error ("listen on 127.0.0.1:80:
/// Permission denied"), std::invalid_argument for no address and for an empty factory.
Server create_server(EventLoop& loop, ProtocolFactory factory, const std::vector<Endpoint>& at,
                     const ServerOptions& options = ServerOptions());
Server create_server(EventLoop& loop, ProtocolFactory factory, const Endpoint& at,
                     const ServerOptions& options = ServerOptions());

/// The same with names of hosts, which are looked up first: all their addresses. An empty host is
/// every interface, with one socket for each family. Families that the system does not have are
/// left out as long as an address is left. Fails with what resolve() and the other form throw.
/// Cancelled: nothing listens.
Promise<Server> create_server(EventLoop& loop, ProtocolFactory factory, const std::string& host,
                              const Port& port, const ServerOptions& options = ServerOptions(),
                              Here here = Here());
Promise<Server> create_server(EventLoop& loop, ProtocolFactory factory,
                              const std::vector<std::string>& hosts, const Port& port,
                              const ServerOptions& options = ServerOptions(), Here here = Here());

/// Takes over sockets that somebody else has opened, such as systemd; see inherited_sockets().
/// Throws std::invalid_argument for none, and for one that is no stream socket or does not listen.
Server create_server(EventLoop& loop, ProtocolFactory factory, ListeningSockets sockets,
                     const ServerOptions& options = ServerOptions());

// ---- the same with a stream for each client -------------------------------------------------

Server start_server(EventLoop& loop, StreamHandler handler, const std::vector<Endpoint>& at,
                    const ServerOptions& options = ServerOptions());
Server start_server(EventLoop& loop, StreamHandler handler, const Endpoint& at,
                    const ServerOptions& options = ServerOptions());
Promise<Server> start_server(EventLoop& loop, StreamHandler handler, const std::string& host,
                             const Port& port, const ServerOptions& options = ServerOptions(),
                             Here here = Here());
Promise<Server> start_server(EventLoop& loop, StreamHandler handler,
                             const std::vector<std::string>& hosts, const Port& port,
                             const ServerOptions& options = ServerOptions(), Here here = Here());
Server start_server(EventLoop& loop, StreamHandler handler, ListeningSockets sockets,
                    const ServerOptions& options = ServerOptions());

}  // namespace net
}  // namespace reactor

#endif
