// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_REACTOR_STUBBORN_HPP
#define REACTOR_TEST_REACTOR_STUBBORN_HPP

#include <reactor/promise.hpp>

#include <string>

/// The promise of work that hears of its cancellation and ends as it likes.
struct Stubborn final : reactor::detail::Pooled<Stubborn, reactor::detail::ValueState<int>> {
    using Pooled::Pooled;
    reactor::detail::PromiseState* cancel_step(const std::string&, bool& took) override {
        took = true;
        ++asked;
        return nullptr;
    }
    static reactor::Promise<int> make(reactor::EventLoop& loop, Stubborn*& state) {
        state = reactor::detail::make_state<Stubborn>(loop.core(), reactor::Here());
        return reactor::detail::PromiseAccess::adopt<reactor::Promise<int>>(state);
    }
    int asked = 0;
};

#endif
