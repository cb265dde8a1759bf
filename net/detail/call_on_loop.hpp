// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_CALL_ON_LOOP_HPP
#define REACTOR_NET_DETAIL_CALL_ON_LOOP_HPP

#include <reactor/chain.hpp>
#include <reactor/detail/chain_link.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <exception>
#include <utility>

#include <cxxabi.h>

namespace reactor {
namespace net {
namespace detail {

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
/// chained to it. BrokenPromise if that loop has ended, or ends before.
template <class T, class F>
Promise<T> call_on_loop(EventLoop& here, const Poster& there, F f) {
    const Promise<T> promise = here.create_promise<T>();
    there.post(CallOnLoop<T, F>(promise, std::move(f)));
    return promise;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
