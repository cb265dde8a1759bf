// SPDX-License-Identifier: BSL-1.0
#include <net/detail/lookup_pool.hpp>
#include <net/resolver.hpp>
#include <reactor/detail/promise_state.hpp>

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include <netdb.h>
#include <sys/socket.h>

namespace reactor {
namespace net {

using reactor::detail::PromiseAccess;
using reactor::detail::StateOwner;

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

namespace detail {

namespace {

struct ResolveOperation final
    : reactor::detail::Pooled<ResolveOperation,
                              reactor::detail::OperationState<std::vector<Endpoint>>> {
    using Pooled::Pooled;
    void abandon() noexcept override;
    void explain(reactor::detail::WhyPending& why) const override { why.what = "resolve " + host; }

    ResolverState* owner = nullptr;
    std::string host;
    std::uint16_t port = 0;
    TimerHandle limit;
};

}  // namespace

/// The names under way and who waits for each; on the loop's thread.
class ResolverState {
public:
    explicit ResolverState(EventLoop& l)
        : loop(l),
          lookup(std::make_shared<const Resolver::Lookup>(&Resolver::system_lookup)),
          pool_(std::make_shared<LookupPool>()) {}
    ~ResolverState();
    ResolverState(const ResolverState&) = delete;
    ResolverState& operator=(const ResolverState&) = delete;

    void begin(ResolveOperation& operation);
    void answered(const std::string& host, LookupAnswer& answer);
    void late(ResolveOperation* operation);
    /// Takes a waiter out: it was cancelled or is late.
    StateOwner<ResolveOperation> detach(ResolveOperation& operation) noexcept;

    EventLoop& loop;
    std::shared_ptr<const Resolver::Lookup> lookup;

private:
    void look_up(const std::string& host);

    using Waiters = std::vector<ResolveOperation*>;  // each with a reference; empty: all cancelled

    std::shared_ptr<LookupPool> pool_;
    std::unordered_map<std::string, Waiters> names_;
};

void ResolveOperation::abandon() noexcept {
    if (owner) owner->detach(*this);
}

ResolverState::~ResolverState() {
    pool_->close();
    // close() of the loop: what waits stays pending.
    for (const auto& name : names_) {
        for (ResolveOperation* operation : name.second) {
            operation->owner = nullptr;
            drop(operation);
        }
    }
}

void ResolverState::begin(ResolveOperation& operation) {
    const auto name = names_.emplace(operation.host, Waiters());
    Waiters& waiters = name.first->second;
    try {
        waiters.reserve(waiters.size() + 1);
        if (name.second) look_up(operation.host);
    } catch (...) {
        if (name.second) names_.erase(name.first);
        throw;
    }
    waiters.push_back(&operation);
    operation.owner = this;
    operation.keep();
}

void ResolverState::look_up(const std::string& host) {
    const Poster poster = loop.poster();
    const auto answered_here = [this](const std::string& name, LookupAnswer& answer) {
        answered(name, answer);
    };
    const auto deliver = [poster, answered_here](const std::string& name, LookupAnswer&& answer) {
        try {
            // Runs on the loop, or never: and the loop's services live as long as it runs.
            poster.post(answered_here, name, std::move(answer));
        } catch (...) {
            // The loop sleeps and cannot be woken; it will find the answer when it wakes up.
        }
    };
    pool_->submit(LookupPool::Job{host, lookup, deliver});
}

void ResolverState::answered(const std::string& host, LookupAnswer& answer) {
    const auto name = names_.find(host);
    if (name == names_.end()) return;
    Waiters waiters = std::move(name->second);
    names_.erase(name);
    for (ResolveOperation* waiter : waiters) {
        waiter->limit.cancel();
        if (answer.error) {
            waiter->fail(answer.error);
            continue;
        }
        try {
            std::vector<Endpoint> found = answer.found;
            for (Endpoint& endpoint : found) endpoint = endpoint.with_port(waiter->port);
            waiter->set(std::move(found));
        } catch (...) {
            waiter->fail_by_current_exception();  // no memory
        }
    }
    // Dropped last, when all are done: one that nobody holds is reported as it goes, and the
    // exception handler may cancel the others.
    for (ResolveOperation* waiter : waiters) drop(waiter);
}

void ResolverState::late(ResolveOperation* operation) {
    const StateOwner<ResolveOperation> late = detach(*operation);
    late->fail(std::make_exception_ptr(TimeoutError("resolve " + late->host)));
}

StateOwner<ResolveOperation> ResolverState::detach(ResolveOperation& operation) noexcept {
    operation.limit.cancel();
    const auto name = names_.find(operation.host);
    Waiters& waiters = name->second;
    waiters.erase(std::find(waiters.begin(), waiters.end(), &operation));
    // One that has begun cannot be stopped. The name stays, so that whoever asks again joins it: a
    // name that hangs must not take one thread after the other.
    if (waiters.empty() && pool_->withdraw(operation.host)) names_.erase(name);
    return StateOwner<ResolveOperation>(&operation);
}

}  // namespace detail

// ---- the service ----------------------------------------------------------------------------

constexpr std::size_t Resolver::max_threads;
constexpr std::size_t Resolver::max_waiting;

Resolver::Resolver(EventLoop& loop) : state_(new detail::ResolverState(loop)) {}
Resolver::~Resolver() = default;

Promise<std::vector<Endpoint>> Resolver::resolve(const std::string& host, std::uint16_t port,
                                                 Deadline deadline, Here here) {
    EventLoop& loop = state_->loop;
    loop.core().check("resolve");
    if (host.empty() || host.find('\0') != std::string::npos) {
        throw std::invalid_argument("resolve: a host has a name, without zero bytes");
    }
    StateOwner<detail::ResolveOperation> operation(
        reactor::detail::make_state<detail::ResolveOperation>(loop.core(), here));
    const auto promise = PromiseAccess::share<Promise<std::vector<Endpoint>>>(&*operation);

    boost::system::error_code no_literal;
    boost::asio::ip::make_address(host, no_literal);
    // A zone is the name of a network interface, for getaddrinfo to judge.
    if (!no_literal && host.find('%') == std::string::npos) {
        operation->set(std::vector<Endpoint>{Endpoint(host, port)});
        return promise;
    }
    operation->host = host;
    operation->port = port;
    try {
        state_->begin(*operation);
    } catch (const std::system_error&) {
        operation->fail(std::current_exception());
        return promise;
    }
    const TimePoint when = deadline.at(loop);
    if (when != never()) {
        operation->limit =
            loop.call_at(when, &detail::ResolverState::late, state_.get(), &*operation);
    }
    return promise;
}

void Resolver::set_lookup(Lookup lookup) {
    state_->loop.core().check_thread("set_lookup");
    if (!lookup) lookup = &Resolver::system_lookup;
    state_->lookup = std::make_shared<const Lookup>(std::move(lookup));
}

std::vector<Endpoint> Resolver::system_lookup(const std::string& host) {
    ::addrinfo hints = ::addrinfo();
    hints.ai_family = AF_UNSPEC;
    // Else each address comes once for each kind of socket.
    hints.ai_socktype = SOCK_STREAM;
    ::addrinfo* list = nullptr;
    const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
    if (code == EAI_SYSTEM) throw ResolveError(host, {errno, std::system_category()});
    if (code != 0) throw ResolveError(host, {code, resolver_category()});
    const std::unique_ptr<::addrinfo, void (*)(::addrinfo*)> owner(list, &::freeaddrinfo);
    std::vector<Endpoint> found;
    for (const ::addrinfo* at = list; at; at = at->ai_next) {
        if (at->ai_family != AF_INET && at->ai_family != AF_INET6) continue;
        const Endpoint endpoint = Endpoint::from_sockaddr(at->ai_addr, at->ai_addrlen);
        // A hosts file may name an address twice.
        if (std::find(found.begin(), found.end(), endpoint) == found.end()) {
            found.push_back(endpoint);
        }
    }
    return found;
}

Promise<std::vector<Endpoint>> resolve(EventLoop& loop, const std::string& host, std::uint16_t port,
                                       Deadline deadline, Here here) {
    loop.core().check("resolve");  // or a wrong thread would hear of a service it never named
    return loop.service<Resolver>().resolve(host, port, deadline, here);
}

Promise<std::vector<Endpoint>> resolve(const std::string& host, std::uint16_t port,
                                       Deadline deadline, Here here) {
    return resolve(get_running_loop(), host, port, deadline, here);
}

}  // namespace net
}  // namespace reactor
