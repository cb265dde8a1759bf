// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/observer.hpp>

#include <utility>

namespace reactor {
namespace detail {

void Observers::add(Observer& observer) {
    ++count_;
    for (Observer*& slot : slots_) {
        if (slot) continue;
        slot = &observer;
        return;
    }
    try {
        slots_.push_back(&observer);
    } catch (...) {
        --count_;
        throw;
    }
}

void Observers::remove(const Observer& observer) noexcept {
    for (Observer*& slot : slots_) {
        if (slot != &observer) continue;
        slot = nullptr;
        --count_;
    }
}

void Observers::close() noexcept {
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        Observer* const observer = slots_[i];
        if (!observer) continue;
        slots_[i] = nullptr;
        --count_;
        observer->closes();
    }
}

}  // namespace detail
}  // namespace reactor
