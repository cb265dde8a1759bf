// SPDX-License-Identifier: BSL-1.0
#include <net/detail/server_state.hpp>

#include <utility>

namespace reactor {
namespace net {
namespace detail {

// ---- made, and gone -------------------------------------------------------------------------

ServerState::ServerState(EventLoop& loop, std::vector<ListeningSocket> sockets,
                         const ServerOptions& options)
    : core(loop.core()),
      loop_(loop),
      service_(loop.service<TransportService>()),
      servers_(loop.service<ServerService>()),
      options_(options) {
    listening_.reserve(sockets.size());
    for (ListeningSocket& socket : sockets) listening_.emplace_back(std::move(socket));
    try {
        for (Listening& one : listening_) hold(one);
    } catch (...) {
        for (Listening& one : listening_) let_go(one);
        throw;
    }
    core.retain();
    servers_.add(*this);
}

ServerState::ServerState(EventLoop& loop, ProtocolFactory factory,
                         std::vector<ListeningSocket> sockets, const ServerOptions& options)
    : ServerState(loop, std::move(sockets), options) {
    factory_ = std::move(factory);
}

ServerState::ServerState(EventLoop& loop, StreamHandler handler,
                         std::vector<ListeningSocket> sockets, const ServerOptions& options)
    : ServerState(loop, std::move(sockets), options) {
    handlers_.reset(new ServerHandlers(*this, std::move(handler), options.stream_limit()));
}

ServerState::~ServerState() {
    close();  // if it could not be made
    if (listed_) servers_.remove(*this);
    core.forget();
}

ServerState::ServerState(EventLoop& loop, std::shared_ptr<ServerGroupState> group,
                         std::vector<ListeningSocket> sockets, const ServerOptions& options)
    : ServerState(loop, std::move(sockets), options) {
    group_ = std::move(group);
    hands_over_ = true;
}

void ServerState::take_seat(std::shared_ptr<ServerGroupState> group, std::size_t index) noexcept {
    group_ = std::move(group);
    seat_ = index;
}

void ServerState::start_serving() {
    if (closed_ || serving_) return;
    try {
        for (Listening& one : listening_) {
            one.socket.listen();
            hold(one);
        }
        serving_ = true;
        if (!is_full()) watch();
    } catch (...) {
        close();
        throw;
    }
}

void ServerState::close() noexcept {
    if (closed_) return;
    const Keep keep(*this);
    close_sockets();
    settle();
}

/// In a network in memory there is no descriptor before it listens. Listening is at its place for
/// good.
void ServerState::hold(Listening& one) {
    using Hold = reactor::detail::WatchTable::Hold;
    const int descriptor = one.socket.descriptor();
    if (descriptor >= 0) service_.watches.hold("listen", descriptor, one, Hold::exclusive);
}

void ServerState::let_go(Listening& one) noexcept {
    if (!is_closed_loop()) service_.watches.let_go(one.socket.descriptor(), one);
}

void ServerState::close_sockets() noexcept {
    closed_ = true;
    rest_.cancel();
    unwatch();
    if (!is_closed_loop()) service_.remove_shortage(*this);
    for (Listening& one : listening_) {
        let_go(one);
        // Out of the selector before the number is free for others.
        if (!is_closed_loop() && one.socket.descriptor() >= 0) {
            loop_.forget_descriptor(one.socket.descriptor());
        }
        one.socket.close();
    }
}

void ServerState::release() noexcept {
    core.require_thread("a Server's destructor");
    close();
    drop();
}

void ServerState::loop_closed() noexcept {
    const Keep keep(*this);
    close_sockets();
    const char* const why = "the event loop was closed";
    // What the promises' callbacks have captured may be anything, this server's holder included.
    for (PendingOperations<ServerWait>* const pending : {&waits_, &serves_, &idles_}) {
        while (!pending->empty()) cancel_operation(*pending->take_first(), why);
    }
    while (!shutdowns_.empty()) {
        const auto shutdown = shutdowns_.take_first();
        shutdown->limit.cancel();
        cancel_operation(*shutdown, why);
    }
}

std::vector<Endpoint> ServerState::endpoints() const {
    std::vector<Endpoint> all;
    if (closed_) return all;
    for (const Listening& one : listening_) {
        if (one.socket.is_open()) all.push_back(one.socket.local());
    }
    return all;
}

std::string ServerState::name() const {
    std::string text("net::Server");
    if (!listening_.empty()) text += " on " + in_words(listening_.front().socket.local());
    return text;
}

// ---- connections ----------------------------------------------------------------------------

void ServerState::connection_gone(TransportState& transport) noexcept {
    const Keep keep(*this);
    --counters_.open;
    leave_seat();
    drop();
    if (options_.max_per_address() != ServerOptions::no_limit) uncount(transport.remote());
    if (is_closed_loop()) return;
    if (is_serving() && !watched_ && !rest_) resume_soon();
    settle();
}

void ServerState::close_clients() noexcept {
    for_each_connection([](TransportState& transport) { transport.close(false); });
}

// ---- all servers of a loop ------------------------------------------------------------------

ServerService::ServerService(EventLoop& loop) {
    // Made before, so destroyed after: the connections outlive their servers.
    loop.service<TransportService>();
}

ServerService::~ServerService() {
    while (first_) {
        ServerState& server = *first_;
        remove(server);
        server.loop_closed();
    }
}

void ServerService::add(ServerState& server) noexcept {
    server.listed_ = true;
    server.behind_ = first_;
    if (first_) first_->before_ = &server;
    first_ = &server;
}

void ServerService::remove(ServerState& server) noexcept {
    (server.before_ ? server.before_->behind_ : first_) = server.behind_;
    if (server.behind_) server.behind_->before_ = server.before_;
    server.before_ = server.behind_ = nullptr;
    server.listed_ = false;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
