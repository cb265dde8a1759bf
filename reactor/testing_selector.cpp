// SPDX-License-Identifier: BSL-1.0
#include <reactor/error.hpp>
#include <reactor/testing_selector.hpp>

#include <algorithm>
#include <cerrno>
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

VirtualSelector::Watches::iterator VirtualSelector::place(int fd) noexcept {
    return std::lower_bound(
        watched_.begin(), watched_.end(), fd,
        [](const VirtualDescriptors::Watch& watch, int number) { return watch.fd < number; });
}

bool VirtualSelector::watches_virtually(int fd) noexcept {
    const auto at = place(fd);
    return at != watched_.end() && at->fd == fd;
}

void VirtualSelector::set_virtual_descriptors(VirtualDescriptors* descriptors) {
    if (descriptors && virtual_) {
        throw StateError(
            "VirtualSelector: there are virtual descriptors already: one network of a "
            "loop at a time");
    }
    virtual_ = descriptors;
    watched_.clear();
}

void VirtualSelector::add(int fd, unsigned interest, std::uint64_t token) {
    if (is_virtual(fd)) {
        check_interest(interest);
        if (watches_virtually(fd)) refuse(EEXIST, "add", fd);
        watched_.insert(place(fd), {fd, interest, token});
        return;
    }
    watching_->add(fd, interest, token);
    // Accepted: the number has changed hands.
    if (watches_virtually(fd)) watched_.erase(place(fd));
}

void VirtualSelector::modify(int fd, unsigned interest, std::uint64_t token) {
    if (is_virtual(fd)) {
        check_interest(interest);
        if (!watches_virtually(fd)) refuse(ENOENT, "modify", fd);
        *place(fd) = {fd, interest, token};
        return;
    }
    watching_->modify(fd, interest, token);
}

void VirtualSelector::remove(int fd) noexcept {
    if (watches_virtually(fd)) {
        watched_.erase(place(fd));
    } else if (!is_virtual(fd)) {
        watching_->remove(fd);
    }
}

void VirtualSelector::reset() {
    watching_->reset();
    watched_.clear();
}

int VirtualSelector::fd() const noexcept { return watching_->fd(); }

void VirtualSelector::look(std::vector<SelectorEvent>& ready) {
    for (const VirtualDescriptors::Watch& watch : watched_) {
        // Closed behind the loop's back: told as poll tells it.
        if (!virtual_->owns(watch.fd)) ready.push_back({watch.token, SelectorEvent::invalid});
    }
    virtual_->look(clock_.now(), watched_, ready);
}

/// Goes from one thing that happens to the next, until something is ready. True if `timeout` is not
/// over before.
bool VirtualSelector::find(Duration timeout, std::vector<SelectorEvent>& ready) {
    const TimePoint end = deadline_after(clock_.now(), timeout);
    for (;;) {
        watching_->wait(Duration::zero(), ready);
        look(ready);
        if (!ready.empty()) return true;
        const TimePoint change = virtual_->next_change();
        if (timeout <= Duration::zero() || change == never() || change > end) return false;
        if (change > clock_.now()) clock_.advance_to(change);
    }
}

void VirtualSelector::wait(Duration timeout, std::vector<SelectorEvent>& ready) {
    ++waits_;
    const TimePoint end = deadline_after(clock_.now(), timeout);
    const bool may_sleep = timeout > Duration::zero();
    if (!virtual_ || (!find(timeout, ready) && may_sleep && patience_ > Duration::zero())) {
        watching_->wait(may_sleep ? patience_ : Duration::zero(), ready);
    }
    last_found_ = ready.size();
    if (ready.empty()) pass_time(clock_, end == never() ? timeout : end - clock_.now());
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
