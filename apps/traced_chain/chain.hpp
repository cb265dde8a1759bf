// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TRACED_CHAIN_CHAIN_HPP
#define REACTOR_TRACED_CHAIN_CHAIN_HPP

#include <reactor/event_loop.hpp>
#include <reactor/handle.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <vector>

namespace traced_chain {

/// A chain of callbacks of every kind, each of which schedules the next:
///
///     timer ──writes──> socket ──> reader ──> job on a thread ──> promise ──then──> task
///
/// Numbers go through the socket; how many primes are below each is counted on the loop's thread
/// pool, and a task adds up the answers.
class Chain {
public:
    explicit Chain(reactor::EventLoop& loop);
    ~Chain();
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;

    /// From inside a callback, which is the first link. The answers, in order.
    const std::vector<reactor::Promise<long>>& start();

private:
    void send();
    void receive();

    reactor::EventLoop& loop_;
    int sending_ = -1;
    int receiving_ = -1;
    std::size_t sent_ = 0;
    std::size_t received_ = 0;
    std::vector<reactor::Promise<long>> answers_;
    reactor::TimerHandle timer_;
};

/// Starts a chain and adds up its answers:
///
///     start ──> wait ⟲ ──(last)──> finish
class Adder : public reactor::Task<long> {
public:
    explicit Adder(Chain& chain) : chain_(chain) {}

private:
    reactor::Next start() override;
    reactor::Next wait();
    reactor::Next add(long answer);

    Chain& chain_;
    std::vector<reactor::Promise<long>> answers_;
    std::size_t next_ = 0;
    long sum_ = 0;
};

}  // namespace traced_chain

#endif
