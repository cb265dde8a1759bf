// SPDX-License-Identifier: BSL-1.0
#include <reactor/context.hpp>

#include <algorithm>
#include <atomic>

namespace reactor {
namespace detail {

ContextValue::~ContextValue() = default;

ContextValuePtr ContextMap::find(std::uint64_t id) const noexcept {
    for (const auto& entry : entries_) {
        if (entry.first == id) return entry.second;
    }
    return nullptr;
}

void set_context_value(ContextMapPtr& map, std::uint64_t id, ContextValuePtr value) {
    // The old map and value die last: their destructors are the user's and may set variables.
    ContextMapPtr old = map;
    ContextMapPtr changed(new ContextMap);
    if (old) changed->entries_ = old->entries_;
    auto& entries = changed->entries_;
    const auto at = std::find_if(
        entries.begin(), entries.end(),
        [id](const std::pair<std::uint64_t, ContextValuePtr>& entry) { return entry.first == id; });
    if (value) {
        if (at == entries.end()) {
            entries.emplace_back(id, std::move(value));
        } else {
            at->second = std::move(value);
        }
    } else if (at != entries.end()) {
        entries.erase(at);
    }
    map = entries.empty() ? ContextMapPtr() : std::move(changed);
}

ContextMapPtr clone_for_other_thread(const ContextMapPtr& map) {
    if (!map) return nullptr;
    ContextMapPtr copy(new ContextMap);
    for (const auto& entry : map->entries_) {
        copy->entries_.emplace_back(entry.first, ContextValuePtr(entry.second->clone()));
    }
    return copy;
}

namespace {

/// Each thread starts with an empty context of its own.
ContextCell* outermost_context() noexcept {
    static thread_local ContextCell outermost;
    return &outermost;
}

}  // namespace

ContextCell*& current_context_slot() noexcept {
    // Without an initialiser that is run: the compiler would ask at each call whether it was.
    static thread_local ContextCell* current = nullptr;
    if (!current) current = outermost_context();
    return current;
}

ContextEntry::ContextEntry(ContextCell& cell) : cell_(&cell), before_(current_context_slot()) {
    if (cell.entered) {
        throw StateError(
            "Context::run: this context is entered already: copy() it to run another function in "
            "the same values");
    }
    cell.entered = true;
    current_context_slot() = &cell;
}

ContextEntry::~ContextEntry() {
    cell_->entered = false;
    current_context_slot() = before_;
}

std::uint64_t new_context_id() noexcept {
    // Numbers only, which nothing depends on but being different.
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace detail
}  // namespace reactor
