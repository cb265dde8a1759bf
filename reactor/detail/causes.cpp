// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/causes.hpp>
#include <reactor/detail/loop_core.hpp>

#include <algorithm>

namespace reactor {
namespace detail {

namespace {

// So many intervals of timers are kept without asking which of them still stand for one: a look
// at every armed timer, which is paid for by as many callbacks that armed some.
constexpr std::size_t prune_minimum = 1024;

}  // namespace

Causes::Causes(LoopCore& core)
    : core_(core), seen_(&core.head), sequence_(core.timers.sequence()), prune_at_(prune_minimum) {
    settle(Cause());
    core_.timers.set_renumbering(this);
}

Causes::~Causes() { core_.timers.set_renumbering(nullptr); }

// ---- the ready queue ------------------------------------------------------------------------

void Causes::append(const Node* node, const Cause& cause) {
    for (; node; node = node->next) queued_.push_back(Entry{core_.next_trace_id++, cause});
    seen_ = core_.tail;
}

void Causes::settle(const Cause& cause) {
    append(*seen_, cause);
    note_armed(cause);
    running_ = Cause();
}

void Causes::collected() {
    for (const Node* node = *seen_; node; node = node->next) {
        queued_.push_back(Entry{core_.next_trace_id++, of_event(*node)});
    }
    seen_ = core_.tail;
    // The handler of a report may have armed timers.
    note_armed(Cause());
}

Causes::Entry Causes::take() {
    if (queued_.empty()) {
        // Queued unseen itself: the trace began after the poll of this batch, in a report's
        // handler.
        const Entry entry{core_.next_trace_id++, running_};
        append(core_.head, running_);
        return entry;
    }
    if (queued_.size() <= core_.ready()) {
        // The trace began inside a callback whose end it was not told of. The node that was seen
        // last may be the one that was taken just now: counted from the front.
        const Node* node = core_.head;
        for (std::size_t seen = queued_.size(); seen > 1; --seen) node = node->next;
        append(node, running_);
    }
    const Entry entry = queued_.front();
    queued_.pop_front();
    if (queued_.empty()) seen_ = &core_.head;
    return entry;
}

Cause Causes::of_event(const Node& node) const noexcept {
    switch (node.kind()) {
        case NodeKind::timer:
            return of_timer(static_cast<const TimerNode&>(node).sequence);
        case NodeKind::reader:
        case NodeKind::writer:
        case NodeKind::urgent: {
            const std::size_t at = place(node);
            return at < watches_.size() ? watches_[at] : Cause();
        }
        case NodeKind::soon:
        case NodeKind::done:
            break;  // a post; a promise that was given up on another thread
    }
    return Cause();
}

Cause Causes::of(const Node& node) const {
    if (node.is(NodeFlag::armed)) return of_event(node);
    std::size_t at = 0;
    for (const Node* queued = core_.head; queued; queued = queued->next, ++at) {
        if (queued != &node) continue;
        return at < queued_.size() ? queued_[at].cause : running_;
    }
    const bool waits = node.kind() != NodeKind::timer && node.ops;
    return waits ? of_event(node) : Cause();
}

// ---- descriptors ----------------------------------------------------------------------------

std::size_t Causes::place(const Node& watch) noexcept {
    const unsigned kind =
        static_cast<unsigned>(watch.kind()) - static_cast<unsigned>(NodeKind::reader);
    return std::size_t{watch.key} * 3 + kind;
}

void Causes::registered(const Node& watch, const Cause& cause) {
    const std::size_t at = place(watch);
    if (at >= watches_.size()) watches_.resize(at + at / 2 + 3);
    watches_[at] = cause;
}

// ---- timers ---------------------------------------------------------------------------------

Cause Causes::of_timer(std::uint32_t sequence) const noexcept {
    if (sequence > sequence_) return running_;
    const auto found = std::lower_bound(
        armed_.begin(), armed_.end(), sequence,
        [](const Armed& armed, std::uint32_t wanted) { return armed.last < wanted; });
    return found != armed_.end() && sequence > found->after ? found->cause : Cause();
}

void Causes::note_armed(const Cause& cause) {
    const std::uint32_t now = core_.timers.sequence();
    if (now == sequence_) return;
    if (cause.id != 0) {
        armed_.push_back(Armed{sequence_, now, cause});
        if (armed_.size() > prune_at_) prune();
    }
    sequence_ = now;
}

void Causes::prune() {
    std::vector<std::uint32_t> alive;
    core_.timers.for_each([&](const TimerNode& timer) { alive.push_back(timer.sequence); });
    std::sort(alive.begin(), alive.end());
    const auto stands_for_none = [&](const Armed& armed) {
        const auto next = std::upper_bound(alive.begin(), alive.end(), armed.after);
        return next == alive.end() || *next > armed.last;
    };
    armed_.erase(std::remove_if(armed_.begin(), armed_.end(), stands_for_none), armed_.end());
    // As many as there are timers, or looking at all of them would not be paid for.
    prune_at_ = std::max({prune_minimum, 2 * armed_.size(), alive.size()});
}

void Causes::renumbered(std::uint32_t before, std::uint32_t now) noexcept {
    const Cause cause = of_timer(before);
    if (cause.id == 0) return;
    try {
        renumbered_.push_back(Armed{now - 1, now, cause});
    } catch (...) {
        // Out of memory: nobody will know who armed this one.
    }
}

void Causes::all_renumbered() noexcept {
    armed_.swap(renumbered_);
    renumbered_.clear();
    sequence_ = core_.timers.sequence();
}

}  // namespace detail
}  // namespace reactor
