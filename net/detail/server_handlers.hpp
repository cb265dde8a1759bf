// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SERVER_HANDLERS_HPP
#define REACTOR_NET_DETAIL_SERVER_HANDLERS_HPP

#include <net/protocol.hpp>
#include <net/stream_handler.hpp>
#include <net/transport.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

class ServerState;

/// The handlers of a start_server(), and which of them run. Owned by its server, which outlives
/// every connection and every handler.
class ServerHandlers {
public:
    ServerHandlers(ServerState& server, StreamHandler handler, std::size_t stream_limit);
    ~ServerHandlers();
    ServerHandlers(const ServerHandlers&) = delete;
    ServerHandlers& operator=(const ServerHandlers&) = delete;

    /// The protocol of one more client, which calls the handler.
    std::unique_ptr<Protocol> make_protocol();

    std::size_t running() const noexcept { return running_.size(); }
    /// How many of these have lost their connection.
    std::size_t without_connection() const;
    /// The connections whose handler runs, sorted.
    std::vector<const TransportState*> connections() const;
    /// Cancels those that run.
    void cancel();
    /// From now on a handler that is done takes its connection with it.
    void close_when_done() noexcept { close_when_done_ = true; }

private:
    class Served;
    class Running;

    void serve(const Transport& transport, Stream stream, Served& protocol);
    void done(const Transport& transport, const Promise<void>& promise);
    void failed(const Transport& transport, std::exception_ptr error);

    ServerState& server_;
    const StreamHandler handler_;
    const std::size_t stream_limit_;
    std::vector<Running*> running_;
    bool close_when_done_ = false;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
