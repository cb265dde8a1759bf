// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CHAT_SERVE_HPP
#define REACTOR_CHAT_SERVE_HPP

#include "options.hpp"
#include "room.hpp"

#include <net/server.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

namespace chat {

/// The server's whole run:
///
///     start ──(signal)──> close ──(everybody has been told, or the grace is over)──> ended
///                           └──(second signal: who is left is reset)
class Serve final : public reactor::Task<void> {
public:
    explicit Serve(const Options& options);
    ~Serve() override;

private:
    reactor::Next start() override;
    reactor::net::Server listen();
    void signalled();
    reactor::Next close();
    reactor::Next ended(reactor::net::ShutdownSummary summary);

    const Options& options_;
    Room room_;
    reactor::net::Server server_;
    reactor::Promise<void> stop_ = loop().create_promise<void>();
};

}  // namespace chat

#endif
