// SPDX-License-Identifier: BSL-1.0
#include <reactor/any_promise.hpp>
#include <reactor/error.hpp>

#include <stdexcept>
#include <string>

namespace reactor {

std::exception_ptr AnyPromise::exception() const {
    detail::PromiseState& promise = state("exception");
    if (promise.status == detail::PromiseStatus::cancelled) promise.check_value("exception");
    return promise.failure("exception");
}

void AnyPromise::set_exception(std::exception_ptr error) const {
    detail::PromiseState& promise = settable("set_exception");
    if (!error) {
        throw std::invalid_argument("set_exception: the error is null: give one, or call cancel()");
    }
    promise.require_pending("set_exception");
    promise.fail(std::move(error));
}

EventLoop& AnyPromise::loop() const {
    EventLoop* const loop = state("loop").core->loop;
    if (!loop) {
        throw StateError("loop: the promise's event loop is gone: ask before it is destroyed");
    }
    return *loop;
}

void AnyPromise::refuse_empty(const char* call) {
    throw StateError(std::string(call) +
                     ": the promise is empty: get one from create_promise() or an operation");
}

void AnyPromise::refuse_task(const char* call) {
    throw StateError(std::string(call) + ": a task sets its own outcome: use finish() or fail()");
}

}  // namespace reactor
