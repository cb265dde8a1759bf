// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_PINNED_HPP
#define REACTOR_TEST_BENCH_DRIVER_PINNED_HPP

#include <sched.h>

namespace bench {

/// While it lives, this process and what it starts have only one CPU, the last of those they have.
/// With a server and its peer on two, the wake-up of an idle CPU would be all one sees.
class Pinned {
public:
    Pinned();  // throws std::system_error
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    ~Pinned();

private:
    cpu_set_t before_;
};

}  // namespace bench

#endif
