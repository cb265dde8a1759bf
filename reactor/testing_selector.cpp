// SPDX-License-Identifier: BSL-1.0
#include <reactor/error.hpp>
#include <reactor/testing_selector.hpp>

#include <string>
#include <system_error>

namespace reactor {
namespace testing {

namespace {

void pass_time(VirtualClock& clock, Duration timeout) {
    if (timeout == forever()) {
        throw StateError(
            "the loop would sleep for ever: nothing is queued or ready and no timer is armed, so "
            "what the test waits for cannot happen");
    }
    if (timeout > Duration::zero()) clock.advance(timeout);
}

}  // namespace

// ---- VirtualSelector ------------------------------------------------------------------------

VirtualSelector::VirtualSelector(std::unique_ptr<Selector> watching, VirtualClock& clock)
    : watching_(std::move(watching)), clock_(clock) {}

const char* VirtualSelector::name() const noexcept { return watching_->name(); }

void VirtualSelector::add(int fd, unsigned interest, std::uint64_t token) {
    watching_->add(fd, interest, token);
}

void VirtualSelector::modify(int fd, unsigned interest, std::uint64_t token) {
    watching_->modify(fd, interest, token);
}

void VirtualSelector::remove(int fd) noexcept { watching_->remove(fd); }

void VirtualSelector::reset() { watching_->reset(); }

int VirtualSelector::fd() const noexcept { return watching_->fd(); }

void VirtualSelector::wait(Duration timeout, std::vector<SelectorEvent>& ready) {
    ++waits_;
    watching_->wait(timeout > Duration::zero() ? patience_ : Duration::zero(), ready);
    last_found_ = ready.size();
    if (ready.empty()) pass_time(clock_, timeout);
}

// ---- ScriptedSelector -----------------------------------------------------------------------

const char* ScriptedSelector::name() const noexcept { return "scripted"; }

void ScriptedSelector::play(Ready found) { lines_.push_back(Line{std::move(found), 0}); }

void ScriptedSelector::play_error(int error) { lines_.push_back(Line{Ready(), error}); }

void ScriptedSelector::change(Change::Kind kind, int fd, unsigned interest, std::uint64_t token) {
    check_interest(interest);
    if (const int error = refusal_) {
        refusal_ = 0;
        refuse(error, kind == Change::added ? "add" : "modify", fd);
    }
    changes_.push_back(Change{kind, fd, interest});
    tokens_[fd] = token;
}

void ScriptedSelector::add(int fd, unsigned interest, std::uint64_t token) {
    change(Change::added, fd, interest, token);
}

void ScriptedSelector::modify(int fd, unsigned interest, std::uint64_t token) {
    change(Change::modified, fd, interest, token);
}

void ScriptedSelector::remove(int fd) noexcept {
    changes_.push_back(Change{Change::removed, fd, 0});
}

void ScriptedSelector::reset() { tokens_.clear(); }

void ScriptedSelector::wait(Duration timeout, std::vector<SelectorEvent>& ready) {
    ready.clear();
    timeouts_.push_back(timeout);
    if (lines_.empty()) {
        pass_time(clock_, timeout);
        return;
    }
    const Line line = std::move(lines_.front());
    lines_.pop_front();
    if (line.error != 0) {
        throw std::system_error(line.error, std::system_category(), "scripted selector");
    }
    for (const auto& found : line.ready) ready.push_back({tokens_.at(found.first), found.second});
    if (ready.empty() && timeout != forever()) pass_time(clock_, timeout);
}

}  // namespace testing
}  // namespace reactor
