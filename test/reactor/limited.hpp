// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_REACTOR_LIMITED_HPP
#define REACTOR_TEST_REACTOR_LIMITED_HPP

#include <reactor/timeout.hpp>

#include <functional>
#include <utility>

#include "task_fixture.hpp"

namespace task_test {

/// A task with two limits, of which the test decides what happens where.
class Limited : public Task<int> {
public:
    using Do = std::function<Next(Limited&)>;
    using Caught = std::function<Next(Limited&, const CancelledError&)>;

    Limited(Do begin, Do then, Caught caught = nullptr)
        : begin_(std::move(begin)), then_(std::move(then)), caught_(std::move(caught)) {}

    Next wait(Promise<void> promise) {
        if (caught_) return await(std::move(promise), &Limited::next, &Limited::caught);
        return await(std::move(promise), &Limited::next);
    }
    Next take_turn() { return yield(&Limited::next); }

    using Task<int>::cancel;
    using Task<int>::cancelling;
    using Task<int>::finish;

    reactor::Timeout limit;
    reactor::Timeout inner;

private:
    Next start() override { return begin_(*this); }
    Next next() { return then_(*this); }
    Next caught(const CancelledError& e) {
        const Caught caught = std::move(caught_);
        caught_ = nullptr;
        return caught(*this, e);
    }

    Do begin_;
    Do then_;
    Caught caught_;
};

inline Next leave_and_finish(Limited& t) {
    t.limit.leave();
    return t.finish(1);
}

}  // namespace task_test

#endif
