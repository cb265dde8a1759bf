// SPDX-License-Identifier: BSL-1.0
#include <net/detail/output_queue.hpp>

#include <algorithm>
#include <iterator>
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
// A share of a string weighs as much as its chunk in the list.
constexpr std::size_t least_shared = sizeof(OutputChunk) + 2 * sizeof(void*);

}  // namespace

OutputQueue::~OutputQueue() {
    while (FileOperation* const file = drop_bytes()) take(*file);
}

OutputChunk* OutputQueue::joinable(std::size_t size) noexcept {
    if (empty() || chunks_.back().file || chunks_.back().shared) return nullptr;
    OutputChunk& last = chunks_.back();
    const std::size_t joined = last.bytes.size() + size;
    return joined <= std::max(joined_size, last.bytes.capacity()) ? &last : nullptr;
}

void OutputQueue::append(ByteView bytes) {
    if (OutputChunk* const last = joinable(bytes.size())) {
        last->bytes.append(bytes.data(), bytes.size());
    } else {
        std::string copy(bytes.data(), bytes.size());
        chunks_.emplace_back();
        chunks_.back().bytes.swap(copy);
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
    chunks_.emplace_back();
    chunks_.back().bytes = std::move(bytes);
    chunks_.back().sent = sent;
    bytes_ += left;
}

void OutputQueue::append(const std::shared_ptr<const std::string>& bytes, std::size_t sent) {
    const std::size_t left = bytes->size() - sent;
    if (left < least_shared) {
        append(ByteView(*bytes).from(sent));
        return;
    }
    chunks_.emplace_back();
    chunks_.back().shared = bytes;
    chunks_.back().sent = sent;
    bytes_ += left;
}

void OutputQueue::append(FileOperation& file) {
    chunks_.emplace_back();
    chunks_.back().file = &file;
    file.place = std::prev(chunks_.end());
    file.keep();
}

std::size_t OutputQueue::gather(::iovec* pieces, std::size_t most) const noexcept {
    std::size_t count = 0;
    for (const OutputChunk& chunk : chunks_) {
        if (chunk.file || count == most) break;
        pieces[count].iov_base = const_cast<char*>(chunk.all().data()) + chunk.sent;
        pieces[count].iov_len = chunk.all().size() - chunk.sent;
        ++count;
    }
    return count;
}

void OutputQueue::consume(std::size_t count) noexcept {
    bytes_ -= count;
    while (count != 0) {
        OutputChunk& chunk = chunks_.front();
        const std::size_t left = chunk.all().size() - chunk.sent;
        if (count < left) {
            chunk.sent += count;
            return;
        }
        count -= left;
        chunks_.pop_front();
    }
}

StateOwner<FileOperation> OutputQueue::take(FileOperation& file) noexcept {
    chunks_.erase(file.place);
    file.owner = nullptr;
    return StateOwner<FileOperation>(&file);
}

FileOperation* OutputQueue::drop_bytes() noexcept {
    while (!empty() && !chunks_.front().file) {
        bytes_ -= chunks_.front().all().size() - chunks_.front().sent;
        chunks_.pop_front();
    }
    return file();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
