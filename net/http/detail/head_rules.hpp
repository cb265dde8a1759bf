// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_HTTP_DETAIL_HEAD_RULES_HPP
#define REACTOR_NET_HTTP_DETAIL_HEAD_RULES_HPP

#include <net/http/message.hpp>
#include <string>

namespace reactor {
namespace net {
namespace detail {

/// Throws HttpError "HTTP request: `what`", or "HTTP response: ...".
[[noreturn]] void fail_message(bool is_request, HttpError::Kind kind, const std::string& what);

/// What Beast lets pass and we refuse, since two readers could take it in two ways: a request of
/// HTTP/1.1 without Host, or any with several; a request's Content-Length that is a list or given
/// twice; a Transfer-Encoding other than "chunked"; a status below 100. HttpError `malformed` or
/// `framing`.
void check_head(const RequestHead& head);
void check_head(const ResponseHead& head);

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
