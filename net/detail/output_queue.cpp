// SPDX-License-Identifier: BSL-1.0
#include <net/detail/output_queue.hpp>

#include <algorithm>
#include <utility>

#include <sys/uio.h>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::StateOwner;

namespace {

// Pieces are put together up to this size: one that is larger costs the system less than its copy
// costs us.
constexpr std::size_t joined_size = 64 * 1024;
// A string that is moved in is copied behind another one if it is smaller than this.
constexpr std::size_t small_size = 4 * 1024;

}  // namespace

OutputQueue::~OutputQueue() {
    while (FileOperation* const file = any_file()) take(*file);
}

OutputQueue::Chunk* OutputQueue::joinable(std::size_t size) noexcept {
    if (empty() || chunks_.back().file) return nullptr;
    Chunk& last = chunks_.back();
    const std::size_t joined = last.bytes.size() + size;
    return joined <= std::max(joined_size, last.bytes.capacity()) ? &last : nullptr;
}

OutputQueue::Chunk& OutputQueue::add() {
    // What is done goes when it is at least half of all: each chunk is moved once, on average.
    if (chunks_.size() == chunks_.capacity() && first_ >= chunks_.size() - first_) {
        chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }
    chunks_.emplace_back();
    return chunks_.back();
}

void OutputQueue::append(ByteView bytes) {
    if (Chunk* const last = joinable(bytes.size())) {
        last->bytes.append(bytes.data(), bytes.size());
    } else {
        std::string copy(bytes.data(), bytes.size());
        add().bytes.swap(copy);
    }
    bytes_ += bytes.size();
}

void OutputQueue::append(std::string&& bytes, std::size_t sent) {
    const std::size_t left = bytes.size() - sent;
    // A large buffer that holds little would be kept whole, and counted as little.
    if (left < small_size || left < bytes.capacity() / 2) {
        append(ByteView(bytes).from(sent));
        return;
    }
    Chunk& chunk = add();
    chunk.bytes = std::move(bytes);
    chunk.sent = sent;
    bytes_ += left;
}

void OutputQueue::append(FileOperation& file) {
    add().file = &file;
    file.keep();
}

std::size_t OutputQueue::gather(::iovec* pieces, std::size_t most) const noexcept {
    std::size_t count = 0;
    for (std::size_t i = first_; i < chunks_.size() && count < most; ++i, ++count) {
        const Chunk& chunk = chunks_[i];
        if (chunk.file) break;
        pieces[count].iov_base = const_cast<char*>(chunk.bytes.data()) + chunk.sent;
        pieces[count].iov_len = chunk.bytes.size() - chunk.sent;
    }
    return count;
}

void OutputQueue::consume(std::size_t count) noexcept {
    bytes_ -= count;
    while (count != 0) {
        Chunk& chunk = chunks_[first_];
        const std::size_t left = chunk.bytes.size() - chunk.sent;
        if (count < left) {
            chunk.sent += count;
            return;
        }
        count -= left;
        pop();
    }
}

void OutputQueue::pop() noexcept {
    std::string().swap(chunks_[first_].bytes);
    if (++first_ == chunks_.size()) {
        chunks_.clear();
        first_ = 0;
    }
}

StateOwner<FileOperation> OutputQueue::take(FileOperation& file) noexcept {
    const auto at = std::find_if(chunks_.begin() + static_cast<std::ptrdiff_t>(first_),
                                 chunks_.end(), [&](const Chunk& c) { return c.file == &file; });
    chunks_.erase(at);
    if (empty()) {
        chunks_.clear();
        first_ = 0;
    }
    file.owner = nullptr;
    return StateOwner<FileOperation>(&file);
}

FileOperation* OutputQueue::any_file() const noexcept {
    for (std::size_t i = first_; i < chunks_.size(); ++i) {
        if (chunks_[i].file) return chunks_[i].file;
    }
    return nullptr;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
