// SPDX-License-Identifier: BSL-1.0
// What a user's first program does, built as a user builds it.
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <net/endpoint.hpp>

#include <chrono>

int main() {
    reactor::EventLoop loop;
    reactor::Promise<int> answer = loop.create_promise<int>();
    loop.call_later(std::chrono::milliseconds(1), [answer]() mutable { answer.set_result(42); });
    return loop.run_until_complete(answer) == 42 ? 0 : 1;
}
