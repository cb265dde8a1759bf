// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_PROXY_FORWARDER_HPP
#define REACTOR_PROXY_FORWARDER_HPP

#include <apps/command_line/address.hpp>

#include <net/protocol.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace proxy {

/// What a Forwarder is made with.
struct ForwarderOptions {
    std::vector<command_line::Address> targets;
    bool in_turn = true;  // or always the first that can be reached
    reactor::Duration connect_timeout = std::chrono::seconds(5);  // for each target
    reactor::Duration idle_timeout = std::chrono::minutes(10);    // without a byte, either way
};

/// What has been forwarded so far. The bytes to somebody are those given to the connection, without
/// what it still held when it was aborted here.
struct Traffic {
    std::uint64_t from_clients = 0, to_targets = 0;
    std::uint64_t from_targets = 0, to_clients = 0;
    std::size_t forwarded = 0;  // connections that have reached a target,
    std::size_t unreached = 0;  // and those that have not
    std::size_t open = 0;       // connections of clients and what belongs to them
};

/// Joins each client's connection with one of its own to a target, as callbacks: what comes on one
/// goes out on the other, without a copy and without memory as long as the receiver keeps up.
///
///     client <──> End ──┐        ┌── End <──> target
///                       └─ Link ─┘
///
///     more than the high mark waits for one side  ->  reading pauses on the other
///     one side sends no more                      ->  nor do we to the other; the other direction
///                                                     goes on
///     one side is lost with an error, or aborted  ->  the other is aborted: it sees a reset
///     both have sent their end, or one is closed  ->  the other is closed
///     no target can be reached                    ->  the client is aborted, and the log says why
///
/// Used on its loop's thread. The connections belong to the loop: they go on when the forwarder has
/// been destroyed.
class Forwarder {
public:
    /// Throws std::invalid_argument without a target.
    Forwarder(reactor::EventLoop& loop, ForwarderOptions options);
    ~Forwarder();
    Forwarder(const Forwarder&) = delete;
    Forwarder& operator=(const Forwarder&) = delete;

    /// The protocol of a client's connection: what create_server() asks its factory for.
    std::unique_ptr<reactor::net::Protocol> serve_client();

    /// Done as soon as nothing is open: what a client has sent may still be on its way to the
    /// target when the client is gone.
    reactor::Promise<void> wait_idle();
    /// Ends every connection once what was received for the client has been sent to him. If its
    /// target has more to say, that is cut off and the client sees a reset.
    void close();
    /// Resets all there is, on both sides.
    void abort();

    const Traffic& traffic() const noexcept;

private:
    struct State;
    class Link;
    class End;

    std::shared_ptr<State> state_;
};

}  // namespace proxy

#endif
