// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SERVER_STATE_HPP
#define REACTOR_NET_DETAIL_SERVER_STATE_HPP

#include <net/detail/listening_socket.hpp>
#include <net/detail/server_group_state.hpp>
#include <net/detail/server_handlers.hpp>
#include <net/detail/server_operation.hpp>
#include <net/detail/server_service.hpp>
#include <net/detail/transport_service.hpp>
#include <net/detail/transport_state.hpp>
#include <net/server.hpp>
#include <reactor/detail/descriptor_watch.hpp>
#include <reactor/detail/loop_core.hpp>
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

/// What a Server is made of. Counted, plainly: by the Server, by each of its connections until it
/// is lost, by each handler that runs, and by what is being done here. Its life is in
/// server_state.cpp; accepting, and what it promises when it ends, have sources of their own.
class ServerState final : public TransportOwner, public DescriptorShortage {
public:
    /// With one reference, the caller's. start_serving() begins to accept.
    ServerState(EventLoop& loop, ProtocolFactory factory, std::vector<ListeningSocket> sockets,
                const ServerOptions& options);
    ServerState(EventLoop& loop, StreamHandler handler, std::vector<ListeningSocket> sockets,
                const ServerOptions& options);
    /// Of a group whose clients are handed over: accepts for all of it, and serves none itself.
    ServerState(EventLoop& loop, std::shared_ptr<ServerGroupState> group,
                std::vector<ListeningSocket> sockets, const ServerOptions& options);
    ServerState(const ServerState&) = delete;
    ServerState& operator=(const ServerState&) = delete;
    void keep() noexcept { ++references_; }
    void drop() noexcept {
        if (--references_ == 0) destroy();
    }

    // ---- of the Server ----

    /// If it fails, the server is closed.
    void start_serving();
    bool is_closed() const noexcept { return closed_; }
    bool is_serving() const noexcept { return serving_ && !closed_; }
    void close() noexcept;
    /// The Server goes, and its reference.
    void release() noexcept;
    Promise<void> wait(const Here& here, ServerWait::Until until);
    Promise<ShutdownSummary> shutdown(Duration grace, Duration flush, const Here& here);
    void close_clients() noexcept;
    void abort_clients() noexcept;
    std::vector<Endpoint> endpoints() const;
    const ServerCounters& counters() const noexcept { return counters_; }
    /// Connections, and handlers that go on without theirs.
    std::size_t clients() const;

    // ---- of a group ----

    /// Is one of those whom the group's clients are handed to.
    void take_seat(std::shared_ptr<ServerGroupState> group, std::size_t index) noexcept;
    /// Serves a client that has been accepted elsewhere, whose descriptor it owns from now on.
    void take(int descriptor, const Endpoint& peer);
    /// Accepts all that wait, without an iteration in between: before close(), which resets them.
    void accept_waiting();
    /// A loop of the group has room again.
    void room_again() { update_accepting(); }

    // ---- of its parts ----

    void connection_gone(TransportState& transport) noexcept override;
    void descriptor_closed() noexcept override;
    /// A handler has ended, without its reference.
    void handler_gone() noexcept { settle(); }
    /// A client that has a seat has none any more.
    void leave_seat() noexcept {
        if (group_ && !hands_over_) group_->leave(seat_);
    }
    /// The loop is closing: ends without a word.
    void loop_closed() noexcept;
    /// Was cancelled.
    void forget(ServerWait& wait) noexcept;
    void forget(ServerShutdown& shutdown) noexcept;
    /// "net::Server on 127.0.0.1:80", with the first of its addresses.
    std::string name() const;

    /// Keeps the state while it lives.
    class Keep {
    public:
        explicit Keep(ServerState& state) noexcept : state_(state) { state_.keep(); }
        Keep(const Keep&) = delete;
        Keep& operator=(const Keep&) = delete;
        ~Keep() { state_.drop(); }

    private:
        ServerState& state_;
    };

    reactor::detail::LoopCore& core;

private:
    friend class ServerService;  // the list
    friend class reactor::detail::DescriptorWatch<ServerState>;

    static constexpr std::uint64_t never_ready = static_cast<std::uint64_t>(-1);

    struct Listening final : reactor::detail::DescriptorHolder {
        explicit Listening(ListeningSocket opened) noexcept : socket(std::move(opened)) {}
        // As DescriptorHolder.
        void number_taken(int) noexcept override { socket.let_go(); }
        void number_lost(int) noexcept override { watch.stop(); }

        ListeningSocket socket;
        reactor::detail::DescriptorWatch<ServerState> watch;
        // The iteration in which it was ready and may have had more clients than were taken.
        std::uint64_t ready_in = never_ready;
    };

    ServerState(EventLoop& loop, std::vector<ListeningSocket> sockets,
                const ServerOptions& options);
    ~ServerState();
    // Not inline: gcc 12 would see uses after it that there are not.
    [[gnu::noinline]] void destroy() noexcept;
    bool is_closed_loop() const noexcept { return core.closed.load(std::memory_order_relaxed); }
    void hold(Listening& one);
    void let_go(Listening& one) noexcept;
    void close_sockets() noexcept;

    // accepting
    reactor::detail::LoopCore& watch_core() const noexcept { return core; }
    void watch_ready(unsigned index);
    bool accept_from(Listening& from);
    void serve(int descriptor, const Endpoint& peer);
    void hand_over(int descriptor, const Endpoint& peer);
    std::unique_ptr<Protocol> make_protocol(const Endpoint& peer);
    void connect(int descriptor, const Endpoint& peer, std::unique_ptr<Protocol> protocol);
    void apply_limits(TransportState& transport) const;
    bool is_full() const noexcept {
        return hands_over_ ? group_->is_full() : counters_.open >= options_.max_connections();
    }
    bool counts(const Endpoint& peer) const noexcept;
    void uncount(const Endpoint& peer) noexcept;
    void report_client(const Endpoint& peer, std::exception_ptr error);
    void update_accepting();
    void watch();
    void unwatch() noexcept;
    void watch_lost(unsigned index, const reactor::detail::WatchLoss& loss) noexcept;
    void pause(TimePoint now);
    void rest(const std::string& why, std::exception_ptr error);
    void resume_soon() noexcept;
    void end_rest();

    // ending
    /// Calls f(TransportState&) for each of this server.
    template <class F>
    void for_each_connection(F f) noexcept {
        if (is_closed_loop()) return;
        const Keep keep(*this);
        service_.for_each([&](TransportState& transport) {
            if (transport.owner() == this) f(transport);
        });
    }
    std::size_t connections() const noexcept { return counters_.open + arriving_; }
    bool has_clients() const noexcept;
    bool all_over() const noexcept { return closed_ && !has_clients(); }
    PendingOperations<ServerWait>& waiting(ServerWait::Until until) noexcept;
    bool has_come(ServerWait::Until until) const noexcept;
    void settle() noexcept;
    bool settle_one() noexcept;
    void settle(ServerShutdown& shutdown) noexcept;
    void next_phase(ServerShutdown* shutdown);
    void close_unhandled();

    EventLoop& loop_;  // not after its end
    TransportService& service_;
    ServerService& servers_;
    const ServerOptions options_;
    ProtocolFactory factory_;
    std::unique_ptr<ServerHandlers> handlers_;
    std::shared_ptr<ServerGroupState> group_;  // null: clients are not handed over
    std::vector<Listening> listening_;
    std::unordered_map<Endpoint, std::size_t> by_address_;  // connections, if they are limited
    ServerCounters counters_;
    TimerHandle rest_;
    TimePoint reported_;                    // the last rest that was
    std::size_t arriving_ = 0;              // 1 while a client is being given a protocol
    PendingOperations<ServerWait> waits_;   // wait_closed()
    PendingOperations<ServerWait> serves_;  // serve_forever()
    PendingOperations<ServerWait> idles_;   // of a group's shutdown()
    PendingOperations<ServerShutdown> shutdowns_;
    ServerState* before_ = nullptr;
    ServerState* behind_ = nullptr;
    std::size_t references_ = 1;
    std::size_t seat_ = 0;     // in group_
    bool hands_over_ = false;  // accepts for group_
    bool serving_ = false;
    bool watched_ = false;  // the sockets are
    bool closed_ = false;
    bool listed_ = false;  // servers_ is there, and knows it
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
