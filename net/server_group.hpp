// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_SERVER_GROUP_HPP
#define REACTOR_NET_SERVER_GROUP_HPP

#include <net/endpoint.hpp>
#include <net/listening_sockets.hpp>
#include <net/protocol.hpp>
#include <net/server.hpp>
#include <net/server_options.hpp>
#include <net/stream_handler.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/loop_group.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace reactor {
namespace net {

namespace detail {

class ServerGroupState;
struct ServerGroupAccess;

}  // namespace detail

/// How clients come to the loops of a ServerGroup.
enum class Spread {
    /// Every loop listens (SO_REUSEPORT), and the system chooses by a hash of the addresses: no
    /// way from thread to thread, and even for many clients only. With max_connections() a client
    /// whose loop is full waits for that loop, though another one may have room. Where one of the
    /// addresses is a Unix socket's, as `in_turn`.
    by_system,
    /// The first loop listens, and gives each client to the next loop that has room: exactly even,
    /// for one post for each client. What Unix and inherited sockets need.
    in_turn
};

/// Makes what serves the clients of one loop: called once for each, on its thread, one loop after
/// the other, never two at the same time. What it returns is that loop's own, and so is what its
/// copies capture; what this function itself captures by reference is all loops'.
using ProtocolFactoryOfLoop = std::function<ProtocolFactory(EventLoop&)>;
using StreamHandlerOfLoop = std::function<StreamHandler(EventLoop&)>;

/// A Server on each loop of a LoopGroup, behind the same addresses. Moves, and is owned by whoever
/// holds it; any thread, one at a time. What it promises is promised on the loop that a call names,
/// which is the caller's: one of the group or any other. Empty when default-constructed or moved
/// from: everything but bool and the destructor throws StateError then. May outlive the group.
///
///     serving ──shutdown()──> clients finish, new ones are served
///                  └──none left, or the grace is over──> closed ──flush──> over
///
/// Destroyed, it stops listening, as close() does: the connections go on without it, and so does a
/// shutdown that has begun.
class ServerGroup {
public:
    ServerGroup() noexcept = default;
    ServerGroup(ServerGroup&&) noexcept = default;
    ServerGroup& operator=(ServerGroup&& other) noexcept;
    ~ServerGroup();

    explicit operator bool() const noexcept { return group_ != nullptr; }

    /// Where all loops listen, with the ports that the system has chosen; after close() too.
    const std::vector<Endpoint>& endpoints() const;

    /// What the servers have seen, one for each loop, or their sums. A loop that has ended counts
    /// as nothing.
    Promise<std::vector<ServerCounters>> counters_by_loop(EventLoop& loop,
                                                          Here here = Here()) const;
    Promise<ServerCounters> counters(EventLoop& loop, Here here = Here()) const;

    /// Each loop accepts who waits, and stops listening then, soon after this returns; the
    /// connections go on. Again: no effect.
    void close();

    /// Ends the service so that nobody is refused or reset who could have been served: goes on
    /// accepting until each loop has had a moment without clients, or `grace` is over; then accepts
    /// who waits and closes the listening sockets; and gives clients what is left of the grace, and
    /// then `flush`, as Server::shutdown() does. The sum of the summaries; `finished` counts those
    /// who came and went meanwhile, too. The clients of a loop that ends before that count as
    /// nothing. Again: each has its own limits, and the shorter one ends the clients. Cancelled:
    /// the limits no longer count, and the sockets stay as they are.
    ///
    /// What nobody can prevent: who is about to connect at the very moment of closing is reset by
    /// the system.
    Promise<ShutdownSummary> shutdown(EventLoop& loop, Duration grace,
                                      Duration flush = std::chrono::seconds(5),
                                      Here here = Here()) const;

private:
    friend struct detail::ServerGroupAccess;
    ServerGroup(std::shared_ptr<detail::ServerGroupState> group,
                std::vector<Endpoint> endpoints) noexcept
        : group_(std::move(group)), endpoints_(std::move(endpoints)) {}
    const std::shared_ptr<detail::ServerGroupState>& state(const char* call) const;

    std::shared_ptr<detail::ServerGroupState> group_;
    std::vector<Endpoint> endpoints_;
};

/// Listens at these addresses for all loops of the group, which runs; all or none, and serves when
/// the promise is done, on `loop`, whose thread calls this. Port 0: the system chooses one, the
/// same for all loops. The options are those of each loop's server, its limits of clients too:
/// max_connections(100) is 200 with two loops.
///
/// Throws std::invalid_argument for an empty function and for start_serving(false). Fails with what
/// create_server() and `factory` throw, and with StateError if a loop of the group has ended or not
/// begun, ends meanwhile (by a LoopExit of `factory`, too), or has a network in memory; nothing
/// listens then, nor if it is cancelled.
Promise<ServerGroup> create_server_group(EventLoop& loop, const LoopGroup& loops,
                                         ProtocolFactoryOfLoop factory,
                                         const std::vector<Endpoint>& at,
                                         const ServerOptions& options = ServerOptions(),
                                         Spread spread = Spread::by_system, Here here = Here());
/// The same with a stream for each client.
Promise<ServerGroup> start_server_group(EventLoop& loop, const LoopGroup& loops,
                                        StreamHandlerOfLoop handler,
                                        const std::vector<Endpoint>& at,
                                        const ServerOptions& options = ServerOptions(),
                                        Spread spread = Spread::by_system, Here here = Here());

/// Take over sockets that listen already; their clients are handed over in turn.
Promise<ServerGroup> create_server_group(EventLoop& loop, const LoopGroup& loops,
                                         ProtocolFactoryOfLoop factory, ListeningSockets sockets,
                                         const ServerOptions& options = ServerOptions(),
                                         Here here = Here());
Promise<ServerGroup> start_server_group(EventLoop& loop, const LoopGroup& loops,
                                        StreamHandlerOfLoop handler, ListeningSockets sockets,
                                        const ServerOptions& options = ServerOptions(),
                                        Here here = Here());

}  // namespace net
}  // namespace reactor

#endif
