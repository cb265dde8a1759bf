// SPDX-License-Identifier: BSL-1.0
#include "targets.hpp"

#include <stdexcept>
#include <utility>

namespace proxy {

namespace {

// Long enough that a target which does not answer costs few connections their connect time-out,
// short enough that one that is back is noticed soon.
constexpr std::chrono::seconds rest{5};

}  // namespace

Targets::Targets(std::vector<command_line::Address> addresses, bool in_turn) : in_turn_(in_turn) {
    if (addresses.empty()) throw std::invalid_argument("proxy::Targets: there is none");
    for (command_line::Address& address : addresses) {
        targets_.push_back(Target{std::move(address), reactor::TimePoint()});
    }
}

std::vector<std::size_t> Targets::order(reactor::TimePoint now) {
    std::vector<std::size_t> ready, resting;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        const std::size_t index = (next_ + i) % targets_.size();
        (targets_[index].rests_until <= now ? ready : resting).push_back(index);
    }
    if (in_turn_) next_ = (next_ + 1) % targets_.size();
    ready.insert(ready.end(), resting.begin(), resting.end());
    return ready;
}

void Targets::failed(std::size_t index, reactor::TimePoint now) {
    targets_[index].rests_until = reactor::deadline_after(now, rest);
}

}  // namespace proxy
