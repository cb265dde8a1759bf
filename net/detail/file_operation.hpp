// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_FILE_OPERATION_HPP
#define REACTOR_NET_DETAIL_FILE_OPERATION_HPP

#include <reactor/detail/value_state.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

namespace reactor {
namespace net {
namespace detail {

class TransportState;

struct FileOperation;

/// What waits in a transport's queue: bytes of which the first `sent` are out, or a file.
struct OutputChunk {
    std::string bytes;
    std::shared_ptr<const std::string> shared;  // instead of `bytes`, unless null
    std::size_t sent = 0;
    FileOperation* file = nullptr;

    const std::string& all() const noexcept { return shared ? *shared : bytes; }
};
/// A list, so that a file can leave it from anywhere.
using OutputChunks = std::list<OutputChunk>;

/// The promise of send_file(). While it waits in a transport's queue the queue owns a reference;
/// cancelled, it takes itself out.
struct FileOperation final
    : reactor::detail::Pooled<FileOperation, reactor::detail::OperationState<std::uint64_t>> {
    using Pooled::Pooled;
    void abandon() noexcept override;

    TransportState* owner = nullptr;
    OutputChunks::iterator place;
    int file = -1;
    std::uint64_t offset = 0;
    std::uint64_t left = 0;
    std::uint64_t sent = 0;
    bool by_copy = false;  // the system cannot send this kind of file by itself
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
