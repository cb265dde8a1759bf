// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_PIPE_CALLS_HPP
#define REACTOR_NET_DETAIL_PIPE_CALLS_HPP

#include <reactor/detail/write_signals_blocked.hpp>

#include <cerrno>
#include <cstddef>

#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

namespace reactor {
namespace net {
namespace detail {

// The calls of SocketCalls for the ends of pipes, most of which are no sockets and know neither
// recv() nor MSG_NOSIGNAL: repeated where a signal interrupts them, a negative number and errno for
// an error, no SIGPIPE.

inline ::ssize_t read_pipe(int descriptor, char* room, std::size_t size) noexcept {
    ::ssize_t got;
    do {
        got = ::read(descriptor, room, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

inline ::ssize_t write_pipe(int descriptor, const ::iovec* pieces, std::size_t count) noexcept {
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) size += pieces[i].iov_len;
    reactor::detail::WriteSignalsBlocked blocked;
    ::ssize_t took;
    do {
        took = ::writev(descriptor, pieces, static_cast<int>(count));
    } while (took < 0 && errno == EINTR);
    if (took < 0) {
        blocked.failed(errno);
    } else if (static_cast<std::size_t>(took) < size) {
        blocked.fell_short();  // the last reader may have gone in the middle: only the signal tells
    }
    return took;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
