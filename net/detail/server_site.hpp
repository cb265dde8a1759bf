// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SERVER_SITE_HPP
#define REACTOR_NET_DETAIL_SERVER_SITE_HPP

#include <net/detail/listening_socket.hpp>
#include <net/listening_sockets.hpp>
#include <net/server.hpp>
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

class ServerGroupState;

/// What a Server is made of, for who makes servers.
struct ServerAccess {
    /// Takes over a reference.
    static Server wrap(ServerState* state) noexcept { return Server(state); }
    /// Of one that is not empty.
    static ServerState& state(const Server& server) noexcept { return *server.state_; }
};

/// Opens or takes over what a server listens on, as create_server() does, all or none.
std::vector<ListeningSocket> open_sockets(EventLoop& loop, const std::vector<Endpoint>& at,
                                          const ServerOptions& options);
std::vector<ListeningSocket> adopt_sockets(EventLoop& loop, ListeningSockets given);

/// What a ServerGroup has on one loop.
struct ServerSite {
    std::shared_ptr<ServerGroupState> group;
    Server server;    // the clients', which listens itself if there is no acceptor in the group
    Server acceptor;  // hands the clients over; on the first loop, else empty
    std::size_t index = 0;  // of the loop
    std::size_t holds = 0;  // shutdowns under way
    bool ended = false;     // the ServerGroup has gone: stays as long as it is held

    /// The one that has the sockets; may be a server without any.
    Server& listening() noexcept { return acceptor ? acceptor : server; }
    /// Accepts who waits, then closes the sockets.
    void stop_accepting();
};

/// Those of a loop: a service of the loop, so that what a group has there ends with it, on its
/// thread. Posts from elsewhere find it by the group.
class ServerSites {
public:
    explicit ServerSites(EventLoop& loop);
    /// The loop ends.
    ~ServerSites();
    ServerSites(const ServerSites&) = delete;
    ServerSites& operator=(const ServerSites&) = delete;

    /// Null if that group has none here, or none any more.
    static ServerSite* find(EventLoop& loop, const ServerGroupState* group);
    void add(ServerSite site);
    /// The ServerGroup goes. What is held stays until nobody holds it.
    static void remove(EventLoop& loop, const ServerGroupState* group);
    static void hold(EventLoop& loop, const ServerGroupState* group);
    static void release(EventLoop& loop, const ServerGroupState* group);

private:
    void erase(const ServerGroupState* group);

    std::unordered_map<const ServerGroupState*, ServerSite> sites_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
