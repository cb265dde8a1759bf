// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SOCKET_STATE_HPP
#define REACTOR_NET_DETAIL_SOCKET_STATE_HPP

#include <net/deadline.hpp>
#include <net/detail/socket_service.hpp>
#include <net/socket.hpp>
#include <reactor/detail/promise_state.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace reactor {
namespace net {
namespace detail {

class SocketState;

/// The promise of something that a socket does. While it waits the socket owns a reference, and
/// `owner` is set; cancelled, it takes itself out of the socket before the caller sees it.
template <class T>
struct SocketOperation : reactor::detail::OperationState<T> {
    using reactor::detail::OperationState<T>::OperationState;

    SocketState* owner = nullptr;
    TimerHandle limit;
};

struct ConnectOperation final : reactor::detail::Pooled<ConnectOperation, SocketOperation<void>> {
    using Pooled::Pooled;
    void abandon() noexcept override;

    Duration pause{0};  // before the next try at a full Unix listener; zero: none was needed
};

struct ReadOperation final : reactor::detail::Pooled<ReadOperation, SocketOperation<std::string>> {
    using Pooled::Pooled;
    void abandon() noexcept override;

    std::size_t most = 0;  // of one read; of everything if `to_end`
    bool to_end = false;
    std::string bytes;  // of `to_end`: what has come so far
};

struct SendOperation final : reactor::detail::Pooled<SendOperation, SocketOperation<void>> {
    using Pooled::Pooled;
    void abandon() noexcept override;

    const std::string& bytes() const noexcept { return shared ? *shared : own; }
    /// A promise may be held long after its outcome.
    void drop_bytes() noexcept {
        shared.reset();
        std::string().swap(own);
    }

    std::string own;
    std::shared_ptr<const std::string> shared;
    std::size_t sent = 0;
    bool ends_stream = false;  // shutdown_send()
    SendOperation* behind = nullptr;
};

/// What a Socket is made of; owned by it, at an address that does not change, since the loop's
/// callbacks point here. The states are drawn in socket.hpp.
class SocketState {
public:
    explicit SocketState(EventLoop& loop);
    ~SocketState();
    SocketState(const SocketState&) = delete;
    SocketState& operator=(const SocketState&) = delete;

    /// Takes over a connected, non-blocking descriptor; if it throws it is the caller's still.
    void assign(int descriptor, int family, const Endpoint& peer);

    Promise<void> connect(const Endpoint& to, const Deadline& deadline, const Here& here);
    Promise<std::string> read(std::size_t most, bool to_end, const Deadline& deadline,
                              const Here& here);
    Promise<void> send(std::string own, std::shared_ptr<const std::string> shared, bool ends_stream,
                       const Deadline& deadline, const Here& here);
    void close() noexcept;
    int release();

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
    void watch_reading();
    void watch_writing();
    template <class Operation>
    void limit(Operation& operation, const Deadline& deadline, void (SocketState::*late)());
    template <class Operation>
    reactor::detail::StateOwner<Operation> detach(Operation*& waiting) noexcept;
    void close_descriptor() noexcept;

    // connecting
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
    SendOperation* sending_ = nullptr;  // the first of the queue
    SendOperation* last_send_ = nullptr;
    Handle read_watch_;
    Handle write_watch_;
    TimerHandle retry_;   // of a connect
    std::string unread_;  // what a read_all() has left
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
