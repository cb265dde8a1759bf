// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SUPERVISOR_OUTPUT_HPP
#define REACTOR_SUPERVISOR_OUTPUT_HPP

#include <net/transport.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/handle.hpp>
#include <reactor/promise.hpp>

#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace supervisor {

/// A duplicate of our standard output, to be taken before anything else is opened: a program whose
/// standard output is closed would find another file under that number. Throws std::system_error.
int standard_output();

/// Where many write whole lines to, whose reader may be slow. A pipe, a terminal or a socket never
/// blocks us; a regular file is written at once.
///
///     open ──close(): what was written still goes out──> ended
///       └──the reader is gone, or too slow, or the disk full──> ended, with an error
///
/// Shared by those who write; used on the loop's thread. What is written after the end is dropped.
class Output {
public:
    /// Takes the descriptor over.
    static reactor::Promise<std::shared_ptr<Output>> open(reactor::EventLoop& loop, int descriptor);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    void write(std::string lines);

    /// Who waits for room before each write holds the others up no longer than for that one: they
    /// take turns. There is room after the end.
    bool has_room() const noexcept { return ended_.done() || !transport_.write_paused(); }
    reactor::Promise<void> room();

    /// From now on a reader that takes nothing for so long is the end.
    void hurry(reactor::Duration patience);
    void close();
    /// Done at the end, with its error.
    const reactor::Promise<void>& ended() const noexcept { return ended_; }

private:
    class Pipe;

    Output(reactor::EventLoop& loop, int descriptor);
    void write_file(const std::string& lines);
    void end(std::exception_ptr error);
    void check();
    void let_in();

    reactor::EventLoop& loop_;
    int file_ = -1;
    reactor::net::Transport transport_;
    std::vector<reactor::Promise<void>> waiting_;
    reactor::Handle check_;
    reactor::Promise<void> ended_;
};

}  // namespace supervisor

#endif
