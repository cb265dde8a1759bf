// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>
#include <net/detail/connecting.hpp>
#include <net/detail/transport_service.hpp>

#include <algorithm>
#include <utility>

namespace reactor {
namespace net {

ConnectError::ConnectError(const std::string& what, std::vector<std::system_error> all)
    : std::system_error(all.front().code()), attempts(std::move(all)), text_(what) {}

namespace {

/// The addresses of one family, in their order.
struct Kin {
    Endpoint::Family family;
    std::vector<Endpoint> addresses;
    std::size_t taken = 0;

    bool left() const { return taken < addresses.size(); }
    const Endpoint& take() { return addresses[taken++]; }
};

std::vector<Kin> by_family(const std::vector<Endpoint>& addresses) {
    std::vector<Kin> families;
    for (const Endpoint& address : addresses) {
        auto kin = std::find_if(families.begin(), families.end(),
                                [&](const Kin& known) { return known.family == address.family(); });
        if (kin == families.end()) {
            families.push_back(Kin());
            kin = families.end() - 1;
            kin->family = address.family();
        }
        kin->addresses.push_back(address);
    }
    return families;
}

/// A Socket is Asio's, which knows nothing of a network in memory, where names and addresses are
/// other ones.
void require_system_network(EventLoop& loop) {
    loop.core().check("connect");
    if (!detail::socket_calls(loop).simulated()) return;
    throw StateError(
        "connect: the network of this loop is in memory, and a Socket is the system's: "
        "create_connection() and open_connection() connect there");
}

Promise<Socket> as_socket(const Promise<detail::NewConnection>& connecting) {
    return connecting.then([](detail::NewConnection made) { return made.take_socket(); });
}

}  // namespace

Promise<Socket> connect(EventLoop& loop, const std::string& host, const Port& port,
                        const ConnectOptions& options) {
    require_system_network(loop);
    return as_socket(detail::connecting("connect", loop, host, port, options));
}

Promise<Socket> connect(const std::string& host, const Port& port, const ConnectOptions& options) {
    return connect(get_running_loop(), host, port, options);
}

Promise<Socket> connect(EventLoop& loop, std::vector<Endpoint> addresses,
                        const ConnectOptions& options) {
    require_system_network(loop);
    return as_socket(detail::connecting("connect", loop, std::move(addresses), options));
}

std::vector<Endpoint> interleave(const std::vector<Endpoint>& addresses, std::size_t first_count) {
    if (first_count == 0) return addresses;
    std::vector<Kin> families = by_family(addresses);
    std::vector<Endpoint> order;
    while (order.size() + 1 < first_count && !families.empty() && families.front().left()) {
        order.push_back(families.front().take());
    }
    while (order.size() < addresses.size()) {
        for (Kin& kin : families) {
            if (kin.left()) order.push_back(kin.take());
        }
    }
    return order;
}

}  // namespace net
}  // namespace reactor
