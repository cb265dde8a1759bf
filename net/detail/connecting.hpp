// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_CONNECTING_HPP
#define REACTOR_NET_DETAIL_CONNECTING_HPP

#include <net/connect_options.hpp>
#include <net/detail/new_connection.hpp>
#include <net/endpoint.hpp>
#include <net/port.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <string>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

/// What connect(), create_connection() and open_connection() have in common: everything that
/// connect() promises, but what the connection is made into. `call` is the caller's name, for what
/// is thrown at once.
Promise<NewConnection> connecting(const char* call, EventLoop& loop, const std::string& host,
                                  const Port& port, const ConnectOptions& options);
Promise<NewConnection> connecting(const char* call, EventLoop& loop,
                                  std::vector<Endpoint> addresses, const ConnectOptions& options);

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
