// SPDX-License-Identifier: BSL-1.0
#include <net/detail/lookup_pool.hpp>
#include <net/resolver.hpp>
#include <reactor/detail/promise_state.hpp>
#include <reactor/error.hpp>

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <map>
#include <stdexcept>
#include <utility>

#include <cxxabi.h>
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
    void explain(reactor::detail::WhyPending& why) const override {
        why.what = "resolve " + question.str();
    }

    ResolverState* owner = nullptr;
    Question question;
    Endpoint::Family family = Endpoint::Family::none;  // none: any
    std::uint16_t port = 0;
    TimerHandle limit;
    ResolveOperation* before = nullptr;
    ResolveOperation* behind = nullptr;
};

bool is_cancellation(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const CancelledError&) {
        return true;
    } catch (...) {
        return false;
    }
}

/// Those who wait for one name, in the order of the calls. Owns a reference of each. Any number
/// may wait, and leave: so a leave must not look for its place.
struct Waiters {
    void add(ResolveOperation& waiter) noexcept {
        waiter.keep();
        waiter.before = last;
        (last ? last->behind : first) = &waiter;
        last = &waiter;
    }
    /// The reference is the caller's from then on.
    void remove(ResolveOperation& waiter) noexcept {
        (waiter.before ? waiter.before->behind : first) = waiter.behind;
        (waiter.behind ? waiter.behind->before : last) = waiter.before;
        waiter.before = waiter.behind = nullptr;
    }

    ResolveOperation* first = nullptr;  // null: all have left
    ResolveOperation* last = nullptr;
};

}  // namespace

/// The names under way and who waits for each; on the loop's thread.
class ResolverState {
public:
    using Addresses = std::vector<Endpoint>;

    /// A look-up that nobody waits for any more. Ends it as it goes.
    struct Unwanted {
        Unwanted() = default;
        Unwanted(const Unwanted&) = delete;
        Unwanted& operator=(const Unwanted&) = delete;
        ~Unwanted() {
            if (answer) answer.cancel();
        }

        Promise<Addresses> answer;  // of a LoopLookup, else empty
        LookupPool::Job job;        // that has not begun, else empty
    };

    explicit ResolverState(EventLoop& l)
        : loop(l),
          hosts(std::make_shared<const Resolver::Lookup>(&Resolver::system_lookup)),
          services(service_lookup(&Resolver::system_service_lookup)),
          pool_(std::make_shared<LookupPool>()) {}
    ~ResolverState();
    ResolverState(const ResolverState&) = delete;
    ResolverState& operator=(const ResolverState&) = delete;

    /// Asks, unless the answer to the same question is under way already.
    Promise<std::vector<Endpoint>> ask(const Question& question, std::uint16_t port,
                                       Endpoint::Family family, TimePoint deadline,
                                       const Here& here);
    void answered(const Question& question, LookupAnswer& answer);
    void late(ResolveOperation* operation);
    /// Takes a waiter out: it was cancelled or is late. `unwanted` gets what the look-up was, if
    /// nobody waits any more. What goes with that may cancel anything, so it is to go last.
    StateOwner<ResolveOperation> detach(ResolveOperation& operation, Unwanted& unwanted) noexcept;

    /// The port as part of an endpoint, so that both kinds of question have one kind of answer.
    static std::shared_ptr<const Resolver::Lookup> service_lookup(Resolver::ServiceLookup lookup) {
        return std::make_shared<const Resolver::Lookup>([lookup](const std::string& service) {
            return std::vector<Endpoint>{Endpoint("0.0.0.0", lookup(service))};
        });
    }

    EventLoop& loop;
    std::shared_ptr<const Resolver::Lookup> hosts;
    std::shared_ptr<const Resolver::Lookup> services;
    Resolver::LoopLookup on_loop;

private:
    struct Name {
        Waiters waiters;
        Promise<Addresses> answer;  // of a LoopLookup, else empty
    };

    void begin(ResolveOperation& operation);
    void look_up(const Question& question, Name& name);
    void look_up_on_loop(const Question& question, Name& name);
    void look_up_on_thread(const Question& question);
    static void tell(ResolveOperation& waiter, const std::vector<Endpoint>& found);
    static void fail(ResolveOperation& waiter, const std::exception_ptr& error, bool cancelled);

    std::shared_ptr<LookupPool> pool_;
    std::map<Question, Name> names_;
};

void ResolveOperation::abandon() noexcept {
    if (!owner) return;
    ResolverState::Unwanted unwanted;
    const StateOwner<ResolveOperation> gone = owner->detach(*this, unwanted);
}

ResolverState::~ResolverState() {
    pool_->close();
    // close() of the loop: what waits stays pending.
    for (const auto& name : names_) {
        for (ResolveOperation* waiter = name.second.waiters.first; waiter;
             waiter = waiter->behind) {
            waiter->owner = nullptr;
        }
    }
    // Only now, when what goes with them may cancel the others.
    for (const auto& name : names_) {
        for (ResolveOperation* waiter = name.second.waiters.first; waiter;) {
            const StateOwner<ResolveOperation> gone(waiter);
            waiter = gone->behind;
        }
    }
}

Promise<std::vector<Endpoint>> ResolverState::ask(const Question& question, std::uint16_t port,
                                                  Endpoint::Family family, TimePoint deadline,
                                                  const Here& here) {
    StateOwner<ResolveOperation> operation(
        reactor::detail::make_state<ResolveOperation>(loop.core(), here));
    const auto promise = PromiseAccess::share<Promise<std::vector<Endpoint>>>(&*operation);
    operation->question = question;
    operation->port = port;
    operation->family = family;
    try {
        begin(*operation);
    } catch (const std::system_error&) {
        operation->fail(std::current_exception());
        return promise;
    }
    if (deadline != never()) {
        operation->limit = loop.call_at(deadline, &ResolverState::late, this, &*operation);
    }
    return promise;
}

void ResolverState::begin(ResolveOperation& operation) {
    const auto name = names_.emplace(operation.question, Name());
    if (name.second) {
        try {
            look_up(operation.question, name.first->second);
        } catch (...) {
            // Whoever the LoopLookup has had ask for the same name shares its end.
            LookupAnswer none;
            none.error = std::current_exception();
            answered(operation.question, none);
            throw;
        }
    }
    name.first->second.waiters.add(operation);
    operation.owner = this;
}

void ResolverState::look_up(const Question& question, Name& name) {
    if (on_loop && question.kind == Question::Kind::host) {
        look_up_on_loop(question, name);
    } else {
        look_up_on_thread(question);
    }
}

void ResolverState::look_up_on_loop(const Question& question, Name& name) {
    const Resolver::LoopLookup lookup = on_loop;  // which may replace itself
    Promise<Addresses> answer;
    try {
        answer = lookup(question.name);
        if (!answer) throw StateError("resolve: the LoopLookup has given an empty promise");
    } catch (const LoopExit&) {
        throw;
#ifdef __GLIBCXX__
    } catch (const abi::__forced_unwind&) {
        throw;  // pthread_cancel(): swallowing it would abort the process
#endif
    } catch (...) {
        answer = loop.create_promise<Addresses>();
        answer.set_exception(std::current_exception());
    }
    name.answer = answer;
    answer.add_done_callback([this, question](const Promise<Addresses>& done) {
        const auto asked = names_.find(question);
        // Given up, and perhaps asked for anew: then this is the old answer.
        if (asked == names_.end() || asked->second.answer != done) return;
        LookupAnswer found;
        found.error = done.error();
        if (!found.error) found.found = done.result();
        answered(question, found);
    });
}

void ResolverState::look_up_on_thread(const Question& question) {
    const Poster poster = loop.poster();
    const auto answered_here = [this](const Question& asked, LookupAnswer& answer) {
        answered(asked, answer);
    };
    const auto deliver = [poster, answered_here](const Question& asked, LookupAnswer&& answer) {
        try {
            // Runs on the loop, or never: and the loop's services live as long as it runs.
            poster.post(answered_here, asked, std::move(answer));
        } catch (...) {
            // The loop sleeps and cannot be woken; it will find the answer when it wakes up.
        }
    };
    const auto& lookup = question.kind == Question::Kind::service ? services : hosts;
    pool_->submit(LookupPool::Job{question, lookup, deliver});
}

void ResolverState::answered(const Question& question, LookupAnswer& answer) {
    const auto name = names_.find(question);
    if (name == names_.end()) return;
    const Waiters waiters = name->second.waiters;
    names_.erase(name);
    const bool cancelled = answer.error && is_cancellation(answer.error);
    for (ResolveOperation* waiter = waiters.first; waiter; waiter = waiter->behind) {
        waiter->limit.cancel();
        if (answer.error) {
            fail(*waiter, answer.error, cancelled);
            continue;
        }
        try {
            tell(*waiter, answer.found);
        } catch (...) {
            waiter->fail_by_current_exception();  // no memory
        }
    }
    // Dropped last, when all are done: one that nobody holds is reported as it goes, and the
    // exception handler may cancel the others.
    for (ResolveOperation* waiter = waiters.first; waiter;) {
        const StateOwner<ResolveOperation> done(waiter);
        waiter = done->behind;
    }
}

void ResolverState::tell(ResolveOperation& waiter, const std::vector<Endpoint>& found) {
    if (waiter.question.kind == Question::Kind::service) {
        waiter.set(found);
        return;
    }
    std::vector<Endpoint> wanted;
    for (const Endpoint& endpoint : found) {
        if (waiter.family == Endpoint::Family::none || waiter.family == endpoint.family()) {
            wanted.push_back(endpoint.with_port(waiter.port));
        }
    }
    if (wanted.empty()) {
        const auto code = std::error_code(EAFNOSUPPORT, std::system_category());
        waiter.fail(std::make_exception_ptr(ResolveError(waiter.question.name, code)));
        return;
    }
    waiter.set(std::move(wanted));
}

/// A cancellation goes on as one, whatever it comes from.
void ResolverState::fail(ResolveOperation& waiter, const std::exception_ptr& error,
                         bool cancelled) {
    if (cancelled) {
        waiter.end_cancelled(error);
    } else {
        waiter.fail(error);
    }
}

void ResolverState::late(ResolveOperation* operation) {
    const auto error =
        std::make_exception_ptr(TimeoutError("resolve " + operation->question.str()));
    // Goes last, when the promise is done: what goes with it may cancel that.
    Unwanted unwanted;
    const StateOwner<ResolveOperation> late = detach(*operation, unwanted);
    late->fail(error);
}

StateOwner<ResolveOperation> ResolverState::detach(ResolveOperation& operation,
                                                   Unwanted& unwanted) noexcept {
    StateOwner<ResolveOperation> detached(&operation);
    operation.owner = nullptr;
    operation.limit.cancel();
    const auto name = names_.find(operation.question);
    name->second.waiters.remove(operation);
    if (name->second.waiters.first) return detached;
    unwanted.answer = std::move(name->second.answer);
    // A look-up on a thread that has begun cannot be stopped. The name stays, so that whoever asks
    // again joins it: a name that hangs must not take one thread after the other.
    if (unwanted.answer || pool_->withdraw(operation.question, unwanted.job)) names_.erase(name);
    return detached;
}

}  // namespace detail

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
