// SPDX-License-Identifier: BSL-1.0
#include <net/detail/listening_socket.hpp>
#include <net/detail/server_site.hpp>
#include <net/detail/server_state.hpp>
#include <net/resolver.hpp>
#include <net/server.hpp>
#include <reactor/task.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace reactor {
namespace net {

using detail::ListeningSocket;
using detail::ServerState;
using Until = detail::ServerWait::Until;

// ---- the object -----------------------------------------------------------------------------

Server& Server::operator=(Server&& other) noexcept {
    Server moved(std::move(other));
    std::swap(state_, moved.state_);
    return *this;
}

Server::~Server() {
    if (state_) state_->release();
}

ServerState& Server::state(const char* call) const {
    if (!state_) {
        throw StateError(std::string(call) + ": the Server is empty: create_server() makes one");
    }
    state_->core.check_thread(call);
    return *state_;
}

void Server::start_serving() {
    ServerState& server = state("start_serving");
    if (server.is_closed()) {
        throw StateError("start_serving: the server is closed: create_server() makes another one");
    }
    server.start_serving();
}

bool Server::is_serving() const noexcept { return state_ && state_->is_serving(); }

Promise<void> Server::serve_forever(Here here) {
    ServerState& server = state("serve_forever");
    server.start_serving();
    return server.wait(here, Until::over);
}

Promise<void> Server::wait_closed(Here here) {
    return state("wait_closed").wait(here, Until::closed);
}

Promise<ShutdownSummary> Server::shutdown(Duration grace, Duration flush, Here here) {
    return state("shutdown").shutdown(grace, flush, here);
}

void Server::close() noexcept {
    if (!state_) return;
    state_->core.require_thread("Server::close");
    state_->close();
}

void Server::close_clients() noexcept {
    if (!state_) return;
    state_->core.require_thread("Server::close_clients");
    state_->close_clients();
}

void Server::abort_clients() noexcept {
    if (!state_) return;
    state_->core.require_thread("Server::abort_clients");
    state_->abort_clients();
}

std::vector<Endpoint> Server::endpoints() const { return state("endpoints").endpoints(); }

ServerCounters Server::counters() const { return state("counters").counters(); }

EventLoop& Server::loop() const {
    EventLoop* const loop = state("loop").core.loop;
    if (!loop) throw StateError("loop: the event loop of this Server is gone");
    return *loop;
}

// ---- made -----------------------------------------------------------------------------------

namespace {

using Sockets = std::vector<ListeningSocket>;

/// For ProtocolFactory and StreamHandler.
template <class Service>
Server serve(EventLoop& loop, Service service, Sockets sockets, const ServerOptions& options) {
    ServerState* const state =
        new ServerState(loop, std::move(service), std::move(sockets), options);
    Server server = detail::ServerAccess::wrap(state);
    if (options.start_serving()) state->start_serving();
    return server;
}

ListeningSocket open(EventLoop& loop, const Endpoint& at, const ServerOptions& options) {
    detail::ListeningOptions how;
    how.backlog = options.backlog();
    how.reuse_address = options.reuse_address();
    how.reuse_port = options.reuse_port();
    how.v6_only = options.v6_only();
    how.permissions = options.permissions();
    return ListeningSocket::open(loop, at, how);
}

std::vector<Endpoint> distinct(const std::vector<Endpoint>& all) {
    std::vector<Endpoint> once;
    for (const Endpoint& one : all) {
        if (std::find(once.begin(), once.end(), one) == once.end()) once.push_back(one);
    }
    return once;
}

}  // namespace

Sockets detail::open_sockets(EventLoop& loop, const std::vector<Endpoint>& at,
                             const ServerOptions& options) {
    if (at.empty()) throw std::invalid_argument("create_server: there is no address to listen on");
    Sockets sockets;
    for (const Endpoint& one : distinct(at)) {
        if (one.empty()) {
            throw std::invalid_argument("create_server: an address to listen on is empty");
        }
        sockets.push_back(open(loop, one, options));
    }
    return sockets;
}

Sockets detail::adopt_sockets(EventLoop& loop, ListeningSockets given) {
    if (given.empty()) {
        throw std::invalid_argument("create_server: there is no listening socket to take over");
    }
    Sockets sockets;
    sockets.reserve(given.size());
    while (!given.empty()) {
        sockets.push_back(ListeningSocket::adopt(loop, given.descriptor(0)));
        given.release(0);
    }
    return sockets;
}

namespace {

/// Whether the system has no such family: the names of this machine and of all its interfaces have
/// addresses of both nevertheless. (asyncio, bpo-30945.)
bool family_is_missing(const std::system_error& error, const Endpoint& at) {
    const std::string address = at.address();
    return error.code() == std::errc::address_family_not_supported ||
           (error.code() == std::errc::address_not_available &&
            (address == "::" || address == "::1"));
}

Sockets open_found(EventLoop& loop, const std::vector<Endpoint>& found,
                   const ServerOptions& options) {
    Sockets sockets;
    std::exception_ptr first;
    for (const Endpoint& at : distinct(found)) {
        try {
            sockets.push_back(open(loop, at, options));
        } catch (const std::system_error& error) {
            if (!family_is_missing(error, at)) throw;
            if (!first) first = std::current_exception();
        }
    }
    if (sockets.empty() && first) std::rethrow_exception(first);
    return sockets;
}

/// One create_server() with names: looks them up, one after the other, and listens on what there
/// is.
class Creating final : public Task<Server> {
public:
    using Make = std::function<Server(EventLoop&, Sockets, const ServerOptions&)>;

    Creating(Make make, const std::vector<std::string>& hosts, Port port, ServerOptions options)
        : make_(std::move(make)), port_(std::move(port)), options_(std::move(options)) {
        for (const std::string& host : hosts) {
            if (!host.empty()) {
                hosts_.push_back(host);
                continue;
            }
            if (options_.v6_only()) hosts_.emplace_back("0.0.0.0");
            hosts_.emplace_back("::");
        }
    }

private:
    Next start() override {
        if (next_ < hosts_.size()) {
            return await(resolve(loop(), hosts_[next_++], port_), &Creating::resolved);
        }
        return finish(make_(loop(), open_found(loop(), found_, options_), options_));
    }

    Next resolved(const std::vector<Endpoint>& addresses) {
        found_.insert(found_.end(), addresses.begin(), addresses.end());
        return start();
    }

    const Make make_;
    std::vector<std::string> hosts_;
    const Port port_;
    const ServerOptions options_;
    std::size_t next_ = 0;
    std::vector<Endpoint> found_;
};

const char* call_of(const ProtocolFactory&) noexcept { return "create_server"; }
const char* call_of(const StreamHandler&) noexcept { return "start_server"; }

template <class Service>
Promise<Server> create(EventLoop& loop, Service service, const std::vector<std::string>& hosts,
                       const Port& port, const ServerOptions& options, const Here& here) {
    loop.core().check(call_of(service));
    if (hosts.empty()) {
        throw std::invalid_argument(std::string(call_of(service)) +
                                    ": there is no host to listen on");
    }
    const Creating::Make make = [service](EventLoop& on, Sockets sockets,
                                          const ServerOptions& how) {
        return serve(on, service, std::move(sockets), how);
    };
    return loop.create_task<Creating>(Options(here), make, hosts, port, options);
}

template <class Service>
Server create(EventLoop& loop, Service service, const std::vector<Endpoint>& at,
              const ServerOptions& options) {
    loop.core().check(call_of(service));
    return serve(loop, std::move(service), detail::open_sockets(loop, at, options), options);
}

template <class Service>
Server adopt(EventLoop& loop, Service service, ListeningSockets given,
             const ServerOptions& options) {
    loop.core().check(call_of(service));
    return serve(loop, std::move(service), detail::adopt_sockets(loop, std::move(given)), options);
}

ProtocolFactory checked(ProtocolFactory factory) {
    if (!factory) throw std::invalid_argument("create_server: the protocol factory is empty");
    return factory;
}

}  // namespace

Server create_server(EventLoop& loop, ProtocolFactory factory, const std::vector<Endpoint>& at,
                     const ServerOptions& options) {
    return create(loop, checked(std::move(factory)), at, options);
}

Server create_server(EventLoop& loop, ProtocolFactory factory, const Endpoint& at,
                     const ServerOptions& options) {
    return create(loop, checked(std::move(factory)), {at}, options);
}

Promise<Server> create_server(EventLoop& loop, ProtocolFactory factory, const std::string& host,
                              const Port& port, const ServerOptions& options, Here here) {
    return create(loop, checked(std::move(factory)), {host}, port, options, here);
}

Promise<Server> create_server(EventLoop& loop, ProtocolFactory factory,
                              const std::vector<std::string>& hosts, const Port& port,
                              const ServerOptions& options, Here here) {
    return create(loop, checked(std::move(factory)), hosts, port, options, here);
}

Server create_server(EventLoop& loop, ProtocolFactory factory, ListeningSockets sockets,
                     const ServerOptions& options) {
    return adopt(loop, checked(std::move(factory)), std::move(sockets), options);
}

Server start_server(EventLoop& loop, StreamHandler handler, const std::vector<Endpoint>& at,
                    const ServerOptions& options) {
    return create(loop, std::move(handler), at, options);
}

Server start_server(EventLoop& loop, StreamHandler handler, const Endpoint& at,
                    const ServerOptions& options) {
    return create(loop, std::move(handler), {at}, options);
}

Promise<Server> start_server(EventLoop& loop, StreamHandler handler, const std::string& host,
                             const Port& port, const ServerOptions& options, Here here) {
    return create(loop, std::move(handler), {host}, port, options, here);
}

Promise<Server> start_server(EventLoop& loop, StreamHandler handler,
                             const std::vector<std::string>& hosts, const Port& port,
                             const ServerOptions& options, Here here) {
    return create(loop, std::move(handler), hosts, port, options, here);
}

Server start_server(EventLoop& loop, StreamHandler handler, ListeningSockets sockets,
                    const ServerOptions& options) {
    return adopt(loop, std::move(handler), std::move(sockets), options);
}

}  // namespace net
}  // namespace reactor
