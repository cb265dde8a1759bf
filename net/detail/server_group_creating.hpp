// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SERVER_GROUP_CREATING_HPP
#define REACTOR_NET_DETAIL_SERVER_GROUP_CREATING_HPP

#include <net/detail/listening_socket.hpp>
#include <net/server_group.hpp>

#include <functional>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

/// Makes a loop's server, on its thread.
using MakeServer =
    std::function<Server(EventLoop&, std::vector<ListeningSocket>, const ServerOptions&)>;

/// Throw std::invalid_argument for an empty function.
MakeServer server_maker(ProtocolFactoryOfLoop factory);
MakeServer server_maker(StreamHandlerOfLoop handler);

/// create_server_group(), which listens at `at`, or takes over what is given, if that is not null.
Promise<ServerGroup> make_server_group(EventLoop& loop, const LoopGroup& loops, MakeServer make,
                                       std::vector<Endpoint> at, ListeningSockets* given,
                                       ServerOptions options, Spread spread, const Here& here);

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
