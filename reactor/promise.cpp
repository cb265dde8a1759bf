// SPDX-License-Identifier: BSL-1.0
#include <reactor/promise.hpp>

#include <stdexcept>
#include <string>

namespace reactor {

std::exception_ptr AnyPromise::exception() const {
    detail::PromiseState& promise = state("exception");
    if (promise.status == detail::PromiseStatus::cancelled) promise.check_value("exception");
    return promise.failure("exception");
}

void AnyPromise::set_exception(std::exception_ptr error) const {
    detail::PromiseState& promise = settable("set_exception");
    if (!error) throw std::invalid_argument("set_exception: null is no error");
    promise.require_pending("set_exception");
    promise.fail(std::move(error));
}

EventLoop& AnyPromise::loop() const {
    EventLoop* const loop = state("loop").core->loop;
    if (!loop) throw StateError("loop: the promise's event loop is gone");
    return *loop;
}

void AnyPromise::refuse_empty(const char* call) {
    throw StateError(std::string(call) +
                     ": the promise is empty: get one from create_promise() or an operation");
}

void AnyPromise::refuse_task(const char* call) {
    throw StateError(std::string(call) + ": a task sets its own outcome: use finish() or fail()");
}

namespace detail {

namespace {

/// Stops the loop when a promise is done, and never after the run that it was made for.
class StopHook {
public:
    StopHook(EventLoop& loop, PromiseState& state) : state_(state) {
        const auto stop = [&loop](const AnyPromise&) { loop.stop(); };
        key_ = new_done_key(*state.core);
        node_ = HandleAccess::handle(attach_done<OnDone<AnyPromise, decltype(stop)>>(
            state, key_, nullptr, &state, stop));
    }
    StopHook(const StopHook&) = delete;
    StopHook& operator=(const StopHook&) = delete;
    ~StopHook() {
        if (!state_.done()) {
            state_.remove(key_);
        } else {
            node_.cancel();  // another callback of the same batch may have left the loop
        }
    }

private:
    PromiseState& state_;
    std::uint32_t key_;
    Handle node_;
};

}  // namespace

void run_until_done(EventLoop& loop, PromiseState* state) {
    loop.core().check("run_until_complete");
    if (!state) throw StateError("run_until_complete: the promise is empty");
    if (state->core != &loop.core()) {
        throw StateError("run_until_complete: the promise belongs to another event loop");
    }
    const StopHook hook(loop, *state);
    loop.run_forever();
    if (!state->done()) {
        throw StateError("run_until_complete: the event loop was stopped before the promise was "
                         "done, which stays pending");
    }
}

}  // namespace detail

}  // namespace reactor
