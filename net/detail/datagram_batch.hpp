// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_DATAGRAM_BATCH_HPP
#define REACTOR_NET_DETAIL_DATAGRAM_BATCH_HPP

#include <net/byte_view.hpp>
#include <net/detail/datagram_descriptor.hpp>
#include <net/detail/read_buffer.hpp>

#include <algorithm>
#include <cstddef>

#include <sys/socket.h>
#include <sys/uio.h>

namespace reactor {
namespace net {
namespace detail {

/// Room for the datagrams that come in one call of the system, each beside the other; the datagram
/// transports of a loop read into it, one after the other. Pages that nothing has been written to
/// cost nothing. The headers are filled once, for as long as the size stays the same.
class DatagramBatch {
public:
    /// One endpoint gets no more of an iteration: the others are to have their turn.
    static constexpr unsigned most = 16;
    static constexpr std::size_t room = 1024 * 1024;

    DatagramBatch() noexcept : messages_() {
        for (unsigned i = 0; i < most; ++i) {
            ::msghdr& message = messages_[i].msg_hdr;
            message.msg_iov = &pieces_[i];
            message.msg_iovlen = 1;
            message.msg_name = &names_[i];
            message.msg_namelen = sizeof names_[i];
        }
    }
    DatagramBatch(const DatagramBatch&) = delete;
    DatagramBatch& operator=(const DatagramBatch&) = delete;

    /// Makes room for datagrams of at most that size, which is no more than `room`.
    void open(std::size_t longest) noexcept {
        char* place = bytes_.open();
        if (longest == longest_) return;
        longest_ = longest;
        count_ = static_cast<unsigned>(std::min<std::size_t>(most, room / longest));
        for (unsigned i = 0; i < count_; ++i, place += longest) pieces_[i] = {place, longest};
    }
    ::mmsghdr* messages() noexcept { return messages_; }
    unsigned count() const noexcept { return count_; }

    /// What came with one of them.
    Arrival arrival(unsigned index) const noexcept {
        const ::mmsghdr& message = messages_[index];
        const std::size_t full_size = message.msg_len;
        return {DatagramDescriptor::sender(names_[index], message.msg_hdr.msg_namelen),
                std::min(full_size, longest_), full_size};
    }
    /// Its bytes; those of the others are not to be looked at meanwhile.
    ByteView look(unsigned index, const Arrival& arrival) noexcept {
        return ByteView(bytes_.keep(index * longest_, arrival.size), arrival.size);
    }
    /// Nothing is looked at any more; so many had come.
    void close(unsigned used) noexcept {
        bytes_.keep(0);
        // All that the system changes in a header, of what it reads there.
        for (unsigned i = 0; i < used; ++i) messages_[i].msg_hdr.msg_namelen = sizeof names_[i];
    }

private:
    ::mmsghdr messages_[most];
    ::iovec pieces_[most];
    ::sockaddr_storage names_[most];
    std::size_t longest_ = 0;
    unsigned count_ = 0;
    SharedBuffer<room> bytes_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
