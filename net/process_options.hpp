// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_PROCESS_OPTIONS_HPP
#define REACTOR_NET_PROCESS_OPTIONS_HPP

#include <map>
#include <string>
#include <utility>

namespace reactor {
namespace net {

/// Where one of a child's three standard descriptors leads. A value.
class ChildIo {
public:
    enum class Kind { inherit, pipe, null, descriptor, output };

    /// To where ours leads. To /dev/null if ours is closed, since the first file that the child
    /// opens would take the number, or close-on-exec: that is what a program which was started
    /// without it has opened next, such as the loop's own. One that connect_read_pipe() and its kin
    /// have taken over is inherited all the same: pipes and terminals by an open file of the
    /// child's own, which blocks, other things as they are.
    static ChildIo inherit() noexcept { return ChildIo(Kind::inherit); }
    /// To a stream of the Process.
    static ChildIo pipe() noexcept { return ChildIo(Kind::pipe); }
    /// To /dev/null.
    static ChildIo null() noexcept { return ChildIo(Kind::null); }
    /// To where this open descriptor leads, which stays the caller's and may be closed once the
    /// promise of start_process() is done.
    static ChildIo descriptor(int number) noexcept { return ChildIo(Kind::descriptor, number); }
    /// For the standard error: to where the child's standard output leads. asyncio: STDOUT.
    static ChildIo same_as_output() noexcept { return ChildIo(Kind::output); }

    Kind kind() const noexcept { return kind_; }
    int number() const noexcept { return number_; }

private:
    explicit ChildIo(Kind kind, int number = -1) noexcept : kind_(kind), number_(number) {}

    Kind kind_;
    int number_;
};

/// What start_process() may be told; a value: any thread may hold one.
class ProcessOptions {
public:
    /// The three standard descriptors. Default: inherited.
    ProcessOptions& input(ChildIo io) noexcept {
        input_ = io;
        return *this;
    }
    ProcessOptions& output(ChildIo io) noexcept {
        output_ = io;
        return *this;
    }
    ProcessOptions& errors(ChildIo io) noexcept {
        errors_ = io;
        return *this;
    }

    /// Sets a variable of the child's environment, in addition to our own ones.
    ProcessOptions& variable(const std::string& name, const std::string& value) {
        variables_[name] = value;
        return *this;
    }
    /// The child gets the variables that are set here, and none of ours. asyncio: env.
    ProcessOptions& clean_environment(bool on = true) noexcept {
        clean_environment_ = on;
        return *this;
    }

    /// Where the child begins; a relative program is looked for from there. Default: empty, which
    /// stands for our own. asyncio: cwd.
    ProcessOptions& directory(std::string path) {
        directory_ = std::move(path);
        return *this;
    }

    /// The child leads a session and a process group of its own, without a terminal: Ctrl-C at ours
    /// does not reach it. asyncio: start_new_session.
    ProcessOptions& new_session(bool on = true) noexcept {
        new_session_ = on;
        return *this;
    }

    /// new_session(), and the whole process group of the child ends with it: SIGKILL, also the one
    /// at the end of a grace or with a dropped Process, goes to the group, and what is left of it
    /// when the child ends is killed, unless that was detached. Other signals go to the child
    /// alone. Who has left the group, for a session of its own as a rule, goes on.
    ProcessOptions& kill_group(bool on = true) noexcept {
        kill_group_ = on;
        return *this;
    }

    ChildIo input() const noexcept { return input_; }
    ChildIo output() const noexcept { return output_; }
    ChildIo errors() const noexcept { return errors_; }
    const std::map<std::string, std::string>& variables() const noexcept { return variables_; }
    bool clean_environment() const noexcept { return clean_environment_; }
    const std::string& directory() const noexcept { return directory_; }
    bool new_session() const noexcept { return new_session_ || kill_group_; }
    bool kill_group() const noexcept { return kill_group_; }

private:
    ChildIo input_ = ChildIo::inherit();
    ChildIo output_ = ChildIo::inherit();
    ChildIo errors_ = ChildIo::inherit();
    std::map<std::string, std::string> variables_;
    std::string directory_;
    bool clean_environment_ = false;
    bool new_session_ = false;
    bool kill_group_ = false;
};

}  // namespace net
}  // namespace reactor

#endif
