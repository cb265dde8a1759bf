// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_ECHO_SERVE_HPP
#define REACTOR_ECHO_SERVE_HPP

#include "options.hpp"

#include <net/server.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

namespace echo {

/// The server's whole run:
///
///     start ──(signal)──> drain ──(clients gone, or closed after the grace)──> ended
///                           └──(second signal: what is left is reset)
class Serve final : public reactor::Task<void> {
public:
    explicit Serve(const Options& options) : options_(options) {}
    ~Serve() override;

private:
    reactor::Next start() override;
    reactor::net::Server listen();
    void signalled();
    reactor::Next drain();
    reactor::Next ended(reactor::net::ShutdownSummary summary);

    const Options& options_;
    reactor::net::Server server_;
    reactor::Promise<void> stop_ = loop().create_promise<void>();
};

}  // namespace echo

#endif
