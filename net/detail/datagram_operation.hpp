// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_DATAGRAM_OPERATION_HPP
#define REACTOR_NET_DETAIL_DATAGRAM_OPERATION_HPP

#include <net/datagram_socket.hpp>
#include <net/detail/datagram_descriptor.hpp>
#include <net/detail/pending_operations.hpp>
#include <reactor/detail/value_state.hpp>
#include <reactor/handle.hpp>

#include <cstddef>
#include <string>

namespace reactor {
namespace net {
namespace detail {

/// A receive, whatever its promise gives. While it waits the socket owns a reference of the
/// promise, and `owner` is set.
struct PendingReceive {
    /// Makes the promise done with a datagram whose bytes are there.
    virtual void deliver(const char* bytes, Arrival& arrival) = 0;
    virtual reactor::detail::PromiseState& promise() noexcept = 0;

    DatagramState* owner = nullptr;
    TimerHandle limit;
    std::size_t most = 0;
    char* into = nullptr;  // the caller's; null: the loop's

protected:
    ~PendingReceive() = default;
};

template <class T>
struct DatagramReceiving : reactor::detail::OperationState<T>, PendingReceive {
    using reactor::detail::OperationState<T>::OperationState;
};

/// The promise of a receive_from, receive_into or receive.
template <class T>
struct DatagramReceive final : reactor::detail::Pooled<DatagramReceive<T>, DatagramReceiving<T>> {
    using reactor::detail::Pooled<DatagramReceive<T>, DatagramReceiving<T>>::Pooled;

    void abandon() noexcept override;  // see datagram_state.hpp
    void explain(reactor::detail::WhyPending& why) const override {
        why.what = "DatagramSocket::receive";
    }
    reactor::detail::PromiseState& promise() noexcept override { return *this; }
    void deliver(const char* bytes, Arrival& arrival) override {
        this->set(value_of(bytes, arrival, static_cast<T*>(nullptr)));
    }

private:
    static Datagram value_of(const char* bytes, Arrival& arrival, Datagram*) {
        Datagram datagram;
        datagram.bytes.assign(bytes, arrival.size);
        datagram.from = arrival.from;
        datagram.full_size = arrival.full_size;
        datagram.truncated = arrival.truncated();
        return datagram;
    }
    static DatagramInBuffer value_of(const char*, Arrival& arrival, DatagramInBuffer*) {
        DatagramInBuffer datagram;
        datagram.size = arrival.size;
        datagram.from = arrival.from;
        datagram.full_size = arrival.full_size;
        datagram.truncated = arrival.truncated();
        return datagram;
    }
    static std::string value_of(const char* bytes, Arrival& arrival, std::string*) {
        return std::string(bytes, arrival.size);
    }
};

/// The promise of a send or send_to; as for receives.
struct DatagramSend final
    : reactor::detail::Pooled<DatagramSend, reactor::detail::OperationState<std::size_t>>,
      Listed<DatagramSend> {
    using Pooled::Pooled;
    void abandon() noexcept override;
    void explain(reactor::detail::WhyPending& why) const override {
        why.what = "DatagramSocket::send";
    }

    DatagramState* owner = nullptr;
    TimerHandle limit;
    std::string bytes;  // while it waits
    Endpoint to;        // empty: the peer
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
