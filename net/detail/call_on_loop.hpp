// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_CALL_ON_LOOP_HPP
#define REACTOR_NET_DETAIL_CALL_ON_LOOP_HPP

#include <reactor/chain.hpp>
#include <reactor/detail/chain_link.hpp>
#include <reactor/error.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <exception>
#include <utility>

#include <cxxabi.h>

namespace reactor {
namespace net {
namespace detail {

/// The loop takes no posts: it has not begun, or has ended.
class LoopDoesNotRun final : public BrokenPromise {
public:
    LoopDoesNotRun() : BrokenPromise("that event loop does not run") {}
};

/// What call_on_loop() posts.
template <class T, class F>
class CallOnLoop {
public:
    CallOnLoop(Promise<T> to, F f) : to_(std::move(to)), f_(std::move(f)) {}
    CallOnLoop(CallOnLoop&&) = default;
    CallOnLoop& operator=(CallOnLoop&&) = delete;
    ~CallOnLoop() {
        if (to_) reactor::detail::break_destination(std::move(to_), false);
    }

    void operator()() {
        const Promise<T> from = call();
        chain(from, std::move(to_));
    }

private:
    Promise<T> call() {
        std::exception_ptr error;
        try {
            return f_();
        } catch (const LoopExit&) {
            throw;
        } catch (const abi::__forced_unwind&) {
            throw;
        } catch (...) {
            error = std::current_exception();
        }
        const Promise<T> failed = get_running_loop().create_promise<T>();
        failed.set_exception(std::move(error));
        return failed;
    }

    Promise<T> to_;
    F f_;
};

/// Calls f() on another loop, or this one, which returns a promise there: the promise here is
/// chained to it. LoopDoesNotRun if nothing is called; another BrokenPromise if that loop ends
/// before the promise there is done, or f() ends it by LoopExit.
template <class T, class F>
Promise<T> call_on_loop(EventLoop& here, const Poster& there, F f) {
    const Promise<T> promise = here.create_promise<T>();
    // What was to be posted breaks the promise when it goes, by a post that comes later than this.
    if (!there.post(CallOnLoop<T, F>(promise, std::move(f)))) {
        promise.set_exception(LoopDoesNotRun());
    }
    return promise;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
