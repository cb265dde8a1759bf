// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_ECHO_SERVE_ON_LOOPS_HPP
#define REACTOR_ECHO_SERVE_ON_LOOPS_HPP

#include "options.hpp"

#include <net/server.hpp>
#include <net/server_group.hpp>
#include <reactor/loop_group.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace echo {

/// The run of a server on several loops, each on a thread of its own. The loop of this task only
/// hears of signals, and waits:
///
///     start ──> serve ──(signal)──> drain ──> shut ──(clients gone, or closed after the grace)──>
///                                               └──(second signal: all are closed at once)
///     count ──> ended
///
/// What ends one of the loops ends all, and is the task's error.
class ServeOnLoops final : public reactor::Task<void> {
public:
    explicit ServeOnLoops(const Options& options) : options_(options), loops_(options.loops) {}
    ~ServeOnLoops() override;

private:
    reactor::Next start() override;
    reactor::Promise<reactor::net::ServerGroup> listen();
    reactor::Next serve(reactor::net::ServerGroup server);
    void signalled();
    reactor::Next drain();
    reactor::Next shut(reactor::net::ServerCounters counters);
    reactor::Next count(reactor::net::ShutdownSummary summary);
    reactor::Next ended(const std::vector<reactor::net::ServerCounters>& counters);

    const Options& options_;
    /// How many bytes have come to each loop, whose thread alone counts them.
    std::vector<std::unique_ptr<std::uint64_t>> bytes_;
    reactor::LoopGroup loops_;  // its connections count to the end
    reactor::net::ServerGroup server_;
    reactor::Promise<void> stop_ = loop().create_promise<void>();
    std::uint64_t gone_ = 0;  // clients, before the end began
    reactor::net::ShutdownSummary summary_;
    reactor::Promise<reactor::net::ShutdownSummary> at_once_;
};

}  // namespace echo

#endif
