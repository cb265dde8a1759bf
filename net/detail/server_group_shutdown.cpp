// SPDX-License-Identifier: BSL-1.0
#include <net/detail/call_on_site.hpp>
#include <net/detail/server_group_ending.hpp>
#include <net/detail/server_group_shutdown.hpp>
#include <net/detail/server_state.hpp>
#include <reactor/combinators.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

namespace {

/// What a loop's server had seen when a shutdown began.
struct Seen {
    std::size_t clients = 0;
    std::uint64_t accepted = 0;
};

/// Each step on all loops:
///
///     look ──> wait until idle ──(all, or the grace is over)──> stop accepting ──> shut down ──>
///     sum
class Shutdown final : public Task<ShutdownSummary> {
public:
    Shutdown(std::shared_ptr<ServerSitesHold> hold, Duration grace, Duration flush)
        : hold_(std::move(hold)),
          group_(hold_->group()),
          deadline_(deadline_after(loop().time(), grace)),
          flush_(flush) {}

private:
    Next start() override {
        const auto look = [](ServerSite& site) {
            const ServerState& server = ServerAccess::state(site.server);
            Seen seen;
            seen.clients = server.clients();
            seen.accepted = server.counters().accepted;
            return done_with(seen);
        };
        return await(gather(call_on_sites<Seen>(loop(), group_, look)), &Shutdown::wait);
    }

    Next wait(std::vector<Seen> seen) {
        seen_ = std::move(seen);
        const auto idle = [](ServerSite& site) {
            return ServerAccess::state(site.server).wait(Here(), ServerWait::Until::idle);
        };
        return await(wait_for(gather(call_on_sites<void>(loop(), group_, idle)), grace_left()),
                     &Shutdown::stop, &Shutdown::late);
    }
    Next late(const TimeoutError&) { return stop(); }

    Next stop() {
        const auto stop_here = [](ServerSite& site) {
            site.stop_accepting();
            return done();
        };
        return await(gather(call_on_sites<void>(loop(), group_, stop_here)), &Shutdown::shut);
    }

    Next shut() {
        const Duration grace = grace_left();
        const Duration flush = flush_;
        std::vector<Promise<ShutdownSummary>> all;
        for (std::size_t i = 0; i < group_->size(); ++i) {
            const Seen before = seen_[i];
            all.push_back(call_on_site<ShutdownSummary>(
                loop(), group_, i, [before, grace, flush](ServerSite& site) {
                    const ServerState& server = ServerAccess::state(site.server);
                    const std::size_t came =
                        static_cast<std::size_t>(server.counters().accepted - before.accepted);
                    const std::size_t gone = before.clients + came - server.clients();
                    return site.server.shutdown(grace, flush).then([gone](ShutdownSummary summary) {
                        summary.finished += gone;
                        return summary;
                    });
                }));
        }
        return await(gather(std::move(all)), &Shutdown::sum);
    }

    Next sum(const std::vector<ShutdownSummary>& summaries) {
        ShutdownSummary total;
        for (const ShutdownSummary& one : summaries) {
            total.finished += one.finished;
            total.closed += one.closed;
            total.aborted += one.aborted;
        }
        return finish(total);
    }

    Duration grace_left() { return deadline_ == never() ? forever() : deadline_ - loop().time(); }

    const std::shared_ptr<ServerSitesHold> hold_;  // until it is over
    const std::shared_ptr<ServerGroupState> group_;
    const TimePoint deadline_;
    const Duration flush_;
    std::vector<Seen> seen_;
};

}  // namespace

Promise<ShutdownSummary> shut_down(EventLoop& loop, const std::shared_ptr<ServerGroupState>& group,
                                   Duration grace, Duration flush, const Here& here) {
    return loop.create_task<Shutdown>(Options(here), ServerSitesHold::take(group), grace, flush);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
