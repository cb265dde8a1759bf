// SPDX-License-Identifier: BSL-1.0
#include <net/detail/simulated_attempt.hpp>
#include <net/detail/socket_service.hpp>
#include <reactor/detail/descriptor_watch.hpp>
#include <reactor/handle.hpp>
#include <reactor/task.hpp>

#include <cerrno>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

namespace {

/// Owns the descriptor while it connects, and the watch that is gone before it.
///
///     start ──> ready: it has become writable, or seems to have
class SimulatedAttempt final : public Task<NewConnection> {
public:
    SimulatedAttempt(const SocketCalls& calls, const Endpoint& to, const Endpoint& from,
                     TimePoint deadline)
        : calls_(calls), to_(to), from_(from), deadline_(deadline) {}
    ~SimulatedAttempt() override {
        unwatch();
        if (descriptor_ >= 0) calls_.close(descriptor_);
    }

private:
    using Watch = reactor::detail::DescriptorWatch<SimulatedAttempt>;
    friend Watch;

    reactor::detail::LoopCore& watch_core() const noexcept { return loop().core(); }
    void watch_ready(unsigned) {
        if (!turn_.done()) turn_.set_result();
    }
    void watch_lost(unsigned, const reactor::detail::WatchLoss& loss) noexcept {
        watch_.stop();
        const int descriptor = descriptor_;
        if (loss.kind == reactor::detail::WatchLoss::closed) descriptor_ = -1;
        if (turn_.done()) return;
        std::exception_ptr error;
        try {
            error = lost_watch_error(loss, descriptor, step().c_str(), to_);
        } catch (...) {
            error = std::current_exception();
        }
        turn_.set_exception(std::move(error));
    }

    Next start() override {
        descriptor_ = calls_.simulated()->connect(to_, from_);
        if (descriptor_ < 0) return fail(socket_error(errno, step(), to_));
        return wait();
    }

    Next wait() {
        turn_ = loop().create_promise<void>();
        const Promise<void> turn = turn_;
        try {
            watch_.start(loop(), reactor::detail::NodeKind::writer, watch_options("net::connect"),
                         descriptor_, *this);
        } catch (const std::system_error& refusal) {
            return fail(watch_error(refusal, step(), to_));
        }
        if (deadline_ != never()) {
            const auto late = std::make_exception_ptr(TimeoutError(step() + ' ' + in_words(to_)));
            limit_ = loop().call_at(deadline_, [turn, late] {
                if (!turn.done()) turn.set_exception(late);
            });
        }
        return await(turn, &SimulatedAttempt::ready);
    }

    Next ready() {
        unwatch();
        const int code = calls_.simulated()->connect_error(descriptor_);
        if (code == EINPROGRESS) return wait();  // a spurious event
        if (code != 0) return fail(socket_error(code, step(), to_));
        NewConnection made(calls_, descriptor_, to_);
        descriptor_ = -1;
        return finish(std::move(made));
    }

    void unwatch() noexcept {
        limit_.cancel();
        if (!watch_) return;
        watch_.stop();
        // Out of the selector before the number is free for others. After close() there is none.
        if (!loop().core().closed.load(std::memory_order_relaxed)) {
            loop().forget_descriptor(descriptor_);
        }
    }

    /// "connect to", as messages begin.
    std::string step() const {
        return from_.empty() ? "connect to" : "connect from " + from_.str() + " to";
    }

    SocketCalls calls_;
    Endpoint to_;
    Endpoint from_;
    TimePoint deadline_;
    int descriptor_ = -1;
    Promise<void> turn_;  // that it waits for: the watch's, or the deadline's
    Watch watch_;
    TimerHandle limit_;
};

}  // namespace

Promise<NewConnection> simulated_attempt(EventLoop& loop, const SocketCalls& calls,
                                         const Endpoint& to, const Endpoint& from,
                                         TimePoint deadline) {
    return loop.create_task<SimulatedAttempt>(calls, to, from, deadline);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
