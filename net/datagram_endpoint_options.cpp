// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_endpoint_options.hpp>

#include <stdexcept>
#include <string>

namespace reactor {
namespace net {

DatagramEndpointOptions::Address DatagramEndpointOptions::named(const char* which,
                                                                const std::string& host,
                                                                const Port& port) {
    if (host.empty()) {
        throw std::invalid_argument(
            "DatagramEndpointOptions::" + std::string(which) +
            ": a host has a name: \"\" is no interface, and 0.0.0.0 or :: is every one");
    }
    return {Endpoint(), host, port};
}

}  // namespace net
}  // namespace reactor
