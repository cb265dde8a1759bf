// SPDX-License-Identifier: BSL-1.0
#include <reactor/promise.hpp>

#include <stdexcept>
#include <string>

namespace reactor {
namespace detail {

namespace {

/// Stops the loop when a promise is done, and never after the run that it was made for.
class StopHook {
public:
    StopHook(EventLoop& loop, PromiseState& state) : state_(state) {
        const auto stop = [&loop](const AnyPromise&) { loop.stop(); };
        key_ = new_done_key(*state.core);
        node_ = HandleAccess::handle(
            attach_done<OnDone<AnyPromise, decltype(stop)>>(state, key_, nullptr, &state, stop));
        HandleAccess::node(node_)->label = own_label;
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

void run_until_done(EventLoop& loop, PromiseState& state, const char* call) {
    if (state.core != &loop.core()) {
        throw StateError(std::string(call) +
                         ": the promise belongs to another event loop: run that one");
    }
    const StopHook hook(loop, state);
    loop.run(call);
    if (!state.done()) {
        throw StateError(std::string(call) +
                         ": the event loop was stopped before the promise was done, which stays "
                         "pending: " +
                         state.describe());
    }
}

}  // namespace detail

}  // namespace reactor
