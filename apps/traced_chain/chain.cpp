// SPDX-License-Identifier: BSL-1.0
#include "chain.hpp"

#include <reactor/executor.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <system_error>

namespace traced_chain {

using reactor::Next;
using reactor::Options;
using reactor::Promise;

namespace {

constexpr int numbers[] = {2000, 4000, 6000};
constexpr std::size_t how_many = sizeof numbers / sizeof *numbers;

/// Blocking work: not for a callback.
long count_primes(int below) {
    long primes = 0;
    for (int n = 2; n < below; ++n) {
        int divisor = 2;
        while (divisor * divisor <= n && n % divisor != 0) ++divisor;
        primes += divisor * divisor > n;
    }
    return primes;
}

/// A continuation with a name, as the trace shows it; a lambda has none.
struct Answer {
    Promise<long> promise;
    void operator()(long primes) const { promise.set_result(primes); }
};

}  // namespace

Chain::Chain(reactor::EventLoop& loop) : loop_(loop) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
        throw std::system_error(errno, std::system_category(), "socketpair");
    }
    sending_ = ends[0];
    receiving_ = ends[1];
}

Chain::~Chain() {
    timer_.cancel();
    loop_.forget_descriptor(receiving_);
    ::close(receiving_);
    ::close(sending_);
}

const std::vector<Promise<long>>& Chain::start() {
    for (std::size_t i = 0; i < how_many; ++i) answers_.push_back(loop_.create_promise<long>());
    loop_.add_reader(Options().label("receive"), receiving_, &Chain::receive, this);
    timer_ =
        loop_.call_every(Options().label("send"), std::chrono::milliseconds(1), &Chain::send, this);
    return answers_;
}

void Chain::send() {
    // Room for a few bytes there is always.
    if (::write(sending_, &numbers[sent_], sizeof(int)) != sizeof(int)) {
        throw std::system_error(errno, std::system_category(), "write");
    }
    if (++sent_ == how_many) timer_.cancel();
}

void Chain::receive() {
    int number;
    if (::read(receiving_, &number, sizeof number) != sizeof number) return;
    loop_.run_in_executor(&count_primes, number).then(Answer{answers_[received_++]});
    if (received_ == how_many) loop_.remove_reader(receiving_);
}

Next Adder::start() {
    answers_ = chain_.start();
    return wait();
}

Next Adder::wait() {
    if (next_ == answers_.size()) return finish(sum_);
    return await(answers_[next_++], &Adder::add);
}

Next Adder::add(long answer) {
    sum_ += answer;
    return wait();
}

}  // namespace traced_chain
