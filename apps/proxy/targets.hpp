// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_PROXY_TARGETS_HPP
#define REACTOR_PROXY_TARGETS_HPP

#include <apps/command_line/address.hpp>

#include <reactor/clock.hpp>

#include <cstddef>
#include <vector>

namespace proxy {

/// Where connections may be forwarded to, and in which order a new one tries that. Owned by the
/// forwarder; one thread.
class Targets {
public:
    /// In turn: each connection begins with the target behind the one its predecessor began with.
    /// Otherwise each begins with the first.
    Targets(std::vector<command_line::Address> addresses, bool in_turn);

    /// Every target once; those that could not be reached a moment ago come last.
    std::vector<std::size_t> order(reactor::TimePoint now);
    const command_line::Address& operator[](std::size_t index) const {
        return targets_[index].address;
    }

    void reached(std::size_t index) { targets_[index].rests_until = reactor::TimePoint(); }
    void failed(std::size_t index, reactor::TimePoint now);

private:
    struct Target {
        command_line::Address address;
        reactor::TimePoint rests_until;
    };

    std::vector<Target> targets_;
    bool in_turn_;
    std::size_t next_ = 0;
};

}  // namespace proxy

#endif
