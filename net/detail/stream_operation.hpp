// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_STREAM_OPERATION_HPP
#define REACTOR_NET_DETAIL_STREAM_OPERATION_HPP

#include <net/detail/pending_operations.hpp>
#include <net/detail/stream_request.hpp>
#include <reactor/detail/value_state.hpp>
#include <reactor/handle.hpp>

#include <string>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

class StreamState;

/// The promise of something that a stream waits for. While it is pending the stream owns a
/// reference, and `owner` is set; cancelled, it takes itself out of the stream before the caller
/// sees it.
template <class T>
struct StreamOperation : reactor::detail::OperationState<T> {
    StreamOperation(reactor::detail::LoopCore& loop_core, const Here& here,
                    StreamState* stream) noexcept
        : reactor::detail::OperationState<T>(loop_core, here), owner(stream) {}

    StreamState* owner;
    TimerHandle limit;
};

struct StreamRead final : reactor::detail::Pooled<StreamRead, StreamOperation<std::string>> {
    StreamRead(reactor::detail::LoopCore& loop_core, const Here& here, StreamState* stream,
               StreamRequest&& wanted) noexcept
        : Pooled(loop_core, here, stream), request(std::move(wanted)) {}
    void abandon() noexcept override;

    StreamRequest request;
};

/// A drain() or close() that waits.
struct StreamWait final : reactor::detail::Pooled<StreamWait, StreamOperation<void>>,
                          Listed<StreamWait> {
    using Pooled::Pooled;
    void abandon() noexcept override;

    PendingOperations<StreamWait>* among = nullptr;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
