// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_CHILD_PROCESS_HPP
#define REACTOR_TEST_CHILD_PROCESS_HPP

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/types.h>

namespace support {

/// What to run, without a shell in between.
struct Command {
    std::vector<std::string> argv;         ///< argv[0] is looked up in PATH
    std::vector<std::string> environment;  ///< "NAME=value", in addition to our own
    std::string directory;                 ///< empty: ours
    std::string input;                     ///< its standard input
    std::vector<std::pair<int, ::rlimit>> limits;
    std::vector<int> ignored_signals;
    std::chrono::seconds time_limit{100};

    Command(std::vector<std::string> words) : argv(std::move(words)) {}
};

/// How a program ended and what it wrote.
struct Exit {
    int status = -1;  ///< its exit status, -1 if a signal ended it
    int signal = 0;   ///< the signal that ended it
    bool timed_out = false;
    std::string out;
    std::string err;

    std::vector<std::string> lines() const;  ///< of `out`
    std::string text() const;                ///< all of it, for a failed test's message
};

/// A running program. The destructor kills it. Should we die first, so does it.
class ChildProcess {
public:
    /// Throws std::system_error if it cannot be started, also for what fails in the child.
    explicit ChildProcess(const Command& command);
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    ::pid_t pid() const noexcept { return pid_; }
    void send_signal(int signal) const;
    /// Reads until its output holds `text`; false if it ended, or the time was up, before.
    bool wait_for_output(const std::string& text);
    /// Takes what it writes next; false if that is nothing, since it has ended or the time is up.
    bool pump();
    /// What it has written to its standard output so far.
    const std::string& output() const noexcept { return exit_.out; }
    /// Reads its standard output no more: a broken pipe for it from now on.
    void close_output() noexcept;
    /// The same of its standard error.
    void close_errors() noexcept;
    /// Whether it has ended by itself.
    bool has_ended();
    /// Takes what it writes until it ends; kills it when the time is up.
    Exit wait();

private:
    using Time = std::chrono::steady_clock::time_point;

    void reap(int options);
    void close_all() noexcept;

    ::pid_t pid_ = -1;
    Time deadline_;
    std::string input_;
    std::size_t written_ = 0;
    int in_ = -1;
    int out_ = -1;
    int err_ = -1;
    Exit exit_;
};

/// Runs it to its end.
Exit run(const Command& command);

}  // namespace support

#endif
