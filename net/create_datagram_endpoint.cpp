// SPDX-License-Identifier: BSL-1.0
#include <net/create_datagram_endpoint.hpp>
#include <net/detail/datagram_settings.hpp>
#include <net/detail/datagram_state.hpp>
#include <net/detail/datagram_transport_state.hpp>
#include <net/resolver.hpp>
#include <reactor/task.hpp>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace reactor {
namespace net {

using detail::DatagramDescriptor;

namespace {

const char* const call = "create_datagram_endpoint";
using Address = DatagramEndpointOptions::Address;
using Family = Endpoint::Family;

/// Owns the endpoint until its promise is done: whatever comes in between ends it.
///
///     start ─> found_local ─> found_remote: opened, the protocol is made
///       └── a socket ─────────────────────^    └─> made: connection_made() was called
class CreatingEndpoint final : public Task<DatagramTransport> {
public:
    CreatingEndpoint(DatagramProtocolFactory factory, DatagramEndpointOptions options)
        : factory_(std::move(factory)), options_(std::move(options)) {}
    CreatingEndpoint(DatagramProtocolFactory factory, DatagramDescriptor& socket)
        : factory_(std::move(factory)), socket_(std::move(socket)), remote_(socket_.peer()) {}
    ~CreatingEndpoint() override { transport_.abort(); }

private:
    Next start() override {
        if (socket_.is_open()) return make();
        const Address& local = options_.local();
        if (!local.is_name()) return found_local({local.endpoint});
        return await(look_up(local), &CreatingEndpoint::found_local);
    }

    Next found_local(std::vector<Endpoint> addresses) {
        locals_ = std::move(addresses);
        const Address& remote = options_.remote();
        if (!remote.is_name()) return found_remote({remote.endpoint});
        return await(look_up(remote), &CreatingEndpoint::found_remote);
    }

    Next found_remote(std::vector<Endpoint> addresses) {
        std::exception_ptr first;
        for (const Endpoint& local : locals_) {
            for (const Endpoint& remote : addresses) {
                const bool both = !local.empty() && !remote.empty();
                if (both && local.family() != remote.family()) continue;
                try {
                    open(local, remote);
                } catch (const std::system_error&) {
                    if (!first) first = std::current_exception();
                    continue;
                }
                return make();  // what this throws is no reason to try the next address
            }
        }
        if (first) std::rethrow_exception(first);
        throw std::invalid_argument(std::string(call) +
                                    ": the local and the remote name have no addresses of one "
                                    "family");
    }

    Promise<std::vector<Endpoint>> look_up(const Address& address) {
        return resolve(loop(), address.host, address.port,
                       ResolveOptions(options_.deadline()).family(options_.family()));
    }

    void open(const Endpoint& local, const Endpoint& remote) {
        const Family family = remote.empty() ? options_.family() : remote.family();
        DatagramDescriptor socket =
            local.empty() ? DatagramDescriptor::unbound(loop(), family, options_.socket())
                          : DatagramDescriptor::bound(loop(), local, options_.socket());
        if (options_.allow_broadcast()) {
            detail::DatagramSettings(socket).set_broadcast(true);
        } else if (!remote.empty()) {
            socket.connect(remote);
        }
        socket_ = std::move(socket);
        remote_ = remote;
    }

    Next make() {
        std::unique_ptr<DatagramProtocol> protocol = factory_();
        if (!protocol) {
            throw std::invalid_argument(std::string(call) + ": the factory gave a null pointer");
        }
        factory_ = nullptr;  // before there is an endpoint that what it captured could cancel
        transport_ =
            detail::DatagramTransportAccess::make(loop(), socket_, remote_, std::move(protocol));
        return yield(&CreatingEndpoint::made);  // behind connection_made(), in the same batch
    }

    Next made() { return finish(transport_); }

    Next finally() override {
        if (!error()) transport_ = DatagramTransport();
        socket_.close();  // if it did not come to a transport
        return end();
    }

    DatagramProtocolFactory factory_;
    DatagramEndpointOptions options_;
    std::vector<Endpoint> locals_;
    DatagramDescriptor socket_;
    Endpoint remote_;
    DatagramTransport transport_;
};

void check(const EventLoop& loop, const DatagramProtocolFactory& factory) {
    DatagramDescriptor::check_loop(loop, call);
    if (!factory) throw std::invalid_argument(std::string(call) + ": the factory is empty");
}

void check(const DatagramEndpointOptions& options) {
    const Endpoint& local = options.local().endpoint;
    const Endpoint& remote = options.remote().endpoint;
    const Family family = options.family();
    if (options.local().empty() && options.remote().empty() && family == Family::none) {
        throw std::invalid_argument(std::string(call) +
                                    ": neither an address nor a family: give one of them");
    }
    for (const Endpoint& address : {local, remote}) {
        if (address.empty() || family == Family::none || address.family() == family) continue;
        throw std::invalid_argument(std::string(call) + ": " + address.str() +
                                    " is not of the family that was asked for");
    }
    if (!local.empty() && !remote.empty() && local.family() != remote.family()) {
        throw std::invalid_argument(std::string(call) + ": local " + local.str() + " and remote " +
                                    remote.str() + " are of two families");
    }
}

}  // namespace

Promise<DatagramTransport> create_datagram_endpoint(EventLoop& loop,
                                                    DatagramProtocolFactory factory,
                                                    const DatagramEndpointOptions& options) {
    check(loop, factory);
    check(options);
    return loop.create_task<CreatingEndpoint>(std::move(factory), options);
}

Promise<DatagramTransport> create_datagram_endpoint(DatagramProtocolFactory factory,
                                                    const DatagramEndpointOptions& options) {
    return create_datagram_endpoint(get_running_loop(), std::move(factory), options);
}

Promise<DatagramTransport> create_datagram_endpoint(EventLoop& loop,
                                                    DatagramProtocolFactory factory,
                                                    DatagramSocket&& socket) {
    check(loop, factory);
    if (socket && &socket.loop() != &loop) {
        throw std::invalid_argument(std::string(call) + ": the socket is another loop's");
    }
    DatagramDescriptor taken = detail::DatagramSocketAccess::take(socket, call);
    return loop.create_task<CreatingEndpoint>(std::move(factory), std::ref(taken));
}

Promise<DatagramTransport> create_datagram_endpoint(DatagramProtocolFactory factory,
                                                    DatagramSocket&& socket) {
    return create_datagram_endpoint(get_running_loop(), std::move(factory), std::move(socket));
}

}  // namespace net
}  // namespace reactor
