// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_RESOLVER_STATE_HPP
#define REACTOR_NET_DETAIL_RESOLVER_STATE_HPP

#include <net/detail/lookup_pool.hpp>
#include <net/detail/pending_operations.hpp>
#include <net/resolver.hpp>
#include <reactor/detail/value_state.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/handle.hpp>

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

/// The promise of a resolve(). While it is pending it stands among the waiters of its name, and
/// `owner` is set; cancelled, it takes itself out before the caller sees it.
struct ResolveOperation final
    : reactor::detail::Pooled<ResolveOperation,
                              reactor::detail::OperationState<std::vector<Endpoint>>>,
      Listed<ResolveOperation> {
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
};

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
    reactor::detail::StateOwner<ResolveOperation> detach(ResolveOperation& operation,
                                                         Unwanted& unwanted) noexcept;

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
        PendingOperations<ResolveOperation> waiters;
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

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
