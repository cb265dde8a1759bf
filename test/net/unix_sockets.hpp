// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_UNIX_SOCKETS_HPP
#define REACTOR_TEST_NET_UNIX_SOCKETS_HPP

#include <boost/test/unit_test.hpp>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

/// Unix sockets in plain C, which know nothing of the library.
namespace unix_sockets {

struct PlainSocket {
    explicit PlainSocket(int type = SOCK_STREAM)
        : fd(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
        BOOST_REQUIRE(fd >= 0);
    }
    ~PlainSocket() { ::close(fd); }
    PlainSocket(const PlainSocket&) = delete;
    PlainSocket& operator=(const PlainSocket&) = delete;

    /// 0, or errno. A name that begins with a zero byte is abstract, and has as many bytes.
    int bind(const std::string& name) { return call(&::bind, name); }
    int connect(const std::string& name) { return call(&::connect, name); }

    const int fd;

private:
    int call(int (*function)(int, const ::sockaddr*, ::socklen_t), const std::string& name) {
        ::sockaddr_un address = ::sockaddr_un();
        address.sun_family = AF_UNIX;
        BOOST_REQUIRE(name.size() <= sizeof address.sun_path);
        std::memcpy(address.sun_path, name.data(), name.size());
        const auto size = static_cast<::socklen_t>(offsetof(::sockaddr_un, sun_path) + name.size());
        return function(fd, reinterpret_cast<const ::sockaddr*>(&address), size) == 0 ? 0 : errno;
    }
};

/// A path in there of 108 bytes, as many as Linux takes: no zero byte fits behind it.
inline std::string longest_path(const std::string& directory) {
    const std::string start = directory + '/';
    return start + std::string(sizeof(::sockaddr_un::sun_path) - start.size(), 'x');
}

/// What connecting to it says: 0, or errno.
inline int connecting_to(const std::string& name) { return PlainSocket().connect(name); }

inline bool exists(const std::string& path) {
    struct ::stat found;
    return ::lstat(path.c_str(), &found) == 0;
}

/// The file that a server has left which was killed.
inline void leave_stale(const std::string& path) {
    PlainSocket killed;
    BOOST_REQUIRE(killed.bind(path) == 0);
}

}  // namespace unix_sockets

#endif
