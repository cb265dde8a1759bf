// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SUPERVISOR_FORWARDER_HPP
#define REACTOR_SUPERVISOR_FORWARDER_HPP

#include "output.hpp"

#include <apps/lines/lines.hpp>

#include <net/exit_status.hpp>
#include <net/stream.hpp>
#include <reactor/clock.hpp>
#include <reactor/error.hpp>
#include <reactor/promise.hpp>
#include <reactor/scope.hpp>
#include <reactor/task.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <system_error>

namespace supervisor {

/// How the output of the programs is printed; a value.
struct OutputOptions {
    std::size_t longest_line = 8192;                     // in bytes; the rest is cut off
    reactor::Duration linger = std::chrono::seconds(5);  // after a child's end, if others hold it
};

/// Prints what comes through one pipe of a child, line by line, until its end:
///
///     read ──> print ──(there is room)──> read …      end of the pipe ──> finish
///
/// It reads on when it has printed, so a child that writes faster than our output is read is held
/// up; and after each piece it is the others' turn. What is kept is bounded: a piece, a line, and
/// what the stream keeps.
///
/// A process that has left the child's group may hold the pipe open, and write into it, after the
/// child's end. What the child has written is in the pipe by then: that much is read, and for no
/// longer than `linger`.
class Forwarder final : public reactor::Task<void> {
public:
    /// `prefix` is put before each line; `child_end` is the child's wait().
    Forwarder(reactor::net::Stream pipe,
              const reactor::Promise<reactor::net::ExitStatus>& child_end,
              std::shared_ptr<Output> output, std::string prefix, const OutputOptions& options);

private:
    reactor::Next start() override;
    reactor::Next received(std::string bytes);
    reactor::Next print();
    reactor::Next aborted(const reactor::CancelledError&);
    reactor::Next silent(const reactor::TimeoutError&);
    reactor::Next lost(const std::system_error& error);
    reactor::Next give_up(const std::string& why);
    reactor::Next finally() override;

    void child_ended(const reactor::Promise<reactor::net::ExitStatus>& end);
    void linger_is_over();
    void take(reactor::net::ByteView bytes, bool ended);

    reactor::net::Stream pipe_;
    std::shared_ptr<Output> output_;
    std::string prefix_;
    const OutputOptions options_;
    lines::Lines lines_;
    std::string bytes_;  // a piece that has come, until there is room for it
    std::string text_;   // what becomes of it
    bool is_reading_ = false;
    bool child_has_ended_ = false;
    std::size_t left_;  // may still be read then
    bool linger_is_over_ = false;
    reactor::Scope scope_;
};

}  // namespace supervisor

#endif
