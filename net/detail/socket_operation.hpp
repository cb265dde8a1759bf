// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_SOCKET_OPERATION_HPP
#define REACTOR_NET_DETAIL_SOCKET_OPERATION_HPP

#include <net/detail/pending_operations.hpp>
#include <reactor/detail/value_state.hpp>
#include <reactor/handle.hpp>

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
    void explain(reactor::detail::WhyPending& why) const override { why.what = "Socket::connect"; }

    /// "connect to", as messages begin.
    std::string step(const char* note = "") const {
        return "connect" + (from.empty() ? from : " from " + from) + note + " to";
    }

    std::string from;   // the local address, if one was asked for
    Duration pause{0};  // before the next try at a full Unix listener; zero: none was needed
};

struct ReadOperation final : reactor::detail::Pooled<ReadOperation, SocketOperation<std::string>> {
    using Pooled::Pooled;
    void abandon() noexcept override;
    void explain(reactor::detail::WhyPending& why) const override { why.what = "Socket::read"; }

    std::size_t most = 0;  // of one read; of everything if `to_end`
    bool to_end = false;
    std::string bytes;  // of `to_end`: what has come so far
};

struct SendOperation final : reactor::detail::Pooled<SendOperation, SocketOperation<void>>,
                             Listed<SendOperation> {
    using Pooled::Pooled;
    void abandon() noexcept override;
    void explain(reactor::detail::WhyPending& why) const override { why.what = "Socket::send"; }

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
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
