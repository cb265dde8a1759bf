// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_PENDING_PROMISES_HPP
#define REACTOR_DETAIL_PENDING_PROMISES_HPP

#include <reactor/detail/promise_state.hpp>
#include <reactor/inspect.hpp>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace reactor {
namespace detail {

/// An entry that says nothing yet but its kind and name.
Waiting waiting_entry(Waiting::Kind kind, std::string name);

/// The pending promises of a loop, as entries: each task and job, and of promises that follow each
/// other the one that nobody follows. On the loop's thread, used up at once: it refers to the
/// promises. What many wait for together is looked at once: a promise costs the same, however many
/// there are.
class PendingPromises {
public:
    explicit PendingPromises(const LoopCore& core);

    void list(std::vector<Waiting>& entries);

private:
    struct Known {
        WhyPending why;
        TaskCore* task = nullptr;
        PromiseState* follows = nullptr;  // the one pending promise whose outcome it will have, or
                                          // a task go on with
        PromiseState* last = nullptr;     // where the chain ends that begins here
        std::size_t length = 0;           // of that chain; 0: not measured yet
        bool is_followed = false;
        bool told = false;

        bool stands_alone() const noexcept { return task || why.is_job; }
        PromiseState* next() const noexcept { return stands_alone() ? nullptr : follows; }
    };

    Known& known(PromiseState& state);
    std::size_t count_pending(const WhyPending& why);
    std::string in_words(PromiseState& state);
    Known& measured(PromiseState& first);
    void tell_of(PromiseState& first);
    std::string chain(PromiseState& state);
    std::string circle(PromiseState& state);
    void add(PromiseState& state, std::vector<Waiting>& entries);

    std::vector<PromiseState*> pending_;
    std::unordered_map<const PromiseState*, Known> known_;
    std::unordered_map<const void*, std::size_t> crowds_;  // how many of each are pending
};

}  // namespace detail
}  // namespace reactor

#endif
