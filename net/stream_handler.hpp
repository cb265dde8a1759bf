// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_STREAM_HANDLER_HPP
#define REACTOR_NET_STREAM_HANDLER_HPP

#include <net/stream.hpp>
#include <reactor/callback.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace reactor {
namespace net {

/// What a server does with each client: a callable of a Stream. asyncio: client_connected_cb.
///
/// A value, made from any callable `f` that is called as f(Stream) and returns nothing, a
/// Promise<T> or a task; copies share `f`, which runs on the loop's thread only. It is called from
/// the loop as soon as the connection is there, and owns the stream: dropping it ends the
/// connection. The server keeps the promise, so that nobody else has to; what comes of it:
///
///     value       nothing: whoever has the stream now closes it
///     failure     one report, "Unhandled exception in client_connected_cb", and the connection is
///                 closed, what was written before is sent; the same for what `f` itself throws
///     cancelled   the connection is closed, without a report
///
///     Server server = start_server(loop, serve_with<Echo>(), Endpoint("127.0.0.1", 7));
///     Server server = start_server(loop, [](Stream s) { s.write("no\n"); s.close(); }, at);
class StreamHandler {
public:
    /// Throws std::invalid_argument for a null callable.
    template <class F, class = typename std::enable_if<
                           !std::is_same<typename std::decay<F>::type, StreamHandler>::value>::type>
    StreamHandler(F&& f) {
        reactor::detail::refuse_null(f, "StreamHandler");
        // Shared, so that what can only be moved will do.
        const auto shared = std::make_shared<typename std::decay<F>::type>(std::forward<F>(f));
        call_ = [shared](Stream&& stream) { return outcome(*shared, std::move(stream)); };
    }

    /// Serves one client: calls `f`. Empty if that has returned nothing.
    Promise<void> operator()(Stream stream) const { return call_(std::move(stream)); }

private:
    template <class F>
    static auto outcome(F& f, Stream&& stream) ->
        typename std::enable_if<std::is_void<decltype(f(std::move(stream)))>::value,
                                Promise<void>>::type {
        f(std::move(stream));
        return Promise<void>();
    }
    template <class F>
    static auto outcome(F& f, Stream&& stream) ->
        typename std::enable_if<!std::is_void<decltype(f(std::move(stream)))>::value,
                                Promise<void>>::type {
        return without_value(f(std::move(stream)));
    }
    static Promise<void> without_value(Promise<void> promise) { return promise; }
    template <class T>
    static Promise<void> without_value(const Promise<T>& promise) {
        return promise ? promise.then([] {}) : Promise<void>();
    }

    std::function<Promise<void>(Stream&&)> call_;
};

/// A task of that class for each client, made as create_task<TaskClass>(stream, arguments…) with
/// copies of the arguments; std::ref passes one by reference.
template <class TaskClass, class... Arguments>
StreamHandler serve_with(Arguments... arguments) {
    return [arguments...](Stream stream) {
        EventLoop& loop = stream.loop();
        return loop.create_task<TaskClass>(std::move(stream), arguments...);
    };
}

}  // namespace net
}  // namespace reactor

#endif
