// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_CHILD_LAUNCH_HPP
#define REACTOR_NET_DETAIL_CHILD_LAUNCH_HPP

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
        /// Ends when the program runs; else what error_of() understands comes before.
        OwnedDescriptor report;
    };
    /// Throws std::system_error.
    Started start() const;

    /// What the child has said: a failure of exec or of what comes before.
    std::system_error error_of(const std::string& report) const;

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
