// SPDX-License-Identifier: BSL-1.0
#include <reactor/as_completed.hpp>

namespace reactor {
namespace detail {

/// The callable of a source's callback.
class CompletionOrder::Link {
public:
    Link(const std::shared_ptr<CompletionOrder>& order, Source* place) noexcept
        : order_(order), place_(place) {}
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link() {
        if (place_->state) {
            place_->state = nullptr;
            order_->source_lost();
        }
    }

    void operator()(const AnyPromise& done) {
        place_->state = nullptr;
        order_->source_done(*PromiseAccess::state(done));
    }

private:
    const std::shared_ptr<CompletionOrder> order_;
    Source* const place_;  // in the order's list
};

CompletionOrder::~CompletionOrder() { timer_.cancel(); }

void CompletionOrder::start(const std::shared_ptr<CompletionOrder>& self,
                            const std::vector<AnyPromise>& sources, std::vector<AnyPromise> outputs,
                            Duration limit) {
    CompletionOrder& order = *self;
    LoopCore& core = *PromiseAccess::state(sources.front())->core;
    order.outputs_ = std::move(outputs);
    order.open_ = sources.size();
    for (const AnyPromise& source : sources) {
        order.sources_.push_back(Source{PromiseAccess::state(source), nullptr});
    }
    for (Source& source : order.sources_) {
        // Of one that is done already the callback is queued at once.
        source.node = attach_own<AnyPromise, Link>(*source.state, self, &source);
    }
    if (limit == forever()) return;
    const std::weak_ptr<CompletionOrder> weak(self);
    order.timer_ = core.loop->call_later(Options().label("as_completed"), limit, [weak] {
        if (const std::shared_ptr<CompletionOrder> kept = weak.lock()) kept->time_out();
    });
}

void CompletionOrder::source_done(PromiseState& source) {
    const AnyPromise output = next_output();
    PromiseState& to = *PromiseAccess::state(output);
    if (to.done()) return;  // cancelled: an error stays unread, and is reported as ever
    try {
        pass_(source, to);
    } catch (...) {
        to.fail_by_current_exception();
    }
    output_ended();
}

void CompletionOrder::source_lost() noexcept {
    if (open_ == 0) return;
    const AnyPromise output = next_output();
    PromiseState& to = *PromiseAccess::state(output);
    if (to.done()) return;
    break_promise(to, to.awaited() ? 0 : 1);  // what waits for it must hear of it as well
    output_ended();
}

void CompletionOrder::time_out() noexcept {
    const std::exception_ptr error = std::make_exception_ptr(TimeoutError());
    for (std::size_t i = next_; i < outputs_.size(); ++i) {
        PromiseState& to = *PromiseAccess::state(outputs_[i]);
        if (to.done()) continue;
        to.fail(error);
        // Who has got what he wanted need not look at the rest.
        to.retrieved = true;
    }
    open_ = 0;
    leave();
}

void CompletionOrder::output_ended() noexcept {
    if (open_ != 0 && --open_ == 0) leave();
}

void CompletionOrder::leave() noexcept {
    timer_.cancel();
    timer_ = TimerHandle();
    for (Source& source : sources_) {
        if (!source.state || source.state->done()) continue;
        PromiseState* const pending = source.state;
        source.state = nullptr;
        pending->withdraw(source.node);
    }
}

void CompletionOrder::explain(WhyPending& why) const {
    why.of = sources_.size();
    why.crowd = this;
    why.pending = &CompletionOrder::pending;
}

std::size_t CompletionOrder::pending(const void* order) noexcept {
    std::size_t count = 0;
    for (const Source& source : static_cast<const CompletionOrder*>(order)->sources_) {
        if (source.state && !source.state->done()) ++count;
    }
    return count;
}

}  // namespace detail
}  // namespace reactor
