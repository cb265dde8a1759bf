// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_UDP_TIME_SERVE_HPP
#define REACTOR_UDP_TIME_SERVE_HPP

#include "options.hpp"

#include <net/datagram_transport.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <memory>
#include <vector>

namespace udp_time {

/// The server's whole run, on one endpoint for each address:
///
///     start ──(all bound)──> serve ──(signal)──> close ──(what waited is sent)──> ended
///                                                  └──(second signal: it is dropped)
///
/// An endpoint that the system takes away ends all of it with that error.
class Serve final : public reactor::Task<void> {
public:
    explicit Serve(const Options& options);
    ~Serve() override;

private:
    struct Ledger;
    class Service;

    reactor::Next start() override;
    reactor::Next serve(std::vector<reactor::net::DatagramTransport> endpoints);
    void signalled();
    reactor::Next close();
    reactor::Next ended();

    const Options& options_;
    std::shared_ptr<Ledger> ledger_;  // with the services, which may outlive this task
    std::vector<reactor::net::DatagramTransport> endpoints_;
};

}  // namespace udp_time

#endif
