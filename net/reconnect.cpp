// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>
#include <net/reconnect.hpp>
#include <reactor/combinators.hpp>
#include <reactor/task.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace reactor {
namespace net {

/// Shared with the task that is trying, which may outlive its Reconnector.
struct Reconnector::State {
    State(EventLoop& l, Connect c, ReconnectOptions o)
        : loop(l), connect(std::move(c)), options(std::move(o)), backoff(options.backoff()) {}

    EventLoop& loop;
    const Connect connect;
    const ReconnectOptions options;
    Backoff backoff;
    TimePoint connected = never();  // since when, if the last connect() has brought a connection
    bool at_once = true;            // nothing speaks against trying without a pause
    bool trying = false;
};

/// One connect():
///
///     start ──> attempt ──> connected
///        │        ^  └──> failed ──┐
///        └─ pause ┴───── pause ────┘
class Reconnector::Trying final : public Task<Socket> {
public:
    explicit Trying(std::shared_ptr<State> state)
        : state_(std::move(state)), deadline_(state_->options.deadline().at(loop())) {
        state_->trying = true;
    }
    ~Trying() override { state_->trying = false; }

private:
    Next start() override {
        const TimePoint since = state_->connected;
        state_->connected = never();
        if (since != never() && loop().time() - since >= state_->options.stable_after()) {
            state_->backoff.reset();
            state_->at_once = true;
        }
        if (state_->at_once) return attempt();
        const TimePoint when = deadline_after(loop().time(), state_->backoff.next());
        return await(sleep(loop(), std::min(when, deadline_) - loop().time()), &Trying::attempt);
    }

    Next attempt() {
        ++tries_;
        Promise<Socket> connection;
        try {
            connection = state_->connect(deadline_);
        } catch (const std::system_error& error) {
            return failed(error);
        }
        return await(std::move(connection), &Trying::connected, &Trying::failed);
    }

    Next failed(const std::system_error& error) {
        state_->at_once = false;
        if (tries_ == state_->options.tries()) throw;
        const Duration pause = state_->backoff.next();
        if (deadline_ != never() && deadline_after(loop().time(), pause) >= deadline_) throw;
        if (state_->options.on_retry()) state_->options.on_retry()(error, pause);
        return await(sleep(loop(), pause), &Trying::attempt);
    }

    Next connected(Socket socket) {
        state_->at_once = false;
        state_->connected = loop().time();
        return finish(std::move(socket));
    }

    std::shared_ptr<State> state_;
    TimePoint deadline_;
    std::size_t tries_ = 0;
};

namespace {

Reconnector::Connect by_name(EventLoop& loop, const std::string& host, const Port& port,
                             const ConnectOptions& each) {
    EventLoop* const on = &loop;
    return [=](TimePoint deadline) {
        ConnectOptions options = each;
        options.deadline(std::min(each.deadline().at(*on), deadline));
        return connect(*on, host, port, options);
    };
}

}  // namespace

Reconnector::Reconnector(EventLoop& loop, Connect connect, ReconnectOptions options)
    : state_(std::make_shared<State>(loop, std::move(connect), std::move(options))) {
    if (!state_->connect) throw std::invalid_argument("Reconnector: the function is empty");
}

Reconnector::Reconnector(EventLoop& loop, const std::string& host, const Port& port,
                         ReconnectOptions options, const ConnectOptions& each)
    : Reconnector(loop, by_name(loop, host, port, each), std::move(options)) {}

Reconnector::Reconnector(Reconnector&&) noexcept = default;
Reconnector& Reconnector::operator=(Reconnector&&) noexcept = default;
Reconnector::~Reconnector() = default;

Reconnector::State& Reconnector::state(const char* call) const {
    if (!state_) throw StateError(std::string(call) + ": the Reconnector was moved from");
    return *state_;
}

Promise<Socket> Reconnector::connect() {
    State& now = state("connect");
    now.loop.core().check("connect");
    if (now.trying) throw StateError("connect: the Reconnector is trying already");
    return now.loop.create_task<Trying>(state_);
}

void Reconnector::reset() {
    State& now = state("reset");
    now.loop.core().check_thread("reset");
    now.backoff.reset();
    now.at_once = true;
    now.connected = never();
}

Promise<Socket> connect_with_backoff(EventLoop& loop, const std::string& host, const Port& port,
                                     ReconnectOptions options, const ConnectOptions& each) {
    return Reconnector(loop, host, port, std::move(options), each).connect();
}

}  // namespace net
}  // namespace reactor
