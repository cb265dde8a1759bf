// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_DATAGRAM_STATE_HPP
#define REACTOR_NET_DETAIL_DATAGRAM_STATE_HPP

#include <net/deadline.hpp>
#include <net/detail/datagram_descriptor.hpp>
#include <net/detail/datagram_operation.hpp>
#include <net/detail/room_pause.hpp>
#include <net/detail/socket_service.hpp>
#include <reactor/detail/descriptor_watch.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>

#include <cerrno>
#include <cstddef>

namespace reactor {
namespace net {
namespace detail {

/// What a DatagramSocket is made of; owned by it, at an address that does not change, since the
/// loop's callbacks point here. Its life is in datagram_state.cpp; the operations are in
/// datagram_receiving.cpp and datagram_sending.cpp.
class DatagramState final : public reactor::detail::DescriptorHolder {
public:
    DatagramState(EventLoop& loop, DatagramDescriptor descriptor);
    ~DatagramState();
    DatagramState(const DatagramState&) = delete;
    DatagramState& operator=(const DatagramState&) = delete;

    void connect(const Endpoint& remote);
    template <class T>
    Promise<T> receive(char* into, std::size_t most, const Deadline& deadline, const Here& here);
    /// To the peer if `to` is empty.
    Promise<std::size_t> send(ByteView bytes, const Endpoint& to, const Deadline& deadline,
                              const Here& here);
    void close() noexcept;
    int release();
    /// Cancels what is pending and gives the socket away.
    DatagramDescriptor take();

    /// Once, if it was made with an empty one; may throw, and is without it then.
    void take_over(DatagramDescriptor& descriptor);

    // As DescriptorHolder.
    void number_taken(int) noexcept override { socket_.lose_number(); }
    void number_lost(int) noexcept override {
        watch_lost(reading_side, {reactor::detail::WatchLoss::closed, EBADF});
    }
    // A pending operation was cancelled.
    void forget(PendingReceive& receive) noexcept;
    void forget(DatagramSend& send) noexcept;

    reactor::detail::LoopCore& core;
    DatagramDescriptor& socket() noexcept { return socket_; }
    const DatagramDescriptor& socket() const noexcept { return socket_; }

private:
    void stop_watching() noexcept;

    // its two watches
    using Watch = reactor::detail::DescriptorWatch<DatagramState>;
    friend Watch;
    enum : unsigned { reading_side, writing_side };
    reactor::detail::LoopCore& watch_core() const noexcept { return core; }
    void watch_ready(unsigned side) { side == reading_side ? readable() : writable(); }
    void watch_lost(unsigned side, const reactor::detail::WatchLoss& loss) noexcept;

    // receiving
    void check_receive() const;
    void begin(PendingReceive& receive, const Deadline& deadline);
    bool advance(PendingReceive& receive);
    int take(PendingReceive& receive);
    void readable();
    void receive_late();
    const char* receive_step() const noexcept;
    Endpoint receive_address() const;
    reactor::detail::StateOwner<reactor::detail::PromiseState> detach_receive() noexcept;

    // sending
    bool attempt(DatagramSend& send, ByteView bytes);
    void writable();
    void send_queued();
    void wait_for_room();
    void stop_waiting_for_room() noexcept;
    void send_late(DatagramSend* send);
    const Endpoint& destination(const DatagramSend& send) const noexcept;
    reactor::detail::StateOwner<DatagramSend> unlink(DatagramSend& send) noexcept;

    DatagramDescriptor socket_;
    char* const buffer_;  // the loop's
    // The last receive found nothing: the next one would get EAGAIN, so it waits at once.
    bool drained_ = false;

    PendingReceive* receiving_ = nullptr;
    PendingOperations<DatagramSend> sends_;
    Watch read_watch_;
    Watch write_watch_;
    bool asking_ = false;  // by `retry_`, since a watch is of no use: see wait_for_room()
    TimerHandle retry_;
    RoomPause pause_;
};

/// For those who make something else of a DatagramSocket.
struct DatagramSocketAccess {
    /// Leaves a closed one, whose pending operations are cancelled. Throws StateError, naming
    /// `call`, if it is empty or closed.
    static DatagramDescriptor take(DatagramSocket& socket, const char* call);
};

template <class T>
void DatagramReceive<T>::abandon() noexcept {
    this->owner->forget(*this);
}

template <class T>
Promise<T> DatagramState::receive(char* into, std::size_t most, const Deadline& deadline,
                                  const Here& here) {
    check_receive();
    const reactor::detail::StateOwner<DatagramReceive<T>> receive(
        reactor::detail::make_state<DatagramReceive<T>>(core, here));
    const Promise<T> promise = reactor::detail::PromiseAccess::share<Promise<T>>(&*receive);
    receive->into = into;
    receive->most = most;
    begin(*receive, deadline);
    return promise;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
