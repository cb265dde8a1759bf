// SPDX-License-Identifier: BSL-1.0
#include <net/detail/connecting.hpp>
#include <net/detail/stream_receiver.hpp>
#include <net/open_connection.hpp>
#include <reactor/task.hpp>

#include <memory>
#include <utility>

namespace reactor {
namespace net {

namespace {

using detail::NewConnection;
using detail::StreamReceiver;

/// Owns the connection until its promise is done.
///
///     start ──> connected ──> made: the Stream can be used
class Opening final : public Task<Stream> {
public:
    explicit Opening(Promise<NewConnection> connecting) : connecting_(std::move(connecting)) {}
    ~Opening() override {
        if (connecting_) connecting_.cancel();  // cancelled before the first step
        stream_.abort();
    }

private:
    Next start() override { return await(std::move(connecting_), &Opening::connected); }

    Next connected(NewConnection connection) {
        std::unique_ptr<StreamReceiver> receiver(new StreamReceiver(loop()));
        stream_ = receiver->take_stream();
        connection.start(loop(), std::move(receiver));
        return yield(&Opening::made);  // behind connection_made(), in the same batch
    }

    Next made() { return finish(std::move(stream_)); }

    Promise<NewConnection> connecting_;
    Stream stream_;
};

template <class... Where>
Promise<Stream> open(EventLoop& loop, Where&&... where) {
    return loop.create_task<Opening>(
        detail::connecting("open_connection", loop, std::forward<Where>(where)...));
}

}  // namespace

Promise<Stream> open_connection(EventLoop& loop, const std::string& host, const Port& port,
                                const ConnectOptions& options) {
    return open(loop, host, port, options);
}

Promise<Stream> open_connection(const std::string& host, const Port& port,
                                const ConnectOptions& options) {
    return open(get_running_loop(), host, port, options);
}

Promise<Stream> open_connection(EventLoop& loop, std::vector<Endpoint> addresses,
                                const ConnectOptions& options) {
    return open(loop, std::move(addresses), options);
}

Promise<Stream> open_connection(std::vector<Endpoint> addresses, const ConnectOptions& options) {
    return open(get_running_loop(), std::move(addresses), options);
}

Promise<Stream> open_connection(EventLoop& loop, const Endpoint& address,
                                const ConnectOptions& options) {
    return open(loop, std::vector<Endpoint>{address}, options);
}

Promise<Stream> open_connection(const Endpoint& address, const ConnectOptions& options) {
    return open_connection(get_running_loop(), address, options);
}

}  // namespace net
}  // namespace reactor
