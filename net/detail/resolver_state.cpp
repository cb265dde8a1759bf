// SPDX-License-Identifier: BSL-1.0
#include <net/detail/resolver_state.hpp>
#include <reactor/detail/inbox.hpp>
#include <reactor/error.hpp>

#include <cerrno>
#include <system_error>
#include <utility>

#include <cxxabi.h>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseAccess;
using reactor::detail::StateOwner;

namespace {

bool is_cancellation(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const CancelledError&) {
        return true;
    } catch (...) {
        return false;
    }
}

}  // namespace

void ResolveOperation::abandon() noexcept {
    if (!owner) return;
    ResolverState::Unwanted unwanted;
    const StateOwner<ResolveOperation> gone = owner->detach(*this, unwanted);
}

ResolverState::~ResolverState() {
    pool_->close();
    // close() of the loop: what waits stays pending.
    for (const auto& name : names_) {
        for (ResolveOperation* waiter = name.second.waiters.first(); waiter;
             waiter = waiter->behind) {
            waiter->owner = nullptr;
        }
    }
    // Only now, when what goes with them may cancel the others.
    for (auto& name : names_) {
        while (!name.second.waiters.empty()) name.second.waiters.take_first();
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
            // It finds the answer if it wakes up by itself.
            reactor::detail::log_undelivered("The answer to a look-up");
        }
    };
    const auto& lookup = question.kind == Question::Kind::service ? services : hosts;
    pool_->submit(LookupPool::Job{question, lookup, deliver});
}

void ResolverState::answered(const Question& question, LookupAnswer& answer) {
    const auto name = names_.find(question);
    if (name == names_.end()) return;
    PendingOperations<ResolveOperation> waiters = std::move(name->second.waiters);
    names_.erase(name);
    const bool cancelled = answer.error && is_cancellation(answer.error);
    for (ResolveOperation* waiter = waiters.first(); waiter; waiter = waiter->behind) {
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
    while (!waiters.empty()) waiters.take_first();
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
    operation.owner = nullptr;
    operation.limit.cancel();
    const auto name = names_.find(operation.question);
    PendingOperations<ResolveOperation>& waiters = name->second.waiters;
    StateOwner<ResolveOperation> detached = waiters.take(operation);
    if (!waiters.empty()) return detached;
    unwanted.answer = std::move(name->second.answer);
    // A look-up on a thread that has begun cannot be stopped. The name stays, so that whoever asks
    // again joins it: a name that hangs must not take one thread after the other.
    if (unwanted.answer || pool_->withdraw(operation.question, unwanted.job)) names_.erase(name);
    return detached;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
