// SPDX-License-Identifier: BSL-1.0
#include <net/detail/resolver_state.hpp>
#include <net/resolver.hpp>

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <utility>

#include <netdb.h>
#include <sys/socket.h>

namespace reactor {
namespace net {

namespace {

class ResolverCategory final : public std::error_category {
public:
    const char* name() const noexcept override { return "resolver"; }
    std::string message(int code) const override { return ::gai_strerror(code); }
};

}  // namespace

const std::error_category& resolver_category() noexcept {
    static const ResolverCategory category;
    return category;
}

ResolveError::ResolveError(const std::string& host_name, std::error_code code)
    : std::system_error(code, "resolve " + host_name), host(host_name) {}

// ---- the service ----------------------------------------------------------------------------

constexpr std::size_t Resolver::max_threads;
constexpr std::size_t Resolver::max_waiting;

Resolver::Resolver(EventLoop& loop) : state_(new detail::ResolverState(loop)) {}
Resolver::~Resolver() = default;

Promise<std::vector<Endpoint>> Resolver::resolve(const std::string& host, const Port& port,
                                                 const ResolveOptions& options, Here here) {
    using Found = std::vector<Endpoint>;
    EventLoop& loop = state_->loop;
    loop.core().check("resolve");
    if (host.empty() || host.find('\0') != std::string::npos) {
        throw std::invalid_argument("resolve: a host has a name, without zero bytes");
    }
    const Endpoint::Family family = options.family();
    const TimePoint deadline = options.deadline().at(loop);
    if (!port.is_number()) {
        const detail::Question service{detail::Question::Kind::service, port.service()};
        // Runs on the loop, whose services live as long as that.
        return state_->ask(service, 0, Endpoint::Family::none, deadline, here)
            .then(
                [this, host, deadline, family, here](const Found& any) {
                    return resolve(host, any.front().port(),
                                   ResolveOptions(deadline).family(family), here);
                },
                here);
    }

    boost::system::error_code no_literal;
    boost::asio::ip::make_address(host, no_literal);
    // A zone is the name of a network interface, for getaddrinfo to judge.
    if (!no_literal && host.find('%') == std::string::npos) {
        const Endpoint literal(host, port.number());
        if (family == Endpoint::Family::none || family == literal.family()) {
            const Promise<Found> at_once = loop.create_promise<Found>(here);
            at_once.set_result(Found{literal});
            return at_once;
        }
    }
    const detail::Question question{detail::Question::Kind::host, host};
    return state_->ask(question, port.number(), family, deadline, here);
}

void Resolver::set_lookup(Lookup lookup) {
    state_->loop.core().check_thread("set_lookup");
    if (!lookup) lookup = &Resolver::system_lookup;
    state_->hosts = std::make_shared<const Lookup>(std::move(lookup));
}

void Resolver::set_loop_lookup(LoopLookup lookup) {
    state_->loop.core().check_thread("set_loop_lookup");
    state_->on_loop = std::move(lookup);
}

void Resolver::set_service_lookup(ServiceLookup lookup) {
    state_->loop.core().check_thread("set_service_lookup");
    if (!lookup) lookup = &Resolver::system_service_lookup;
    state_->services = detail::ResolverState::service_lookup(std::move(lookup));
}

namespace {

using AddressList = std::unique_ptr<::addrinfo, void (*)(::addrinfo*)>;

/// `what` is how messages call it.
AddressList ask_system(const char* host, const char* service, int family, const std::string& what) {
    ::addrinfo hints = ::addrinfo();
    hints.ai_family = family;
    // Else each address comes once for each kind of socket.
    hints.ai_socktype = SOCK_STREAM;
    ::addrinfo* list = nullptr;
    const int code = ::getaddrinfo(host, service, &hints, &list);
    if (code == EAI_SYSTEM) throw ResolveError(what, {errno, std::system_category()});
    if (code != 0) throw ResolveError(what, {code, resolver_category()});
    return AddressList(list, &::freeaddrinfo);
}

}  // namespace

std::vector<Endpoint> Resolver::system_lookup(const std::string& host) {
    const AddressList owner = ask_system(host.c_str(), nullptr, AF_UNSPEC, host);
    std::vector<Endpoint> found;
    for (const ::addrinfo* at = owner.get(); at; at = at->ai_next) {
        if (at->ai_family != AF_INET && at->ai_family != AF_INET6) continue;
        const Endpoint endpoint = Endpoint::from_sockaddr(at->ai_addr, at->ai_addrlen);
        // A hosts file may name an address twice.
        if (std::find(found.begin(), found.end(), endpoint) == found.end()) {
            found.push_back(endpoint);
        }
    }
    return found;
}

std::uint16_t Resolver::system_service_lookup(const std::string& service) {
    const AddressList owner = ask_system(nullptr, service.c_str(), AF_INET, "service " + service);
    return Endpoint::from_sockaddr(owner->ai_addr, owner->ai_addrlen).port();
}

Promise<std::vector<Endpoint>> resolve(EventLoop& loop, const std::string& host, const Port& port,
                                       const ResolveOptions& options, Here here) {
    loop.core().check("resolve");  // or a wrong thread would hear of a service it never named
    return loop.service<Resolver>().resolve(host, port, options, here);
}

Promise<std::vector<Endpoint>> resolve(const std::string& host, const Port& port,
                                       const ResolveOptions& options, Here here) {
    return resolve(get_running_loop(), host, port, options, here);
}

}  // namespace net
}  // namespace reactor
