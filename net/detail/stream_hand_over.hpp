// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_STREAM_HAND_OVER_HPP
#define REACTOR_NET_DETAIL_STREAM_HAND_OVER_HPP

#include <net/stream.hpp>
#include <net/transport.hpp>

#include <utility>

namespace reactor {
namespace net {
namespace detail {

/// A continuation: hands the stream over once its transport is there; gives it up if that does not
/// come about.
class StreamHandOver {
public:
    explicit StreamHandOver(Stream stream) noexcept : stream_(std::move(stream)) {}
    StreamHandOver(StreamHandOver&&) noexcept = default;
    StreamHandOver& operator=(StreamHandOver&&) = delete;
    ~StreamHandOver() { stream_.abort(); }

    Stream operator()(const Transport&) { return std::move(stream_); }

private:
    Stream stream_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
