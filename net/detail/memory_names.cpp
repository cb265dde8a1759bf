// SPDX-License-Identifier: BSL-1.0
#include <net/detail/memory_names.hpp>
#include <net/resolver.hpp>
#include <reactor/combinators.hpp>

#include <netdb.h>

namespace reactor {
namespace net {
namespace detail {

MemoryNames::MemoryNames(EventLoop& loop, std::shared_ptr<MemoryWorld> world)
    : loop_(loop), world_(std::move(world)) {}

Promise<std::vector<Endpoint>> MemoryNames::look_up(const std::string& host) {
    const testing::MemoryNetworkOptions& options = world_->options;
    const auto found = hosts_.find(host);
    Host known = found != hosts_.end()
                     ? found->second
                     : Host{std::vector<Endpoint>(), std::error_code(), Duration(-1)};
    if (known.delay < Duration::zero()) {
        known.delay = world_->random.between(options.shortest_lookup, options.longest_lookup);
    }
    if (world_->random.chance(options.failing_lookups)) {
        known.error = std::error_code(EAI_AGAIN, resolver_category());
    } else if (known.addresses.empty() && !known.error) {
        known.error = std::error_code(EAI_NONAME, resolver_category());
    }
    world_->note("looks " + host + " up");
    const std::shared_ptr<MemoryWorld> world = world_;
    return sleep(loop_, known.delay).then([world, host, known]() -> std::vector<Endpoint> {
        if (known.error) {
            world->note(host + ": " + known.error.message());
            throw ResolveError(host, known.error);
        }
        world->note(host + " has " + std::to_string(known.addresses.size()) + " addresses");
        return known.addresses;
    });
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
