// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SUPPORT_TAKEN_PORTS_HPP
#define REACTOR_TEST_SUPPORT_TAKEN_PORTS_HPP

#include <cerrno>
#include <system_error>

namespace support {

/// For a test that wants a port which is free for one address for another address, too: some other
/// process may have it there. Repeats `attempt`, which takes a new one each time.
template <class Attempt>
void despite_taken_ports(Attempt attempt) {
    for (int left = 20;; --left) {
        try {
            attempt();
            return;
        } catch (const std::system_error& error) {
            if (left == 0 || error.code().value() != EADDRINUSE) throw;
        }
    }
}

}  // namespace support

#endif
