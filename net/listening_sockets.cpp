// SPDX-License-Identifier: BSL-1.0
#include <net/listening_sockets.hpp>

#include <reactor/error.hpp>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace reactor {
namespace net {

namespace {

constexpr int first_inherited = 3;  // SD_LISTEN_FDS_START
const char* const variables[] = {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"};

[[noreturn]] void fail(const std::string& what, int code = EINVAL) {
    throw std::system_error(code, std::system_category(), "inherited sockets: " + what);
}

std::string quoted(const char* variable, const std::string& value) {
    return std::string(variable) + " is \"" + value + '"';
}

/// Its value as a number from 0 to `most`.
int number_in(const char* variable, const char* value, int most) {
    const std::string text = value;
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
        fail(quoted(variable, text) + ", which is no number");
    }
    errno = 0;
    const unsigned long long number = std::strtoull(value, nullptr, 10);
    if (errno != 0 || number > static_cast<unsigned long long>(most)) {
        fail(quoted(variable, text) + ", which is more than there can be");
    }
    return static_cast<int>(number);
}

/// Of `count` descriptors; none if nobody names them: the count may be a monstrous one still.
std::vector<std::string> names_of(int count) {
    const char* const value = std::getenv("LISTEN_FDNAMES");
    std::vector<std::string> names;
    if (!value) return names;
    names.emplace_back();
    for (const char* at = value; *at; ++at) {
        if (*at == ':') {
            names.emplace_back();
        } else {
            names.back() += *at;
        }
    }
    if (names.size() != static_cast<std::size_t>(count)) {
        fail(quoted("LISTEN_FDNAMES", value) + ", which is not one name for each of " +
             std::to_string(count) + " descriptors");
    }
    return names;
}

/// 0 if it is a stream socket that listens, else what is wrong: an errno.
int check(int descriptor) noexcept {
    const int options[] = {SO_TYPE, SO_ACCEPTCONN, SO_DOMAIN};
    int values[3] = {0, 0, 0};
    for (int i = 0; i < 3; ++i) {
        ::socklen_t size = sizeof values[i];
        if (::getsockopt(descriptor, SOL_SOCKET, options[i], &values[i], &size) != 0) return errno;
    }
    if (values[0] != SOCK_STREAM || !values[1]) return EINVAL;
    const bool known = values[2] == AF_INET || values[2] == AF_INET6 || values[2] == AF_UNIX;
    return known ? 0 : EAFNOSUPPORT;
}

bool is_close_on_exec(int descriptor) noexcept {
    return (::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0;
}

Endpoint local_endpoint(int descriptor) {
    ::sockaddr_storage address;
    ::socklen_t size = sizeof address;
    if (::getsockname(descriptor, static_cast<::sockaddr*>(static_cast<void*>(&address)), &size) !=
        0) {
        throw std::system_error(errno, std::system_category(), "getsockname");
    }
    return Endpoint::from_sockaddr(&address, size);
}

}  // namespace

ListeningSockets::ListeningSockets(ListeningSockets&& other) noexcept
    : sockets_(std::move(other.sockets_)) {
    other.sockets_.clear();
}

ListeningSockets& ListeningSockets::operator=(ListeningSockets&& other) noexcept {
    ListeningSockets taken(std::move(other));
    sockets_.swap(taken.sockets_);
    return *this;
}

ListeningSockets::~ListeningSockets() {
    for (const Socket& socket : sockets_) ::close(socket.descriptor);
}

void ListeningSockets::add(int descriptor, const std::string& name) {
    const int wrong = check(descriptor);
    if (wrong == EINVAL || wrong == ENOTSOCK) {
        throw std::invalid_argument("ListeningSockets::add: descriptor " +
                                    std::to_string(descriptor) +
                                    " is no stream socket that listens");
    }
    const std::string step = "ListeningSockets::add: descriptor " + std::to_string(descriptor);
    for (const Socket& socket : sockets_) {
        // It would be closed twice, the second time as somebody else's.
        if (socket.descriptor == descriptor) throw StateError(step + " is in here already");
    }
    if (wrong != 0) throw std::system_error(wrong, std::system_category(), step);
    sockets_.push_back(Socket{descriptor, name, local_endpoint(descriptor)});
    if (::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) {
        const int code = errno;
        sockets_.pop_back();
        throw std::system_error(code, std::system_category(), step);
    }
}

ListeningSockets ListeningSockets::take(const std::string& name) {
    ListeningSockets rest, taken;
    rest.sockets_.reserve(sockets_.size());
    taken.sockets_.reserve(sockets_.size());
    for (Socket& socket : sockets_) {
        (socket.name == name ? taken : rest).sockets_.push_back(std::move(socket));
    }
    sockets_.clear();
    sockets_.swap(rest.sockets_);
    return taken;
}

int ListeningSockets::release(std::size_t index) {
    const int descriptor = sockets_.at(index).descriptor;
    sockets_.erase(sockets_.begin() + static_cast<std::ptrdiff_t>(index));
    return descriptor;
}

ListeningSockets inherited_sockets(ListenEnvironment environment) {
    ListeningSockets sockets;
    const char* const process = std::getenv("LISTEN_PID");
    const char* const counted = std::getenv("LISTEN_FDS");
    if (!process || !counted) return sockets;
    if (number_in("LISTEN_PID", process, INT_MAX) != static_cast<int>(::getpid())) return sockets;
    const int count = number_in("LISTEN_FDS", counted, INT_MAX - first_inherited);
    if (count == 0) return sockets;

    // All is looked at before any is taken.
    const std::vector<std::string> names = names_of(count);
    const auto name = [&](int index) {
        return names.empty() ? std::string("unknown") : names[static_cast<std::size_t>(index)];
    };
    for (int i = 0; i < count; ++i) {
        const int descriptor = first_inherited + i;
        const std::string which =
            "descriptor " + std::to_string(descriptor) + " (\"" + name(i) + "\")";
        const int wrong = check(descriptor);
        if (wrong == EINVAL || wrong == ENOTSOCK) {
            fail(which + " is no stream socket that listens", wrong);
        }
        if (wrong != 0) fail(which, wrong);
        // What came through exec() was not close-on-exec: somebody here has made it so.
        if (is_close_on_exec(descriptor)) {
            throw StateError("inherited sockets: " + which + " has been taken already");
        }
    }
    try {
        for (int i = 0; i < count; ++i) {
            sockets.add(first_inherited + i, name(i));
        }
    } catch (...) {
        while (!sockets.empty()) sockets.release(0);
        throw;
    }
    if (environment == ListenEnvironment::remove) {
        for (const char* const variable : variables) ::unsetenv(variable);
    }
    return sockets;
}

}  // namespace net
}  // namespace reactor
