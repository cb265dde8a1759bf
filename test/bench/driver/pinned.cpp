// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/pinned.hpp>

#include <cerrno>
#include <system_error>

namespace bench {

Pinned::Pinned() {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) {
        throw std::system_error(errno, std::system_category(), "sched_getaffinity");
    }
    int last = CPU_SETSIZE - 1;
    while (last > 0 && !CPU_ISSET(last, &before_)) --last;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) {
        throw std::system_error(errno, std::system_category(), "sched_setaffinity");
    }
}

Pinned::~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }

}  // namespace bench
