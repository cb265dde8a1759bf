// SPDX-License-Identifier: BSL-1.0
#include <net/detail/server_state.hpp>
#include <net/detail/socket_service.hpp>
#include <reactor/detail/loop_state.hpp>
#include <reactor/report.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <cxxabi.h>
#include <sys/socket.h>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::LoopState;
using reactor::detail::WatchLoss;

namespace {

// asyncio's ACCEPT_RETRY_DELAY (constants.py): what is lacking may be somebody else's, whose
// closing nobody tells.
constexpr Duration rest_length = std::chrono::seconds(1);

using Watch = reactor::detail::DescriptorWatch<ServerState>;

LoopState& state_of(reactor::detail::LoopCore& core) { return static_cast<LoopState&>(core); }

/// A client's descriptor, and its place in a group, until a transport has them.
struct Accepted {
    ServerState& server;
    TransportService& service;
    int descriptor;

    ~Accepted() {
        if (descriptor < 0) return;
        service.close(descriptor);
        server.leave_seat();
    }
};

}  // namespace

constexpr std::uint64_t ServerState::never_ready;

// ---- the sockets ----------------------------------------------------------------------------

void ServerState::watch() {
    for (std::size_t i = 0; i < listening_.size(); ++i) {
        Listening& one = listening_[i];
        if (!one.socket.is_open()) continue;  // see watch_lost()
        const int descriptor = one.socket.descriptor();
        try {
            if (!service_.calls.simulates(descriptor)) refuse_blocking(core, descriptor, "accept");
            one.watch.start(loop_, reactor::detail::NodeKind::reader,
                            watch_options("net::Server accepts"), descriptor, *this,
                            static_cast<unsigned>(i), Watch::Number::ours);
        } catch (const std::system_error& error) {
            unwatch();
            throw watch_error(error, "accept on", one.socket.local());
        } catch (...) {
            unwatch();
            throw;
        }
    }
    watched_ = true;
}

void ServerState::unwatch() noexcept {
    watched_ = false;
    for (Listening& one : listening_) one.watch.stop();
}

/// The loop has let go of a socket. It has said so itself: it calls here while it does.
void ServerState::watch_lost(unsigned index, const WatchLoss& loss) noexcept {
    Listening& one = listening_[index];
    one.watch.stop();
    if (loss.kind == WatchLoss::closed) {
        let_go(one);
        one.socket.let_go();
        return;
    }
    unwatch();
    try {
        reported_ = loop_.time();
        pause(reported_);
    } catch (...) {
        // No memory: the next connection that ends tries again.
    }
}

/// Brings the loop to what there is room for.
void ServerState::update_accepting() {
    const bool wanted = is_serving() && !rest_ && !is_full();
    if (wanted == watched_) return;
    if (!wanted) {
        unwatch();
        return;
    }
    std::exception_ptr refused;
    std::string why;
    try {
        watch();
        return;
    } catch (const std::exception& error) {
        why = error.what();
        refused = std::current_exception();
    }
    rest(why, std::move(refused));
}

/// Nothing more until a descriptor is closed, or a second has passed.
void ServerState::pause(TimePoint now) {
    service_.add_shortage(*this);
    rest_ = loop_.call_at(Options().label("net::Server rests"), deadline_after(now, rest_length),
                          &ServerState::end_rest, this);
    unwatch();
    ++counters_.rests;
}

/// The same, and says so.
void ServerState::rest(const std::string& why, std::exception_ptr error) {
    const TimePoint now = loop_.time();
    pause(now);
    // A busy server without descriptors rests as often as a connection ends, and must not fill the
    // log with that.
    const bool told = counters_.rests > 1 && now < deadline_after(reported_, rest_length);
    if (told) return;
    reported_ = now;
    loop_.call_exception_handler(Report(
        why + "; resting for 1 s, or until a connection ends: the clients wait", std::move(error)));
}

void ServerState::descriptor_closed() noexcept {
    try {
        rest_.reschedule(loop_.time());
    } catch (...) {
        // No memory: the second passes.
    }
}

/// As a callback of its own: the selector may refuse, which is for the exception handler then.
void ServerState::resume_soon() noexcept {
    try {
        rest_ = loop_.call_at(Options().label("net::Server accepts again"), loop_.time(),
                              &ServerState::end_rest, this);
    } catch (...) {
        // No memory: the next connection that ends tries again.
    }
}

void ServerState::end_rest() {
    const Keep keep(*this);
    rest_ = TimerHandle();
    service_.remove_shortage(*this);
    update_accepting();
}

// ---- clients --------------------------------------------------------------------------------

/// One accept is one system call, and another one that says that there is nobody else would double
/// that for each client that comes alone. So a second one waits until the socket is ready in the
/// next iteration again; then all are taken.
void ServerState::watch_ready(unsigned index) {
    const Keep keep(*this);
    Listening& from = listening_[index];
    if (!from.socket.is_open()) return;
    const std::uint64_t iteration = state_of(core).counters.iterations;
    const bool burst = from.ready_in + 1 == iteration;
    from.ready_in = iteration;
    const int most = burst ? options_.backlog() : 1;
    for (int i = 0; i < most && watched_; ++i) {
        if (accept_from(from)) continue;
        if (watched_ && i < 2) from.ready_in = never_ready;
        return;
    }
}

/// False: nobody is there, or there is no way to accept.
bool ServerState::accept_from(Listening& from) {
    if (hands_over_ && is_full()) {
        // One of the loops that had room has ended.
        update_accepting();
        return false;
    }
    Endpoint peer;
    const int descriptor = from.socket.accept(peer);
    if (descriptor >= 0) {
        if (hands_over_) {
            hand_over(descriptor, peer);
        } else {
            serve(descriptor, peer);
        }
        return true;
    }
    const int code = errno;
    if (would_block(code)) return false;
    if (accept_error_concerns_one_client(code)) {
        ++counters_.failed;
        return true;
    }
    const std::system_error error = socket_error(code, "accept on", from.socket.local());
    rest(error.what(), std::make_exception_ptr(error));
    return false;
}

void ServerState::accept_waiting() {
    if (closed_) return;
    const Keep keep(*this);
    // There may be room that it has not been told of yet, or only that it rests until it is.
    if (rest_) {
        rest_.cancel();
        end_rest();
    } else {
        update_accepting();
    }
    // More cannot have waited when this began; without an end it would serve a crowd for ever.
    const int most = std::max(options_.backlog(), SOMAXCONN);
    for (Listening& one : listening_) {
        if (!one.socket.is_open()) continue;
        for (int i = 0; i <= most && watched_ && accept_from(one); ++i) {
        }
    }
}

void ServerState::take(int descriptor, const Endpoint& peer) {
    const Keep keep(*this);
    serve(descriptor, peer);
}

void ServerState::hand_over(int descriptor, const Endpoint& peer) {
    try {
        ServerGroupState::give(group_, descriptor, peer);
    } catch (...) {
        ++counters_.failed;
        report_client(peer, std::current_exception());
    }
    if (!closed_) update_accepting();
}

void ServerState::serve(int descriptor, const Endpoint& peer) {
    // Whoever asks in the factory what is left is to know of this one.
    struct Arriving {
        explicit Arriving(ServerState& s) noexcept : server(s) { ++server.arriving_; }
        Arriving(const Arriving&) = delete;
        Arriving& operator=(const Arriving&) = delete;
        ~Arriving() {
            --server.arriving_;
            server.settle();
        }
        ServerState& server;
    } const arriving(*this);
    Accepted client{*this, service_, descriptor};
    if (counts(peer)) {
        const auto known = by_address_.find(peer.with_port(0));
        if (known != by_address_.end() && known->second >= options_.max_per_address()) {
            ++counters_.refused_by_limit;
            service_.calls.reset_on_close(descriptor);
            return;
        }
    }
    // It may close the server: this client is served nevertheless, it had been accepted.
    std::unique_ptr<Protocol> protocol = make_protocol(peer);
    if (!protocol) {
        ++counters_.failed;
        return;
    }
    std::exception_ptr error;
    try {
        connect(descriptor, peer, std::move(protocol));
        client.descriptor = -1;
    } catch (...) {
        error = std::current_exception();
    }
    if (error) {
        ++counters_.failed;
        report_client(peer, std::move(error));
    } else if (!closed_) {
        update_accepting();
    }
}

/// Null if the factory has not made one.
std::unique_ptr<Protocol> ServerState::make_protocol(const Endpoint& peer) {
    std::exception_ptr error;
    try {
        std::unique_ptr<Protocol> made = handlers_ ? handlers_->make_protocol() : factory_();
        if (!made) throw std::invalid_argument("the protocol factory has returned a null pointer");
        return made;
    } catch (const LoopExit&) {
        ++counters_.failed;
        throw;
    } catch (const abi::__forced_unwind&) {
        throw;  // pthread_cancel(): swallowing it would abort the process
    } catch (...) {
        error = std::current_exception();
    }
    if (core.debug) report_client(peer, std::move(error));
    return nullptr;
}

void ServerState::connect(int descriptor, const Endpoint& peer,
                          std::unique_ptr<Protocol> protocol) {
    TransportState* const transport = TransportState::make(
        loop_, descriptor, peer, std::move(protocol), TransportState::Origin::accepted);
    struct Release {
        TransportState* transport;
        ~Release() { transport->release(); }
    } const release{transport};
    try {
        apply_limits(*transport);
        if (counts(peer)) ++by_address_[peer.with_port(0)];
    } catch (...) {
        transport->disown();
        throw;
    }
    transport->set_owner(*this);
    keep();
    ++counters_.accepted;
    ++counters_.open;
    transport->begin();
}

/// What is not the default costs each connection some memory.
void ServerState::apply_limits(TransportState& transport) const {
    const WriteLimits usual;
    const WriteLimits& limits = options_.write_limits();
    if (limits.high != usual.high || limits.low != usual.low || limits.hard != usual.hard) {
        transport.set_limits(limits);
    }
    const auto limit = [&](Duration TimeLimits::*which, Duration length) {
        if (length != forever()) transport.set_time_limit(which, length);
    };
    limit(&TimeLimits::idle, options_.idle_timeout());
    limit(&TimeLimits::read, options_.read_timeout());
    limit(&TimeLimits::write, options_.write_timeout());
}

bool ServerState::counts(const Endpoint& peer) const noexcept {
    return options_.max_per_address() != ServerOptions::no_limit && peer.is_ip();
}

void ServerState::uncount(const Endpoint& peer) noexcept {
    const auto known = by_address_.find(peer.with_port(0));
    if (known != by_address_.end() && --known->second == 0) by_address_.erase(known);
}

void ServerState::report_client(const Endpoint& peer, std::exception_ptr error) {
    Report report("A client could not be served: its connection is closed", std::move(error));
    report.details.emplace_back("client", in_words(peer));
    report.details.emplace_back("server", name());
    loop_.call_exception_handler(report);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
