// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_HTTP_DETAIL_QUOTED_HPP
#define REACTOR_NET_HTTP_DETAIL_QUOTED_HPP

#include <cstddef>
#include <string>

namespace reactor {
namespace net {
namespace detail {

/// Text of a peer or user made safe for an error message: in double quotes, control and non-ASCII
/// bytes as \xHH (a log line must not be forged by what came from the network), cut after `limit`
/// bytes with "..." behind it. Any thread.
std::string quoted(const std::string& text, std::size_t limit = 80);

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
