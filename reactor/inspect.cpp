// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/births.hpp>
#include <reactor/detail/loop_state.hpp>
#include <reactor/detail/text_table.hpp>
#include <reactor/inspect.hpp>
#include <reactor/signals.hpp>

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include <signal.h>

namespace reactor {

using detail::LoopCore;
using detail::Node;
using detail::NodeFlag;
using detail::NodeKind;
using detail::PromiseState;
using detail::TaskCore;
using detail::TimerNode;
using detail::WatchTable;
using detail::WhyPending;

namespace {

using Kind = Waiting::Kind;

Waiting blank(Kind kind, std::string name) {
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

std::string name_of(const Node& node) {
    // The step of a task has its class as the label, as the compiler prints it.
    return detail::type_text(node.name().c_str());
}

std::string name_of(TaskCore& task) {
    return task.name() + " (" + detail::type_text(task.class_name) + ")";
}

WhyPending explained(const PromiseState& state) {
    WhyPending why;
    state.explain(why);
    return why;
}

// ---- promises and tasks ---------------------------------------------------------------------

/// The pending promises of a loop, as entries: each task and job, and of promises that follow each
/// other the one that nobody follows.
class Promises {
public:
    explicit Promises(const LoopCore& core) {
        for (PromiseState* state = core.pending; state; state = state->next) {
            if (!state->dying) pending_.push_back(state);
        }
        std::reverse(pending_.begin(), pending_.end());  // the loop's list begins with the newest
        for (PromiseState* const state : pending_) {
            if (PromiseState* const next = followed(*state)) followed_.insert(next);
        }
    }

    void list(std::vector<Waiting>& entries) {
        for (PromiseState* const state : pending_) {
            if (stands_alone(*state) || followed_.count(state) == 0) add(*state, entries);
        }
        // Who is left waits in a circle, and so is followed: a deadlock must not go untold.
        for (PromiseState* const state : pending_) {
            if (told_.count(state) == 0) add(*state, entries);
        }
    }

private:
    static bool stands_alone(PromiseState& state) {
        return state.as_task() || explained(state).is_job;
    }

    /// The one pending promise whose outcome `state` will have, or a task go on with.
    static PromiseState* followed(PromiseState& state) {
        if (TaskCore* const task = state.as_task()) {
            return task->waiting && !task->waiting->done() ? task->waiting : nullptr;
        }
        const WhyPending why = explained(state);
        const bool one = why.of == 0 && why.waits_for.size() == 1 && !why.waits_for[0]->done();
        return one ? why.waits_for[0] : nullptr;
    }

    static std::string in_words(PromiseState& state) {
        if (TaskCore* const task = state.as_task()) return "task " + name_of(*task);
        const WhyPending why = explained(state);
        std::string text = why.is_job ? "job " + why.what : why.what;
        if (text.empty()) text = "promise";
        const std::string place = state.made_at();
        if (!place.empty()) text += " made at " + place;
        if (why.of != 0) {
            text += " (" + std::to_string(why.waits_for.size()) + " of " + std::to_string(why.of) +
                    " pending)";
        }
        return text;
    }

    /// What is followed by `state`, from the nearest to the one that began it; the middle of a long
    /// chain is counted only.
    std::string chain(PromiseState& state) {
        constexpr std::size_t shown = 3;
        std::string text;
        std::unordered_set<const PromiseState*> seen{&state};
        std::size_t passed_over = 0;
        PromiseState* at = followed(state);
        while (at) {
            const bool circle = !seen.insert(at).second;
            PromiseState* const next = circle || stands_alone(*at) ? nullptr : followed(*at);
            if (!stands_alone(*at)) told_.insert(at);
            if (next && seen.size() > shown + 1) {
                ++passed_over;
            } else {
                if (!text.empty()) text += ", ";
                if (passed_over != 0) text += std::to_string(passed_over) + " more, ";
                text += circle ? "and so on in a circle" : in_words(*at);
            }
            at = next;
        }
        return text;
    }

    void add(PromiseState& state, std::vector<Waiting>& entries) {
        told_.insert(&state);
        TaskCore* const task = state.as_task();
        const WhyPending why = explained(state);
        Waiting entry = blank(task         ? Kind::task
                              : why.is_job ? Kind::job
                                           : Kind::promise,
                              task ? name_of(*task) : why.what);
        if (task) {
            entry.status = detail::task_status(*task);
            entry.state = task->waits_in();
            entry.when = task->time_limit();
        } else if (why.is_job) {
            entry.status = why.running ? "running on a thread" : "waiting for a thread";
        } else if (why.of != 0) {
            entry.awaits = std::to_string(why.waits_for.size()) + " of " + std::to_string(why.of) +
                           " promises";
        }
        if (why.of == 0) entry.awaits = chain(state);
        entry.made_at = state.made_at();
        entry.age = detail::Births::age(state);
        for (const Node* node = state.first; node; node = node->next) {
            if (node->ops && node->label != detail::own_label) ++entry.callbacks;
        }
        entries.push_back(std::move(entry));
    }

    std::vector<PromiseState*> pending_;
    std::unordered_set<const PromiseState*> followed_;
    std::unordered_set<const PromiseState*> told_;
};

// ---- callbacks ------------------------------------------------------------------------------

void list_timers(const LoopCore& core, std::vector<Waiting>& entries) {
    std::vector<std::pair<std::pair<TimePoint, std::uint32_t>, Waiting>> timers;
    const auto add = [&timers](const TimerNode& timer) {
        Waiting entry = blank(Kind::timer, name_of(timer));
        entry.when = timer.when;
        entry.period = timer.is(NodeFlag::repeating) ? timer.period : Duration::zero();
        timers.emplace_back(std::make_pair(timer.when, timer.sequence), std::move(entry));
    };
    core.timers.for_each(add);
    // The call_every() timer whose callback asks: it will be armed when that returns.
    const Node* const running = core.current;
    if (running && running->kind() == NodeKind::timer && running->is(NodeFlag::repeating) &&
        !running->is(NodeFlag::cancelled) && !static_cast<const TimerNode*>(running)->armed()) {
        add(*static_cast<const TimerNode*>(running));
    }
    std::stable_sort(timers.begin(), timers.end(),
                     [](const decltype(timers)::value_type& a,
                        const decltype(timers)::value_type& b) { return a.first < b.first; });
    for (auto& timer : timers) entries.push_back(std::move(timer.second));
}

void list_watches(const WatchTable& watches, TimePoint now, std::vector<Waiting>& entries) {
    watches.for_each([&](int fd, const Node& node, const WatchTable::Origin& origin) {
        if (node.label == detail::own_label) return;
        const NodeKind kind = node.kind();
        Waiting entry = blank(kind == NodeKind::reader   ? Kind::reader
                              : kind == NodeKind::writer ? Kind::writer
                                                         : Kind::urgent_reader,
                              name_of(node));
        entry.descriptor = fd;
        if (origin.line != 0) entry.made_at = origin.file + (':' + std::to_string(origin.line));
        if (origin.time != never()) entry.age = now - origin.time;
        entries.push_back(std::move(entry));
    });
}

void list_signals(EventLoop& loop, std::vector<Waiting>& entries) {
    for (const auto& handler : detail::signal_callbacks(loop)) {
        const Node& node = *detail::HandleAccess::node(handler.second);
        if (node.label == detail::own_label) continue;
        Waiting entry = blank(Kind::signal, name_of(node));
        entry.signal = handler.first;
        entries.push_back(std::move(entry));
    }
}

void list_queue(detail::LoopState& state, std::vector<Waiting>& entries) {
    for (const Node* node = state.head; node; node = node->next) {
        if (!node->ops || node->label == detail::own_label) continue;
        // Rescheduled while it was due: passed over here, and listed as a timer.
        if (node->kind() == NodeKind::timer && static_cast<const TimerNode*>(node)->armed()) {
            continue;
        }
        entries.push_back(blank(Kind::queued, name_of(*node)));
    }
    state.inbox->for_each(
        [&](const Node& post) { entries.push_back(blank(Kind::posted, name_of(post))); });
}

std::string signal_name(int signal) {
    switch (signal) {
        case SIGHUP:
            return "SIGHUP";
        case SIGINT:
            return "SIGINT";
        case SIGQUIT:
            return "SIGQUIT";
        case SIGUSR1:
            return "SIGUSR1";
        case SIGUSR2:
            return "SIGUSR2";
        case SIGPIPE:
            return "SIGPIPE";
        case SIGALRM:
            return "SIGALRM";
        case SIGTERM:
            return "SIGTERM";
        case SIGCHLD:
            return "SIGCHLD";
        default:
            return "signal " + std::to_string(signal);
    }
}

std::string deadline_text(TimePoint when, TimePoint now) {
    if (when == never()) return "never due";
    return when <= now ? "due" : "due in " + detail::seconds_text(when - now);
}

}  // namespace

// ---- in words -------------------------------------------------------------------------------

const char* text(Waiting::Kind kind) noexcept {
    switch (kind) {
        case Kind::task:
            return "task";
        case Kind::job:
            return "job";
        case Kind::promise:
            return "promise";
        case Kind::timer:
            return "timer";
        case Kind::reader:
            return "reader";
        case Kind::writer:
            return "writer";
        case Kind::urgent_reader:
            return "urgent reader";
        case Kind::signal:
            return "signal handler";
        case Kind::queued:
            return "queued callback";
        case Kind::posted:
            return "posted callback";
    }
    return "";
}

std::string Waiting::details(TimePoint now) const {
    std::string all = status;
    const auto add = [&all](const std::string& part) { all += (all.empty() ? "" : ", ") + part; };
    if (!awaits.empty()) {
        if (kind == Kind::task) {
            all += " for " + awaits;
        } else {
            add("waiting for " + awaits);
        }
    }
    if (descriptor >= 0) add("descriptor " + std::to_string(descriptor));
    if (signal != 0) add(signal_name(signal));
    if (kind == Kind::timer) add(deadline_text(when, now));
    if (kind == Kind::task && when != never()) add("time limit " + deadline_text(when, now));
    if (period > Duration::zero()) add("every " + detail::seconds_text(period));
    if (kind == Kind::promise) {
        add(callbacks == 0 ? "with no callback"
                           : "with " + std::to_string(callbacks) +
                                 (callbacks == 1 ? " callback" : " callbacks"));
    }
    if (!made_at.empty()) add("made at " + made_at);
    if (age >= Duration::zero()) add(detail::seconds_text(age) + " old");
    return all;
}

std::size_t Alive::count(Waiting::Kind kind) const noexcept {
    std::size_t found = 0;
    for (const Waiting& entry : entries) {
        if (entry.kind == kind) ++found;
    }
    return found;
}

Alive Alive::only(std::initializer_list<Waiting::Kind> kinds) const {
    Alive some;
    some.now = now;
    for (const Waiting& entry : entries) {
        if (std::find(kinds.begin(), kinds.end(), entry.kind) != kinds.end()) {
            some.entries.push_back(entry);
        }
    }
    return some;
}

std::string Alive::text(std::size_t most) const {
    detail::TextTable table;
    for (const Waiting& entry : entries) {
        table.add(reactor::text(entry.kind), entry.name, entry.details(now));
    }
    return table.text(most);
}

// ---- the loop -------------------------------------------------------------------------------

Alive why_alive(EventLoop& loop) {
    LoopCore& core = loop.core();
    core.check_thread("why_alive");
    Alive alive;
    alive.now = loop.time();
    if (loop.is_closed()) return alive;
    detail::LoopState& state = static_cast<detail::LoopState&>(core);
    std::vector<Waiting>& entries = alive.entries;
    Promises(core).list(entries);
    list_timers(core, entries);
    list_watches(state.watches, alive.now, entries);
    list_signals(loop, entries);
    list_queue(state, entries);
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Waiting& a, const Waiting& b) { return a.kind < b.kind; });
    return alive;
}

namespace detail {

std::map<std::string, std::size_t> states_of_class(EventLoop& loop, const char* class_name) {
    LoopCore& core = loop.core();
    core.check_thread("task_states");
    std::map<std::string, std::size_t> states;
    for (PromiseState* state = core.pending; state; state = state->next) {
        TaskCore* const task = state->dying ? nullptr : state->as_task();
        if (task && std::strcmp(task->class_name, class_name) == 0) ++states[task->waits_in()];
    }
    return states;
}

}  // namespace detail
}  // namespace reactor
