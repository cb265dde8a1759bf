// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_UNIX_SOCKET_FILE_HPP
#define REACTOR_NET_DETAIL_UNIX_SOCKET_FILE_HPP

#include <string>

#include <sys/types.h>

namespace reactor {
namespace net {
namespace detail {

/// The file that a bound Unix socket has made: the socket does not remove it, so its owner must,
/// and must not remove one that another server has put there meanwhile.
class UnixSocketFile {
public:
    /// None.
    UnixSocketFile() noexcept = default;
    /// The file at the path, which a bind() of the caller has just made; its permissions become
    /// these, unless they are -1. Throws std::system_error, and has removed it then.
    UnixSocketFile(const std::string& path, int permissions);
    UnixSocketFile(UnixSocketFile&& other) noexcept;
    UnixSocketFile& operator=(UnixSocketFile&& other) noexcept;

    /// Removes it if it is there still, while its socket is open: then no other file can have its
    /// device and inode. Not in a forked child. Again: no effect.
    void remove() noexcept;

private:
    std::string path_;  // empty: none, or removed
    ::dev_t device_ = 0;
    ::ino_t inode_ = 0;
    long process_ = 0;  // whose file it is
};

/// Makes way for a bind() that has found something at the path: removes the file of a Unix socket
/// that is gone, and nothing else. False if the path is in use: by a server, listening or not yet,
/// or by a file that is no socket.
///
/// While it lives, no other of this class, in whatever process, does the same in that directory:
/// so nobody takes the file away that the owner binds next.
class StaleSocketRemoval {
public:
    explicit StaleSocketRemoval(const std::string& path) noexcept;
    StaleSocketRemoval(const StaleSocketRemoval&) = delete;
    StaleSocketRemoval& operator=(const StaleSocketRemoval&) = delete;
    ~StaleSocketRemoval();

    bool made_way() const noexcept { return made_way_; }

private:
    int directory_;  // with a lock on it, if there could be one
    bool made_way_ = false;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
