// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_CHILD_LAUNCH_HPP
#define REACTOR_NET_DETAIL_CHILD_LAUNCH_HPP

#include <net/exit_status.hpp>
#include <net/process_options.hpp>

#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/types.h>
#include <unistd.h>

namespace reactor {
namespace net {
namespace detail {

/// A descriptor that is closed with its owner.
class OwnedDescriptor {
public:
    explicit OwnedDescriptor(int number = -1) noexcept : number_(number) {}
    OwnedDescriptor(OwnedDescriptor&& other) noexcept : number_(other.release()) {}
    OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~OwnedDescriptor() { close(); }

    int get() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }
    int release() noexcept {
        const int given = number_;
        number_ = -1;
        return given;
    }
    void close() noexcept {
        if (number_ >= 0) ::close(number_);
        number_ = -1;
    }

private:
    int number_;
};

/// What a child is started from: everything that needs memory is made here, since between fork()
/// and exec only system calls are allowed.
class ChildCommand {
public:
    /// Throws std::invalid_argument.
    ChildCommand(const std::string& program, const std::vector<std::string>& arguments,
                 const ProcessOptions& options);

    const std::string& program() const noexcept { return program_; }
    const ProcessOptions& options() const noexcept { return options_; }

    /// A child that has not said yet whether the program runs.
    struct Started {
        ::pid_t pid = -1;
        // Our ends of its pipes, which do not block; -1 where there is none.
        OwnedDescriptor input, output, errors;
        /// Ends when the program runs, or the child ends; what comes before is for is_ready() and
        /// error_of().
        OwnedDescriptor report;
    };
    /// Throws std::system_error.
    Started start() const;

    /// Whether what the child has said means that the program runs.
    static bool is_ready(const std::string& said) noexcept;
    /// Else: a failure of exec or of what comes before, or that child's end before it could tell.
    std::system_error error_of(const std::string& said, const ExitStatus& status) const;

private:
    void make_environment();
    void find_candidates();
    std::system_error error(int code, const std::string& what) const;
    OwnedDescriptor standard(int number, const ChildIo& io, OwnedDescriptor& ours) const;

    const std::string program_;
    const ProcessOptions options_;
    std::vector<std::string> arguments_;
    std::vector<std::string> environment_;
    std::vector<std::string> candidates_;  // paths of the program, to be tried in turn
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
