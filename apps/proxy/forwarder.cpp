// SPDX-License-Identifier: BSL-1.0
#include "forwarder.hpp"
#include "targets.hpp"

#include <net/create_connection.hpp>
#include <net/transport.hpp>
#include <reactor/report.hpp>

#include <map>
#include <string>
#include <system_error>
#include <utility>

namespace proxy {

namespace net = reactor::net;

/// What the links share with the forwarder, which may be gone before them.
struct Forwarder::State {
    State(reactor::EventLoop& l, ForwarderOptions o)
        : loop(l), options(std::move(o)), targets(options.targets, options.in_turn) {}

    reactor::EventLoop& loop;
    ForwarderOptions options;
    Targets targets;
    Traffic traffic;
    std::map<std::uint64_t, Link*> links;  // by number, so in the order of their making
    std::uint64_t next_link = 0;
    std::vector<reactor::Promise<void>> waiting;
};

// ---- a client and its target ----------------------------------------------------------------

/// Two connections and what goes from one to the other. Shared by its two Ends, and by the connect
/// while that lasts.
///
///     connecting ──> open ──(both ends have come, idle)──> closing ──> gone
///          └───────────┴──(reset, no target, abort)──────────────────────┘
class Forwarder::Link {
public:
    enum Side { client, target };

    explicit Link(std::shared_ptr<State> state)
        : state_(std::move(state)), number_(state_->next_link++) {
        state_->links.emplace(number_, this);
        ++state_->traffic.open;
    }
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // What the Ends hear.
    void made(const std::shared_ptr<Link>& self, Side side, const net::Transport& transport);
    void received(Side from, net::ByteView bytes);
    bool ended(Side from);
    void lost(Side side, const std::exception_ptr& error);
    void pause_reading(Side side) { ends_[side].pause_reading(); }
    void resume_reading(Side side) { ends_[side].resume_reading(); }

    void close_client() {
        client_closed_ = true;
        ends_[client].close();
    }
    void abort();

    static Side other(Side side) { return side == client ? target : client; }

private:
    void connect(const std::shared_ptr<Link>& self);
    void tried(const std::shared_ptr<Link>& self, const reactor::Promise<net::Transport>& outcome);
    void unreached(const std::shared_ptr<Link>& self, const std::string& why);
    void close();
    void abort(Side side);
    void watch_idleness();
    void look_at_idleness();

    std::shared_ptr<State> state_;
    std::uint64_t number_;
    net::Transport ends_[2];
    bool end_received_[2] = {false, false};
    bool client_closed_ = false;  // by close_client()
    bool closing_ = false;

    std::vector<std::size_t> order_;  // of the targets
    std::size_t tries_ = 0;
    reactor::Promise<net::Transport> connecting_;

    reactor::TimerHandle idle_;
    std::uint64_t moved_ = 0;         // bytes received on either side
    std::uint64_t seen_ = 0;          // what moved_ was,
    std::size_t unsent_[2] = {0, 0};  // and what waited to be sent, at the last look
    int quiet_looks_ = 0;
};

/// One of the two connections, as its transport sees it.
class Forwarder::End final : public net::Protocol {
public:
    End(std::shared_ptr<Link> link, Link::Side side) : link_(std::move(link)), side_(side) {}

private:
    void connection_made(const net::Transport& transport) override {
        link_->made(link_, side_, transport);
    }
    void data_received(net::ByteView bytes) override { link_->received(side_, bytes); }
    bool eof_received() override { return link_->ended(side_); }
    void connection_lost(std::exception_ptr error) override { link_->lost(side_, error); }
    void pause_writing() override { link_->pause_reading(Link::other(side_)); }
    void resume_writing() override { link_->resume_reading(Link::other(side_)); }
    const char* protocol_name() const noexcept override {
        return side_ == Link::client ? "proxy: client" : "proxy: target";
    }

    std::shared_ptr<Link> link_;
    Link::Side side_;
};

Forwarder::Link::~Link() {
    idle_.cancel();
    state_->links.erase(number_);
    if (--state_->traffic.open > 0) return;
    for (reactor::Promise<void>& waiting : state_->waiting) {
        if (!waiting.done()) waiting.set_result();
    }
    state_->waiting.clear();
}

void Forwarder::Link::made(const std::shared_ptr<Link>& self, Side side,
                           const net::Transport& transport) {
    ends_[side] = transport;
    if (closing_ || (side == target && ends_[client].is_closing())) {
        transport.abort();
        return;
    }
    if (side == client) {
        // What it sends stays with the system until there is somebody to take it.
        transport.pause_reading();
        order_ = state_->targets.order(state_->loop.time());
        connect(self);
        return;
    }
    ++state_->traffic.forwarded;
    state_->targets.reached(order_[tries_]);
    watch_idleness();
    ends_[client].resume_reading();
}

// ---- connecting -----------------------------------------------------------------------------

void Forwarder::Link::connect(const std::shared_ptr<Link>& self) {
    const command_line::Address& to = state_->targets[order_[tries_]];
    const net::ConnectOptions options(state_->options.connect_timeout);
    // Weak: who connects is kept by connecting_, and so would keep what keeps it.
    const std::weak_ptr<Link> weak = self;
    const net::ProtocolFactory factory = [weak] {
        const std::shared_ptr<Link> link = weak.lock();
        if (!link) throw std::system_error(std::make_error_code(std::errc::operation_canceled));
        return std::unique_ptr<net::Protocol>(new End(link, target));
    };
    try {
        connecting_ = to.endpoint.empty()
                          ? net::create_connection(state_->loop, factory, to.host, to.port, options)
                          : net::create_connection(state_->loop, factory, to.endpoint, options);
    } catch (const std::exception& error) {  // such as a name that no host can have
        unreached(self, error.what());
        return;
    }
    connecting_.add_done_callback(
        [self](const reactor::Promise<net::Transport>& outcome) { self->tried(self, outcome); });
}

void Forwarder::Link::tried(const std::shared_ptr<Link>& self,
                            const reactor::Promise<net::Transport>& outcome) {
    connecting_ = reactor::Promise<net::Transport>();
    if (outcome.cancelled()) return;
    const std::exception_ptr error = outcome.error();
    if (error && !ends_[client].is_closing()) unreached(self, reactor::describe(error));
}

void Forwarder::Link::unreached(const std::shared_ptr<Link>& self, const std::string& why) {
    state_->targets.failed(order_[tries_], state_->loop.time());
    const bool last = ++tries_ == order_.size();
    state_->loop.log(reactor::LogLevel::warning,
                     "client " + ends_[client].remote_endpoint().str() + ": " + why +
                         (last ? ": connection reset" : ": trying the next target"));
    if (last) {
        ++state_->traffic.unreached;
        abort();
    } else {
        connect(self);
    }
}

// ---- forwarding -----------------------------------------------------------------------------

void Forwarder::Link::received(Side from, net::ByteView bytes) {
    Traffic& traffic = state_->traffic;
    (from == client ? traffic.from_clients : traffic.from_targets) += bytes.size();
    moved_ += bytes.size();
    const net::Transport& to = ends_[other(from)];
    if (to.is_closing()) {
        // The client is being closed, and its target still has something to say: what is cut off
        // must not look whole.
        abort();
        return;
    }
    to.write(bytes);
    (from == client ? traffic.to_targets : traffic.to_clients) += bytes.size();
}

bool Forwarder::Link::ended(Side from) {
    end_received_[from] = true;
    ++moved_;
    const net::Transport& to = ends_[other(from)];
    to.write_eof();
    if (!end_received_[other(from)]) return !to.is_closing();
    close();
    return false;
}

void Forwarder::Link::lost(Side side, const std::exception_ptr& error) {
    if (side == client && connecting_) connecting_.cancel();
    if (!ends_[other(side)] || closing_) return;
    // Without an error, but without its end either: somebody else has cut it off.
    const bool whole = end_received_[side] || (side == client && client_closed_);
    if (error || !whole) {
        abort(other(side));
    } else {
        ends_[other(side)].close();
    }
}

// ---- ending ---------------------------------------------------------------------------------

void Forwarder::Link::close() {
    closing_ = true;
    for (net::Transport& end : ends_) {
        if (end) end.close();
    }
}

void Forwarder::Link::abort() {
    closing_ = true;
    if (connecting_) connecting_.cancel();
    abort(client);
    abort(target);
}

void Forwarder::Link::abort(Side side) {
    const net::Transport& end = ends_[side];
    if (!end) return;
    Traffic& traffic = state_->traffic;
    (side == client ? traffic.to_clients : traffic.to_targets) -= end.write_buffer_size();
    end.abort();
}

// The transports have idle limits of their own, but one that has nothing to do while the other
// sends what waits is not idle.
void Forwarder::Link::watch_idleness() {
    const reactor::Duration limit = state_->options.idle_timeout;
    if (limit == reactor::forever()) return;
    idle_ =
        state_->loop.call_every(reactor::Options().label("proxy: idle?"),
                                limit / 4 + reactor::Duration(1), &Link::look_at_idleness, this);
}

void Forwarder::Link::look_at_idleness() {
    const std::size_t unsent[2] = {ends_[client].write_buffer_size(),
                                   ends_[target].write_buffer_size()};
    const bool quiet = moved_ == seen_ && unsent[0] == unsent_[0] && unsent[1] == unsent_[1];
    seen_ = moved_;
    unsent_[0] = unsent[0];
    unsent_[1] = unsent[1];
    quiet_looks_ = quiet ? quiet_looks_ + 1 : 0;
    if (quiet_looks_ < 4) return;
    idle_.cancel();
    if (closing_ || unsent[0] + unsent[1] > 0) {
        abort();  // who has not taken it so far will not
    } else {
        close();
    }
}

// ---- the forwarder --------------------------------------------------------------------------

Forwarder::Forwarder(reactor::EventLoop& loop, ForwarderOptions options)
    : state_(std::make_shared<State>(loop, std::move(options))) {}

Forwarder::~Forwarder() = default;

std::unique_ptr<net::Protocol> Forwarder::serve_client() {
    return std::unique_ptr<net::Protocol>(new End(std::make_shared<Link>(state_), Link::client));
}

reactor::Promise<void> Forwarder::wait_idle() {
    reactor::Promise<void> idle = state_->loop.create_promise<void>();
    if (state_->traffic.open == 0) {
        idle.set_result();
    } else {
        state_->waiting.push_back(idle);
    }
    return idle;
}

void Forwarder::close() {
    for (const auto& link : state_->links) link.second->close_client();
}

void Forwarder::abort() {
    for (const auto& link : state_->links) link.second->abort();
}

const Traffic& Forwarder::traffic() const noexcept { return state_->traffic; }

}  // namespace proxy
