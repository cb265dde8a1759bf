// SPDX-License-Identifier: BSL-1.0
#include "child_process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace support {

namespace {

[[noreturn]] void fail(const std::string& what, int error = errno) {
    throw std::system_error(error, std::system_category(), what);
}

void close_one(int& fd) noexcept {
    if (fd >= 0) ::close(fd);
    fd = -1;
}

// Beyond the standard streams, which the child puts in their place.
int above_standard_streams(int fd) {
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (moved < 0) fail("dup");
    return moved;
}

/// Two ends of a stream; both sides may close theirs without SIGPIPE for the other.
struct Ends {
    int ours = -1;
    int theirs = -1;

    Ends() {
        int fds[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) fail("socketpair");
        ours = fds[0];
        theirs = above_standard_streams(fds[1]);
        ::close(fds[1]);
    }
    ~Ends() {
        close_one(ours);
        close_one(theirs);
    }
    Ends(const Ends&) = delete;
    Ends& operator=(const Ends&) = delete;

    int take_ours() {
        const int fd = ours;
        ours = -1;
        return fd;
    }
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
    out.push_back(nullptr);
    return out;
}

/// What happens between fork and exec, in a process that may only make system calls.
struct Start {
    const Command& command;
    char* const* argv;
    char* const* environment;
    const int* standard;
    ::pid_t parent;

    // The step that failed, with errno; does not return otherwise.
    void operator()() const {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(127);
        ::setpgid(0, 0);
        for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
        for (const int signal : command.ignored_signals) ::signal(signal, SIG_IGN);
        ::sigset_t none;
        ::sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        for (int fd = 0; fd < 3; ++fd) {
            if (::dup2(standard[fd], fd) < 0) return;
        }
        if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0) return;
        for (const auto& limit : command.limits) {
            // The type of the first parameter is an enumeration of glibc's own.
            if (::setrlimit(static_cast<::__rlimit_resource_t>(limit.first), &limit.second) != 0) {
                return;
            }
        }
        ::execvpe(argv[0], argv, environment);
    }
};

}  // namespace

std::vector<std::string> Exit::lines() const {
    std::vector<std::string> lines;
    std::istringstream text(out);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

std::string Exit::text() const {
    return "status " + std::to_string(status) + ", signal " + std::to_string(signal) +
           (timed_out ? ", timed out" : "") + "\nout: " + out + "\nerr: " + err;
}

ChildProcess::ChildProcess(const Command& command)
    : deadline_(std::chrono::steady_clock::now() + command.time_limit), input_(command.input) {
    Ends in, out, err, failure;
    std::vector<std::string> environment = command.environment;
    for (char** entry = environ; *entry; ++entry) environment.push_back(*entry);
    const std::vector<char*> argv = pointers(command.argv);
    const std::vector<char*> variables = pointers(environment);
    const int standard[] = {in.theirs, out.theirs, err.theirs};
    const Start start = {command, argv.data(), variables.data(), standard, ::getpid()};

    pid_ = ::fork();
    if (pid_ == 0) {
        start();
        const int error = errno;
        if (::write(failure.theirs, &error, sizeof error) < 0) ::_exit(126);
        ::_exit(127);
    }
    const int error = errno;
    if (pid_ < 0) fail("fork", error);

    close_one(failure.theirs);
    int child_error = 0;
    if (::read(failure.ours, &child_error, sizeof child_error) > 0) {
        reap(0);
        fail("start " + command.argv[0], child_error);
    }
    in_ = in.take_ours();
    out_ = out.take_ours();
    err_ = err.take_ours();
    if (input_.empty()) close_one(in_);
}

ChildProcess::~ChildProcess() {
    if (pid_ > 0) {
        ::kill(-pid_, SIGKILL);
        ::kill(pid_, SIGKILL);
        reap(0);
    }
    close_all();
}

void ChildProcess::close_all() noexcept {
    close_one(in_);
    close_one(out_);
    close_one(err_);
}

void ChildProcess::close_output() noexcept { close_one(out_); }

void ChildProcess::close_errors() noexcept { close_one(err_); }

void ChildProcess::send_signal(int signal) const {
    if (pid_ <= 0 || ::kill(pid_, signal) != 0) fail("kill");
}

void ChildProcess::reap(int options) {
    int status = 0;
    ::pid_t reaped;
    do {
        reaped = ::waitpid(pid_, &status, options);
    } while (reaped < 0 && errno == EINTR);
    if (reaped != pid_) return;
    pid_ = -1;
    if (WIFEXITED(status)) exit_.status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) exit_.signal = WTERMSIG(status);
}

// Moves what is ready; false when it has closed its output, or the time is up.
bool ChildProcess::pump() {
    if (out_ < 0 && err_ < 0) return false;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline_ - std::chrono::steady_clock::now());
    ::pollfd watched[] = {{out_, POLLIN, 0}, {err_, POLLIN, 0}, {in_, POLLOUT, 0}};
    const int ready = ::poll(watched, 3, static_cast<int>(std::max<long long>(0, left.count())));
    if (ready < 0 && errno == EINTR) return true;
    if (ready <= 0) {
        exit_.timed_out = true;
        return false;
    }
    int* const fds[] = {&out_, &err_};
    std::string* const texts[] = {&exit_.out, &exit_.err};
    for (int i = 0; i < 2; ++i) {
        if (watched[i].revents == 0) continue;
        char bytes[65536];
        const ::ssize_t size = ::read(*fds[i], bytes, sizeof bytes);
        if (size > 0) {
            texts[i]->append(bytes, static_cast<std::size_t>(size));
        } else if (size == 0 || errno != EINTR) {
            close_one(*fds[i]);
        }
    }
    if (watched[2].revents != 0) {
        const ::ssize_t size = ::send(in_, input_.data() + written_, input_.size() - written_,
                                      MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size > 0) written_ += static_cast<std::size_t>(size);
        const bool again = size < 0 && (errno == EAGAIN || errno == EINTR);
        if (written_ == input_.size() || (size < 0 && !again)) close_one(in_);
    }
    return true;
}

bool ChildProcess::wait_for_output(const std::string& text) {
    while (exit_.out.find(text) == std::string::npos) {
        if (!pump()) return false;
    }
    return true;
}

bool ChildProcess::has_ended() {
    if (pid_ > 0) reap(WNOHANG);
    return pid_ <= 0;
}

Exit ChildProcess::wait() {
    while (pump()) {
    }
    // It may have closed its output and go on.
    while (pid_ > 0 && !exit_.timed_out) {
        reap(WNOHANG);
        if (pid_ <= 0) break;
        if (std::chrono::steady_clock::now() >= deadline_) exit_.timed_out = true;
        ::poll(nullptr, 0, 1);
    }
    if (pid_ > 0) {
        ::kill(-pid_, SIGKILL);
        reap(0);
    }
    close_all();
    return exit_;
}

Exit run(const Command& command) { return ChildProcess(command).wait(); }

}  // namespace support
