// SPDX-License-Identifier: BSL-1.0
#include <net/create_connection.hpp>
#include <net/detail/connecting.hpp>
#include <reactor/task.hpp>

#include <memory>
#include <stdexcept>
#include <utility>

namespace reactor {
namespace net {

namespace {

using detail::NewConnection;

/// Owns the connection until its promise is done: whatever comes in between ends it.
///
///     start ──> connected: the protocol is made ──> made: connection_made() was called
class Creating final : public Task<Transport> {
public:
    Creating(Promise<NewConnection> connecting, ProtocolFactory factory)
        : connecting_(std::move(connecting)), factory_(std::move(factory)) {}
    ~Creating() override {
        if (connecting_) connecting_.cancel();  // cancelled before the first step
        transport_.abort();
    }

private:
    Next start() override { return await(std::move(connecting_), &Creating::connected); }

    Next connected(NewConnection connection) {
        std::unique_ptr<Protocol> protocol = factory_();
        if (!protocol) {
            throw std::invalid_argument("create_connection: the factory gave a null pointer");
        }
        factory_ = nullptr;  // before there is a connection that what it captured could cancel
        transport_ = connection.start(loop(), std::move(protocol));
        return yield(&Creating::made);  // behind connection_made(), in the same batch
    }

    Next made() { return finish(transport_); }

    Next finally() override {
        if (!error()) transport_ = Transport();
        return end();
    }

    Promise<NewConnection> connecting_;
    ProtocolFactory factory_;
    Transport transport_;
};

template <class... Where>
Promise<Transport> create(EventLoop& loop, ProtocolFactory factory, const ConnectOptions& options,
                          Where&&... where) {
    const char* const call = "create_connection";
    loop.core().check(call);
    if (!factory) throw std::invalid_argument(std::string(call) + ": the factory is empty");
    return loop.create_task<Creating>(
        detail::connecting(call, loop, std::forward<Where>(where)..., options), std::move(factory));
}

}  // namespace

Promise<Transport> create_connection(EventLoop& loop, ProtocolFactory factory,
                                     const std::string& host, const Port& port,
                                     const ConnectOptions& options) {
    return create(loop, std::move(factory), options, host, port);
}

Promise<Transport> create_connection(ProtocolFactory factory, const std::string& host,
                                     const Port& port, const ConnectOptions& options) {
    return create_connection(get_running_loop(), std::move(factory), host, port, options);
}

Promise<Transport> create_connection(EventLoop& loop, ProtocolFactory factory,
                                     std::vector<Endpoint> addresses,
                                     const ConnectOptions& options) {
    return create(loop, std::move(factory), options, std::move(addresses));
}

Promise<Transport> create_connection(ProtocolFactory factory, std::vector<Endpoint> addresses,
                                     const ConnectOptions& options) {
    return create_connection(get_running_loop(), std::move(factory), std::move(addresses), options);
}

Promise<Transport> create_connection(EventLoop& loop, ProtocolFactory factory,
                                     const Endpoint& address, const ConnectOptions& options) {
    return create(loop, std::move(factory), options, std::vector<Endpoint>{address});
}

Promise<Transport> create_connection(ProtocolFactory factory, const Endpoint& address,
                                     const ConnectOptions& options) {
    return create_connection(get_running_loop(), std::move(factory), address, options);
}

}  // namespace net
}  // namespace reactor
