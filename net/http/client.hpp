// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_HTTP_CLIENT_HPP
#define REACTOR_NET_HTTP_CLIENT_HPP

#include <net/http/message.hpp>
#include <net/http/parser.hpp>
#include <net/http/url.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <functional>
#include <string>

namespace reactor {
namespace net {

/// The answer to a request, whole. A value.
struct HttpResponse {
    ResponseHead head;
    std::string body;           ///< as sent, with only the transfer coding removed
    Url url;                    ///< where it came from in the end
    std::size_t redirects = 0;  ///< how many were followed
};

/// How http_get() asks.
struct GetOptions {
    /// How many redirects (301, 302, 303, 307, 308) are followed. asyncio has no HTTP; curl's
    /// default is 50, browsers' 20.
    std::size_t max_redirects = 10;
    /// For the whole of it, in the loop's time: look-up, connects, redirects and body.
    TimePoint deadline = never();
    /// Limits of head and body.
    ParserOptions limits;
    /// Sent as they are, to every host that a redirect leads to: nothing secret. Host, Connection
    /// and Accept-Encoding are the client's own.
    HeaderFields fields;
    /// Told when a connection is about to be made: once for each URL, redirects included.
    std::function<void(const Url&)> on_connect;
};

/// Asks for `url` by GET over a connection of its own (HTTP/1.1, RFC 9110 and 9112) and follows
/// redirects. The promise is a task: state() tells where it is, cancel() ends it wherever it waits
/// and closes the connection.
///
/// Delivers, each with the step and the address or URL in what(): std::system_error of look-up,
/// connect, send or receive; TimeoutError at the deadline; HttpError for an answer that is cut
/// short, not HTTP, or over a limit, of kind `redirects` for too many of them, and of kind
/// `unsupported` for an https URL; UrlError for a Location that is no URL. Any status is a
/// response; a redirect without Location is one too.
TaskHandle<HttpResponse> http_get(EventLoop& loop, Url url, GetOptions options = GetOptions());

}  // namespace net
}  // namespace reactor

#endif
