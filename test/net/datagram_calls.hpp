// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_DATAGRAM_CALLS_HPP
#define REACTOR_TEST_NET_DATAGRAM_CALLS_HPP

#include <cerrno>
#include <cstddef>
#include <deque>
#include <vector>

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The system calls of datagrams, counted and made to fail: included by one source of a program.
namespace datagram_calls {

/// Of one descriptor; all others get the system's answers.
struct Calls {
    int descriptor = -1;
    bool full = false;          // nothing can be sent: EAGAIN
    std::deque<int> plan;       // for the next datagrams: what sending them meets, 0 for nothing
    int single = 0;             // sends of one
    std::vector<int> many;      // sends of several: how many went out
    std::vector<int> received;  // how many came in each call, those that found none left out
};

inline Calls& calls() {
    static Calls all;
    return all;
}

/// Watches a descriptor while it lives.
struct Watched {
    explicit Watched(int descriptor) {
        calls() = Calls();
        calls().descriptor = descriptor;
    }
    ~Watched() { calls() = Calls(); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
};

/// What sending the next datagram meets; taken out of the plan if it is the first of its call.
inline int obstacle(bool first) {
    if (calls().full) return EAGAIN;
    if (calls().plan.empty()) return 0;
    const int code = calls().plan.front();
    if (first || code == 0) calls().plan.pop_front();
    return code;
}

}  // namespace datagram_calls

// These stand before the C library's.
extern "C" ::ssize_t sendto(int fd, const void* data, std::size_t size, int flags,
                            const ::sockaddr* to, ::socklen_t length) {
    using namespace datagram_calls;
    if (fd == calls().descriptor) {
        ++calls().single;
        if (const int code = obstacle(true)) {
            errno = code;
            return -1;
        }
    }
    return ::syscall(SYS_sendto, fd, data, size, flags, to, length);
}
extern "C" int sendmmsg(int fd, ::mmsghdr* messages, unsigned count, int flags) {
    using namespace datagram_calls;
    if (fd != calls().descriptor) {
        return static_cast<int>(::syscall(SYS_sendmmsg, fd, messages, count, flags));
    }
    unsigned sent = 0;
    for (; sent < count; ++sent) {
        const int code = obstacle(sent == 0);
        // As the system does it: what the first one meets is told, else only how many are out.
        if (code != 0) errno = code;
        if (code != 0 || ::syscall(SYS_sendmmsg, fd, messages + sent, 1, flags) != 1) break;
    }
    if (sent == 0) return -1;
    calls().many.push_back(static_cast<int>(sent));
    return static_cast<int>(sent);
}
extern "C" int recvmmsg(int fd, ::mmsghdr* messages, unsigned count, int flags, ::timespec* limit) {
    using namespace datagram_calls;
    const int got = static_cast<int>(::syscall(SYS_recvmmsg, fd, messages, count, flags, limit));
    if (fd == calls().descriptor && got > 0) calls().received.push_back(got);
    return got;
}

#endif
