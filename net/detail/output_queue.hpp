// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_OUTPUT_QUEUE_HPP
#define REACTOR_NET_DETAIL_OUTPUT_QUEUE_HPP

#include <net/byte_view.hpp>
#include <net/detail/file_operation.hpp>

#include <cstddef>
#include <memory>
#include <string>

struct iovec;

namespace reactor {
namespace net {
namespace detail {

/// What a transport could not send yet, in order: pieces of bytes, and files among them. Owned by
/// its transport. Small pieces are put together, large strings are kept as they were moved in, or
/// shared with others.
class OutputQueue {
public:
    OutputQueue() = default;
    OutputQueue(const OutputQueue&) = delete;
    OutputQueue& operator=(const OutputQueue&) = delete;
    ~OutputQueue();

    void append(ByteView bytes);
    /// The first `sent` bytes are out already.
    void append(std::string&& bytes, std::size_t sent);
    /// The whole string stays while a part of it waits, and only that part is counted.
    void append(const std::shared_ptr<const std::string>& bytes, std::size_t sent);
    /// Takes a reference of its own.
    void append(FileOperation& file);

    bool empty() const noexcept { return chunks_.empty(); }
    /// Files are not counted.
    std::size_t bytes() const noexcept { return bytes_; }

    /// Null unless a file is next.
    FileOperation* file() const noexcept { return empty() ? nullptr : chunks_.front().file; }
    /// Describes the bytes up to the next file in at most `most` pieces; how many there are.
    std::size_t gather(::iovec* pieces, std::size_t most) const noexcept;
    /// So many of them are out.
    void consume(std::size_t count) noexcept;
    /// Takes a file out, wherever it is; the reference is the caller's.
    reactor::detail::StateOwner<FileOperation> take(FileOperation& file) noexcept;
    /// Throws the bytes before the next file away; null if there is none.
    FileOperation* drop_bytes() noexcept;

    template <class F>
    void for_each_file(F f) const {
        for (const OutputChunk& chunk : chunks_) {
            if (chunk.file) f(*chunk.file);
        }
    }

private:
    OutputChunk* joinable(std::size_t size) noexcept;

    OutputChunks chunks_;
    std::size_t bytes_ = 0;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
