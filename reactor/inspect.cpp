// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/loop_state.hpp>
#include <reactor/detail/pending_promises.hpp>
#include <reactor/detail/text_table.hpp>
#include <reactor/inspect.hpp>
#include <reactor/signals.hpp>

#include <algorithm>
#include <cstring>
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

namespace {

using Kind = Waiting::Kind;

std::string name_of(const Node& node) {
    // The step of a task has its class as the label, as the compiler prints it.
    return detail::type_text(node.name().c_str());
}

// ---- callbacks ------------------------------------------------------------------------------

void list_timers(const LoopCore& core, std::vector<Waiting>& entries) {
    std::vector<std::pair<std::pair<TimePoint, std::uint32_t>, Waiting>> timers;
    const auto add = [&timers](const TimerNode& timer) {
        Waiting entry = detail::waiting_entry(Kind::timer, name_of(timer));
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
        Waiting entry = detail::waiting_entry(kind == NodeKind::reader   ? Kind::reader
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
        Waiting entry = detail::waiting_entry(Kind::signal, name_of(node));
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
        entries.push_back(detail::waiting_entry(Kind::queued, name_of(*node)));
    }
    state.inbox->for_each([&](const Node& post) {
        entries.push_back(detail::waiting_entry(Kind::posted, name_of(post)));
    });
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
    detail::PendingPromises(core).list(entries);
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
