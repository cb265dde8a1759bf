// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_STAGGERED_RACING_HPP
#define REACTOR_NET_DETAIL_STAGGERED_RACING_HPP

#include <net/staggered_race.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace reactor {
namespace net {

namespace detail {

/// The race as a task; see staggered_race(). An attempt is held by the race and not by what will
/// complete it: if that goes, the attempt fails with BrokenPromise, and the race goes on.
///
///     start ──> next ──> wait ─────────────> finish
///                ^        │ ^   all have ended
///                └────────┘ └── one has won: the others are cancelled
///     the latest has failed, or has had its time
template <class T>
class StaggeredRace final : public Task<RaceOutcome<T>> {
public:
    using Starters = std::vector<std::function<Promise<T>()>>;

    StaggeredRace(Starters starters, Duration delay)
        : starters_(std::move(starters)), delay_(delay), bell_(std::make_shared<Bell>()) {
        // Neither may fail for lack of memory when an attempt ends: the race would wait for ever.
        bell_->ended.reserve(starters_.size());
        outcome_.errors.reserve(starters_.size());
        attempts_.reserve(starters_.size());
    }
    ~StaggeredRace() override { timer_.cancel(); }

private:
    /// What wakes the race up. Shared with the callbacks that ring it: they may run when the race
    /// has been given up.
    struct Bell {
        std::vector<std::size_t> ended;  // attempts, in the order in which they have ended
        bool late = false;               // the latest attempt has had its time
        Promise<void> turn;

        void ring() {
            if (turn && !turn.done()) turn.set_result();
        }
    };

    Next start() override { return next(); }

    Next next() {
        timer_.cancel();
        bell_->late = false;
        if (attempts_.size() < starters_.size()) launch();
        return wait();
    }

    void launch() {
        const std::size_t index = attempts_.size();
        // Through then(), which knows what to do with a starter that throws.
        const Promise<void> now = this->loop().template create_promise<void>();
        now.set_result();
        attempts_.push_back(now.then(std::move(starters_[index])));
        outcome_.errors.emplace_back();
        const std::shared_ptr<Bell> bell = bell_;
        attempts_.back().add_done_callback([bell, index](const Promise<T>&) {
            bell->ended.push_back(index);
            bell->ring();
        });
        if (delay_ == forever() || attempts_.size() == starters_.size()) return;
        timer_ = this->loop().call_later(delay_, [bell] {
            bell->late = true;
            bell->ring();
        });
    }

    Next wait() {
        if (settled_ == attempts_.size()) return this->finish(std::move(outcome_));
        return this->await(turn(), &StaggeredRace::look);
    }

    Next look() {
        bool go_on = bell_->late;
        for (const std::size_t index : bell_->ended) {
            settle(index);
            go_on = go_on || index + 1 == attempts_.size();
        }
        bell_->ended.clear();
        if (outcome_.winner) {
            cancel_others();
            return wait();
        }
        return go_on ? next() : wait();
    }

    void settle(std::size_t index) {
        ++settled_;
        Promise<T> attempt = std::move(attempts_[index]);
        std::exception_ptr error = attempt.error();
        if (!error && !outcome_.winner) {
            outcome_.winner = std::move(attempt);
            outcome_.index = index;
        } else if (!error) {
            error = std::make_exception_ptr(CancelledError("another attempt has won"));
        }
        outcome_.errors[index] = std::move(error);
    }

    void cancel_others() {
        timer_.cancel();
        for (const Promise<T>& attempt : attempts_) {
            if (attempt) attempt.cancel("another attempt has won");
        }
    }

    /// Done when something has happened since the last look.
    Promise<void> turn() {
        bell_->turn = this->loop().template create_promise<void>();
        if (!bell_->ended.empty()) bell_->ring();
        return bell_->turn;
    }

    /// Cancelled, or out of memory: the attempts end before the race does.
    Next finally() override {
        for (const std::size_t index : bell_->ended) settle(index);
        bell_->ended.clear();
        cancel_others();
        if (settled_ == attempts_.size()) return this->end();
        return this->await(turn(), &StaggeredRace::finally_again);
    }
    Next finally_again() { return finally(); }

    Starters starters_;
    Duration delay_;
    std::shared_ptr<Bell> bell_;
    std::vector<Promise<T>> attempts_;  // empty where settled
    std::size_t settled_ = 0;
    TimerHandle timer_;
    RaceOutcome<T> outcome_;
};

}  // namespace detail

}  // namespace net
}  // namespace reactor

#endif
