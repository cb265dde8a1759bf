// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SOCKET_STATE_HPP
#define REACTOR_NET_DETAIL_SOCKET_STATE_HPP

#include <net/deadline.hpp>
#include <net/detail/socket_operation.hpp>
#include <net/detail/socket_service.hpp>
#include <net/socket.hpp>
#include <reactor/detail/descriptor_watch.hpp>
#include <reactor/detail/promise_state.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <system_error>

namespace reactor {
namespace net {
namespace detail {

/// What a Socket is made of; owned by it, at an address that does not change, since the loop's
/// callbacks point here. The states are drawn in socket.hpp. The descriptor's life is in
/// socket_state.cpp; the operations are in socket_connecting.cpp and its neighbours.
class SocketState final : public reactor::detail::DescriptorHolder {
public:
    explicit SocketState(EventLoop& loop);
    ~SocketState();
    SocketState(const SocketState&) = delete;
    SocketState& operator=(const SocketState&) = delete;

    /// Takes over a connected, non-blocking descriptor; if it throws it is the caller's still.
    void assign(int descriptor, int family, const Endpoint& peer);

    /// `from` may be empty.
    Promise<void> connect(const Endpoint& to, const Endpoint& from, const Deadline& deadline,
                          const Here& here);
    Promise<std::string> read(std::size_t most, bool to_end, const Deadline& deadline,
                              const Here& here);
    Promise<void> send(std::string own, std::shared_ptr<const std::string> shared, bool ends_stream,
                       const Deadline& deadline, const Here& here);
    void close() noexcept;
    int release();

    // As DescriptorHolder.
    void number_taken(int number) noexcept override;
    void number_lost(int number) noexcept override;
    // A pending operation was cancelled.
    void forget(ConnectOperation& connect) noexcept;
    void forget(ReadOperation& read) noexcept;
    void forget(SendOperation& send) noexcept;

    reactor::detail::LoopCore& core;
    AsioSocket& socket() noexcept { return *socket_; }
    int descriptor() noexcept { return socket_ ? socket_->native_handle() : -1; }
    bool connected() const noexcept { return connected_; }
    const Endpoint& peer() const noexcept { return peer_; }

private:
    SocketService& service() const { return core.loop->service<SocketService>(); }
    void make_socket();
    void hold();
    void close_descriptor() noexcept;
    void drop_descriptor(bool ours) noexcept;

    // its two watches
    using Watch = reactor::detail::DescriptorWatch<SocketState>;
    friend Watch;
    enum : unsigned { reading_side, writing_side };
    reactor::detail::LoopCore& watch_core() const noexcept { return core; }
    void watch_ready(unsigned side) { side == reading_side ? readable() : writable(); }
    void watch_lost(unsigned side, const reactor::detail::WatchLoss& loss) noexcept;
    // False: the system refuses to watch the descriptor, and the operation has failed with that.
    bool watch_reading(reactor::detail::PromiseState& read);
    bool watch_writing(reactor::detail::PromiseState& operation, const std::string& step);
    static void fail(reactor::detail::PromiseState& operation, const std::system_error& error);
    void fail_late(reactor::detail::PromiseState& operation, const std::string& step);
    template <class Operation>
    void limit(Operation& operation, const Deadline& deadline, void (SocketState::*late)());
    template <class Operation>
    reactor::detail::StateOwner<Operation> detach(Operation*& waiting) noexcept;

    // connecting
    int bind(const Endpoint& from) noexcept;
    int begin_connect() noexcept;
    bool advance(ConnectOperation& connect, int code);
    void try_again();
    void connect_ready();
    void connect_late();

    // reading
    bool advance(ReadOperation& read);
    void readable();
    void read_late();
    void put_back(ReadOperation& read) noexcept;

    // sending
    bool advance(SendOperation& send);
    void writable();
    void send_late(SendOperation* send);
    reactor::detail::StateOwner<SendOperation> unlink(SendOperation& send) noexcept;

    std::shared_ptr<boost::asio::io_context> context_;  // outlives socket_
    std::unique_ptr<AsioSocket> socket_;                // null: unconnected
    char* buffer_ = nullptr;                            // the loop's
    Endpoint peer_;
    bool connected_ = false;
    // The last read got less than it asked for: the next one would get EAGAIN, so it waits at once.
    bool drained_ = false;
    bool sending_ended_ = false;

    ConnectOperation* connecting_ = nullptr;
    ReadOperation* reading_ = nullptr;
    PendingOperations<SendOperation> sends_;
    Watch read_watch_;
    Watch write_watch_;
    TimerHandle retry_;   // of a connect
    std::string unread_;  // what a read_all() has left
};

template <class Operation>
void SocketState::limit(Operation& operation, const Deadline& deadline,
                        void (SocketState::*late)()) {
    const TimePoint when = deadline.at(*core.loop);
    if (when != never()) operation.limit = core.loop->call_at(when, late, this);
}

template <class Operation>
reactor::detail::StateOwner<Operation> SocketState::detach(Operation*& waiting) noexcept {
    reactor::detail::StateOwner<Operation> operation(waiting);
    waiting = nullptr;
    operation->owner = nullptr;
    operation->limit.cancel();
    return operation;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
