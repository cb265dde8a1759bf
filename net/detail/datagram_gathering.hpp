// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_DATAGRAM_GATHERING_HPP
#define REACTOR_NET_DETAIL_DATAGRAM_GATHERING_HPP

#include <net/byte_view.hpp>
#include <net/endpoint.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>

#include <sys/socket.h>
#include <sys/uio.h>

namespace reactor {
namespace net {
namespace detail {

class DatagramTransportState;

/// What is sent while the datagrams of one batch are handed over, to go out in one call of the
/// system. The datagram transports of a loop share it; it holds those of one of them at a time, so
/// that they go out in the order of the sends whichever of the transports they were.
///
///     closed ──open()──> open, empty ──add()──> open, of one transport ──clear()──> open, empty
///       <──close()── (empty)
class DatagramGathering {
public:
    static constexpr unsigned most = 64;
    /// Of all bytes, which are copied: the caller's are gone when send() returns.
    static constexpr std::size_t room = 64 * 1024;
    /// A longer one goes by a call of its own: that costs little beside the copying of the bytes.
    static constexpr std::size_t longest = 4096;

    DatagramGathering() : bytes_(new char[room]), messages_() {
        for (unsigned i = 0; i < most; ++i) {
            messages_[i].msg_hdr.msg_iov = &pieces_[i];
            messages_[i].msg_hdr.msg_iovlen = 1;
        }
    }
    DatagramGathering(const DatagramGathering&) = delete;
    DatagramGathering& operator=(const DatagramGathering&) = delete;

    void open() noexcept { open_ = true; }
    void close() noexcept { open_ = false; }
    bool is_open() const noexcept { return open_; }
    /// Whose they are; null if there are none.
    DatagramTransportState* owner() const noexcept { return owner_; }

    /// Whether there is room for one more of them.
    bool has_room(std::size_t size) const noexcept {
        return count_ != most && size <= room - used_;
    }
    /// With room. To the peer if `to` is empty.
    void add(DatagramTransportState& owner, ByteView bytes, const Endpoint& to) noexcept {
        owner_ = &owner;
        char* const place = bytes_.get() + used_;
        std::copy(bytes.data(), bytes.data() + bytes.size(), place);
        used_ += bytes.size();
        pieces_[count_] = {place, bytes.size()};
        to_[count_] = to;
        ::msghdr& message = messages_[count_].msg_hdr;
        message.msg_name = to.empty() ? nullptr : const_cast<void*>(to_[count_].data());
        message.msg_namelen = static_cast<::socklen_t>(to.size());
        ++count_;
    }
    void clear() noexcept {
        owner_ = nullptr;
        count_ = 0;
        used_ = 0;
    }

    unsigned count() const noexcept { return count_; }
    ::mmsghdr* messages(unsigned from) noexcept { return messages_ + from; }
    ByteView bytes(unsigned index) const noexcept {
        return ByteView(static_cast<const char*>(pieces_[index].iov_base), pieces_[index].iov_len);
    }
    const Endpoint& to(unsigned index) const noexcept { return to_[index]; }

private:
    DatagramTransportState* owner_ = nullptr;
    bool open_ = false;
    unsigned count_ = 0;
    std::size_t used_ = 0;
    const std::unique_ptr<char[]> bytes_;
    ::mmsghdr messages_[most];
    ::iovec pieces_[most];
    Endpoint to_[most];
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
