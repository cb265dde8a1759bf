// SPDX-License-Identifier: BSL-1.0
#include <net/detail/server_handlers.hpp>

#include <net/detail/server_state.hpp>
#include <net/detail/stream_receiver.hpp>
#include <net/detail/transport_state.hpp>
#include <reactor/error.hpp>
#include <reactor/report.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include <cxxabi.h>

namespace reactor {
namespace net {
namespace detail {

/// The protocol of a client: its stream's, which gives that to the handler.
class ServerHandlers::Served final : public StreamReceiver {
public:
    Served(EventLoop& loop, ServerHandlers& handlers) : StreamReceiver(loop), handlers_(handlers) {}

    void connection_made(const Transport& transport) override {
        StreamReceiver::connection_made(transport);
        handlers_.serve(transport, take_stream(), *this);
    }

private:
    ServerHandlers& handlers_;
};

/// The done callback of a handler's promise, which is all that is kept of it: it holds the promise
/// until that is done, and is known to the server, wherever it is moved to. Dropped with the
/// callbacks of its promise when the loop closes.
class ServerHandlers::Running {
public:
    Running(ServerHandlers& handlers, const Transport& transport, const Promise<void>& promise)
        : handlers_(&handlers), transport_(transport), promise_(promise) {
        handlers.running_.push_back(this);
        index_ = handlers.running_.size() - 1;
        handlers.server_.keep();
    }
    Running(Running&& other) noexcept
        : handlers_(other.handlers_),
          transport_(std::move(other.transport_)),
          promise_(std::move(other.promise_)),
          index_(other.index_) {
        other.handlers_ = nullptr;
        if (handlers_) handlers_->running_[index_] = this;
    }
    Running& operator=(Running&&) = delete;
    ~Running() { leave(); }

    void operator()(const Promise<void>& promise) {
        ServerHandlers& handlers = *handlers_;
        const ServerState::Keep keep(handlers.server_);
        handlers.done(transport_, promise);
        leave();
    }

    const Transport& transport() const noexcept { return transport_; }
    const Promise<void>& promise() const noexcept { return promise_; }

private:
    void leave() noexcept {
        ServerHandlers* const handlers = handlers_;
        if (!handlers) return;
        handlers_ = nullptr;
        std::vector<Running*>& all = handlers->running_;
        all[index_] = all.back();
        all[index_]->index_ = index_;
        all.pop_back();
        ServerState& server = handlers->server_;
        server.handler_gone();
        server.drop();
    }

    ServerHandlers* handlers_;  // null: moved from, or done
    Transport transport_;
    Promise<void> promise_;
    std::size_t index_;
};

ServerHandlers::ServerHandlers(ServerState& server, StreamHandler handler, std::size_t limit)
    : server_(server), handler_(std::move(handler)), stream_limit_(limit) {}

ServerHandlers::~ServerHandlers() = default;

std::unique_ptr<Protocol> ServerHandlers::make_protocol() {
    return std::unique_ptr<Protocol>(new Served(*server_.core.loop, *this));
}

void ServerHandlers::serve(const Transport& transport, Stream stream, Served& protocol) {
    const ServerState::Keep keep(server_);
    std::exception_ptr error;
    try {
        if (stream_limit_ != Stream::default_limit) stream.set_limit(stream_limit_);
        const Promise<void> promise = handler_(std::move(stream));
        if (!promise) return;
        if (reactor::detail::PromiseAccess::state(promise)->core != &server_.core) {
            throw std::invalid_argument(
                "StreamHandler: the promise belongs to another event loop: see reactor/chain.hpp");
        }
        // It is closed when the handler is done, if not before.
        protocol.may_be_dropped();
        promise.add_done_callback(Running(*this, transport, promise));
        return;
    } catch (const LoopExit&) {
        throw;
    } catch (const abi::__forced_unwind&) {
        throw;  // pthread_cancel(): swallowing it would abort the process
    } catch (const CancelledError&) {
        transport.close();
        return;
    } catch (...) {
        error = std::current_exception();
    }
    failed(transport, std::move(error));
}

void ServerHandlers::done(const Transport& transport, const Promise<void>& promise) {
    if (promise.cancelled()) {
        transport.close();
    } else if (std::exception_ptr error = promise.error()) {
        failed(transport, std::move(error));
    } else if (close_when_done_) {
        transport.close();
    }
}

void ServerHandlers::failed(const Transport& transport, std::exception_ptr error) {
    transport.close();
    Report report("Unhandled exception in client_connected_cb", std::move(error));
    report.details.emplace_back("client", transport.remote_endpoint().str());
    report.details.emplace_back("server", server_.name());
    transport.loop().call_exception_handler(report);
}

std::size_t ServerHandlers::without_connection() const {
    return static_cast<std::size_t>(std::count_if(
        running_.begin(), running_.end(),
        [](const Running* handler) { return handler->transport().native_handle() < 0; }));
}

std::vector<const TransportState*> ServerHandlers::connections() const {
    std::vector<const TransportState*> all;
    all.reserve(running_.size());
    for (const Running* const handler : running_) {
        all.push_back(TransportAccess::state(handler->transport()));
    }
    std::sort(all.begin(), all.end(), std::less<const TransportState*>());
    return all;
}

void ServerHandlers::cancel() {
    const ServerState::Keep keep(server_);
    // What is cancelled may end others, in whatever order.
    std::vector<Promise<void>> all;
    all.reserve(running_.size());
    for (const Running* const handler : running_) all.push_back(handler->promise());
    for (const Promise<void>& promise : all) promise.cancel("the server shuts down");
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
