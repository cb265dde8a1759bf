// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/births.hpp>
#include <reactor/detail/pending_promises.hpp>
#include <reactor/detail/task_core.hpp>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace reactor {
namespace detail {

namespace {

using Kind = Waiting::Kind;

// Of a chain so many are told from where it is asked for, and the last; the middle is counted.
constexpr std::size_t shown = 3;

// Instead of the length of a chain that never ends, and while it is being measured.
constexpr std::size_t endless = static_cast<std::size_t>(-1);
constexpr std::size_t measuring = endless - 1;

const char* const again = "and so on in a circle";

std::string name_of(TaskCore& task) {
    return task.name() + " (" + type_text(task.class_name) + ")";
}

void append(std::string& text, const std::string& part) {
    if (!text.empty()) text += ", ";
    text += part;
}

}  // namespace

Waiting waiting_entry(Kind kind, std::string name) {
    return Waiting{kind,
                   std::move(name),
                   std::string(),
                   std::string(),
                   std::string(),
                   std::string(),
                   Duration(-1),
                   never(),
                   Duration::zero(),
                   -1,
                   0,
                   0};
}

PendingPromises::PendingPromises(const LoopCore& core) {
    for (PromiseState* state = core.pending; state; state = state->next) {
        if (!state->dying) pending_.push_back(state);
    }
    std::reverse(pending_.begin(), pending_.end());  // the loop's list begins with the newest
    known_.reserve(pending_.size());
    for (PromiseState* const state : pending_) {
        if (PromiseState* const next = known(*state).follows) known(*next).is_followed = true;
    }
}

void PendingPromises::list(std::vector<Waiting>& entries) {
    for (PromiseState* const state : pending_) {
        const Known& one = known(*state);
        if (one.stands_alone() || !one.is_followed) add(*state, entries);
    }
    // Who is left waits in a circle, and so is followed: a deadlock must not go untold.
    for (PromiseState* const state : pending_) {
        if (!known(*state).told) add(*state, entries);
    }
}

PendingPromises::Known& PendingPromises::known(PromiseState& state) {
    const auto place = known_.emplace(&state, Known());
    Known& one = place.first->second;
    if (!place.second) return one;
    one.task = state.as_task();
    state.explain(one.why);
    PromiseState* const next = one.task          ? one.task->waiting
                               : one.why.of == 0 ? one.why.waits_for
                                                 : nullptr;
    if (next && !next->done()) one.follows = next;
    return one;
}

std::size_t PendingPromises::count_pending(const WhyPending& why) {
    const auto place = crowds_.emplace(why.crowd, 0);
    if (place.second) place.first->second = why.pending ? why.pending(why.crowd) : 0;
    return place.first->second;
}

// ---- chains ---------------------------------------------------------------------------------

std::string PendingPromises::in_words(PromiseState& state) {
    const Known& one = known(state);
    if (one.task) return "task " + name_of(*one.task);
    std::string text = one.why.is_job ? "job " + one.why.what : one.why.what;
    if (text.empty()) text = "promise";
    const std::string place = state.made_at();
    if (!place.empty()) text += " made at " + place;
    if (one.why.of != 0) {
        text += " (" + std::to_string(count_pending(one.why)) + " of " +
                std::to_string(one.why.of) + " pending)";
    }
    return text;
}

/// Knows the length of the chain that begins with `first`, and its end.
PendingPromises::Known& PendingPromises::measured(PromiseState& first) {
    std::vector<PromiseState*> path;
    PromiseState* at = &first;
    while (at && known(*at).length == 0) {
        known(*at).length = measuring;
        path.push_back(at);
        at = known(*at).next();
    }
    // It has come to an end, or into a chain that is known; or it has met itself.
    std::size_t length = at ? known(*at).length : 0;
    const bool ends = length < measuring;
    PromiseState* const last = at ? known(*at).last : path.empty() ? nullptr : path.back();
    for (; !path.empty(); path.pop_back()) {
        Known& one = known(*path.back());
        one.length = ends ? ++length : endless;
        one.last = last;
    }
    return known(first);
}

/// Notes that a chain is told of, from here to its end.
void PendingPromises::tell_of(PromiseState& first) {
    for (PromiseState* at = &first; at; at = known(*at).next()) {
        Known& one = known(*at);
        if (one.stands_alone() || one.told) return;  // who is told, is with all that it follows
        one.told = true;
    }
}

/// What is followed by `state`, from the nearest to the one that began it; the middle of a long
/// chain is counted only.
std::string PendingPromises::chain(PromiseState& state) {
    PromiseState* at = known(state).follows;
    if (!at) return std::string();
    const Known& first = measured(*at);
    if (first.length == endless) return circle(state);
    tell_of(*at);
    std::string text;
    for (std::size_t i = 1; i < first.length && i <= shown; ++i, at = known(*at).next()) {
        append(text, in_words(*at));
    }
    if (first.length > shown + 1) {
        append(text, std::to_string(first.length - shown - 1) + " more");
    }
    // A task that waits, in the end, for itself.
    append(text, first.last == &state ? again : in_words(*first.last));
    return text;
}

std::string PendingPromises::circle(PromiseState& state) {
    std::string text;
    std::unordered_set<const PromiseState*> seen{&state};
    std::size_t passed_over = 0;
    PromiseState* at = known(state).follows;
    for (; seen.insert(at).second; at = known(*at).follows) {
        known(*at).told = true;
        if (seen.size() <= shown + 1) {
            append(text, in_words(*at));
        } else {
            ++passed_over;
        }
    }
    if (passed_over != 0) append(text, std::to_string(passed_over) + " more");
    append(text, again);
    return text;
}

// ---- entries --------------------------------------------------------------------------------

void PendingPromises::add(PromiseState& state, std::vector<Waiting>& entries) {
    Known& one = known(state);
    one.told = true;
    const WhyPending& why = one.why;
    Waiting entry = waiting_entry(one.task     ? Kind::task
                                  : why.is_job ? Kind::job
                                               : Kind::promise,
                                  one.task ? name_of(*one.task) : why.what);
    if (one.task) {
        entry.status = task_status(*one.task);
        entry.state = one.task->waits_in();
        entry.when = one.task->time_limit();
    } else if (why.is_job) {
        entry.status = why.running ? "running on a thread" : "waiting for a thread";
    } else if (why.of != 0) {
        entry.awaits =
            std::to_string(count_pending(why)) + " of " + std::to_string(why.of) + " promises";
    }
    if (why.of == 0) entry.awaits = chain(state);
    entry.made_at = state.made_at();
    entry.age = Births::age(state);
    for (const Node* node = state.first; node; node = node->next) {
        if (node->ops && node->label != own_label) ++entry.callbacks;
    }
    entries.push_back(std::move(entry));
}

}  // namespace detail
}  // namespace reactor
