// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CHAT_LOAD_HPP
#define REACTOR_CHAT_LOAD_HPP

#include "options.hpp"

#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <memory>

namespace chat {

/// A crowd in a room, some of which do not read:
///
///     start ──(all have joined, all lines have come to all who read, all others were dropped;
///              or something was wrong, late, a signal)──> ended
///
/// A speaker says its next line when one of its last has come to everybody: so nobody is behind who
/// reads. The result is the exit status.
class Load final : public reactor::Task<int> {
public:
    explicit Load(const Options& options);
    ~Load() override;

private:
    class Crowd;
    class Visitor;

    reactor::Next start() override;
    reactor::Next ended();

    std::shared_ptr<Crowd> crowd_;
};

}  // namespace chat

#endif
