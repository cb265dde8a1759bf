// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_OPEN_ANEW_HPP
#define REACTOR_NET_DETAIL_OPEN_ANEW_HPP

#include <sys/stat.h>

namespace reactor {
namespace net {
namespace detail {

/// Another open file of the same pipe, FIFO or terminal, non-blocking and close-on-exec: O_NONBLOCK
/// belongs to the open file, not to the descriptor, and others may have the one that is there.
/// `flags` and `file` are what F_GETFL and fstat() say of it. -1 where that is not possible:
/// another kind of file, no /proc, another user's pipe, one whose other end is gone.
int open_anew(int descriptor, int flags, const struct ::stat& file) noexcept;

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
