// SPDX-License-Identifier: BSL-1.0
#include <net/detail/child_launch.hpp>
#include <net/detail/open_anew.hpp>
#include <net/detail/standard_pipes.hpp>

#include <cerrno>
#include <cstring>
#include <map>
#include <stdexcept>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

const char* const standard_names[3] = {"standard input", "standard output", "standard error"};

// ---- in the child: system calls only, no memory, no locks -----------------------------------

/// What the child says through its pipe: this byte right before it becomes the program, so that one
/// that was killed earlier does not count as started, and what went wrong.
constexpr char ready = '.';

struct ChildReport {
    enum Step : int { standard_io, session, directory, exec };

    int step;
    int code;
};

struct ChildPlan {
    const char* const* candidates;
    char* const* arguments;
    char* const* environment;
    const char* directory;  // null: stays
    int sources[3];         // none of them below 3
    int report;
    bool new_session;
};

[[noreturn]] void give_up(const ChildPlan& plan, ChildReport::Step step, int code) noexcept {
    const ChildReport report = {step, code};
    // Fits into the pipe; if our parent is gone, nobody wants it.
    if (::write(plan.report, &report, sizeof report) < 0) ::_exit(126);
    ::_exit(127);
}

/// As execvp() does, but tells what stood in the way of the one that was there (EACCES), and gives
/// no script without "#!" to a shell.
[[noreturn]] void run(const ChildPlan& plan) noexcept {
    int told = ENOENT;
    if (::write(plan.report, &ready, sizeof ready) < 0) ::_exit(126);
    for (const char* const* path = plan.candidates; *path; ++path) {
        ::execve(*path, plan.arguments, plan.environment);
        const int code = errno;
        if (code == EACCES) {
            told = code;
        } else if (code != ENOENT && code != ENOTDIR && code != ESTALE && code != ENODEV &&
                   code != ETIMEDOUT) {
            give_up(plan, ChildReport::exec, code);
        } else if (!path[1] && told == ENOENT) {
            told = code;
        }
    }
    give_up(plan, ChildReport::exec, told);
}

/// All signals are blocked: a handler of ours that ran in here would speak to our parent's loop.
[[noreturn]] void become(const ChildPlan& plan) noexcept {
    struct ::sigaction usual;
    std::memset(&usual, 0, sizeof usual);
    usual.sa_handler = SIG_DFL;
    for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &usual, nullptr);

    if (plan.new_session && ::setsid() < 0) give_up(plan, ChildReport::session, errno);
    for (int i = 0; i < 3; ++i) {
        if (::dup2(plan.sources[i], i) < 0) give_up(plan, ChildReport::standard_io, errno);
    }
    if (plan.directory && ::chdir(plan.directory) != 0) {
        give_up(plan, ChildReport::directory, errno);
    }
    // Of what other parts of the program have left open on exec; it fails before Linux 5.11.
#ifdef SYS_close_range
    constexpr unsigned close_on_exec = 4;  // CLOSE_RANGE_CLOEXEC, which old headers do not know
    ::syscall(SYS_close_range, 3u, ~0u, close_on_exec);
#endif
    ::sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    run(plan);
}

// ---- before that ----------------------------------------------------------------------------

void refuse_zero_bytes(const std::string& text, const char* what) {
    if (text.find('\0') != std::string::npos) {
        throw std::invalid_argument(std::string("start_process: a zero byte in ") + what);
    }
}

/// Not where the child's standard descriptors will be; the program may have closed its own.
int raised(int descriptor) noexcept {
    if (descriptor < 0 || descriptor > 2) return descriptor;
    const int higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    const int code = errno;
    ::close(descriptor);
    errno = code;
    return higher;
}

/// The read end and the write end; false and errno.
bool make_pipe(OwnedDescriptor& out, OwnedDescriptor& in) noexcept {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    out = OwnedDescriptor(raised(ends[0]));
    const int code = errno;
    in = OwnedDescriptor(raised(ends[1]));
    if (!out) errno = code;
    return out && in;
}

/// Ours alone: the child has the other end, and may block.
bool never_block(const OwnedDescriptor& end) noexcept {
    return ::fcntl(end.get(), F_SETFL, ::fcntl(end.get(), F_GETFL) | O_NONBLOCK) == 0;
}

/// One that is close-on-exec is nobody's standard descriptor: a program that was started without
/// one has opened it, and it may be the loop's own. But a pipe's transport has made its descriptor
/// so.
bool is_for_children(int number) noexcept {
    const int flags = ::fcntl(number, F_GETFD);
    return flags >= 0 && (!(flags & FD_CLOEXEC) || is_standard_pipe(number));
}

/// Another descriptor of it, for a child. Where a pipe's transport has it, the child gets an open
/// file of its own, which blocks, if there can be another one: few programs bear one that does not.
OwnedDescriptor duplicate(int number) noexcept {
    const int flags = ::fcntl(number, F_GETFL);
    struct ::stat file;
    if (is_standard_pipe(number) && flags >= 0 && (flags & O_NONBLOCK) &&
        ::fstat(number, &file) == 0) {
        OwnedDescriptor own(raised(open_anew(number, flags, file)));
        if (own && ::fcntl(own.get(), F_SETFL, flags & ~O_NONBLOCK) == 0) return own;
    }
    return OwnedDescriptor(::fcntl(number, F_DUPFD_CLOEXEC, 3));
}

template <class Pointer>
std::vector<Pointer> pointers(const std::vector<std::string>& texts) {
    std::vector<Pointer> all;
    for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
    all.push_back(nullptr);
    return all;
}

}  // namespace

ChildCommand::ChildCommand(const std::string& program, const std::vector<std::string>& arguments,
                           const ProcessOptions& options)
    : program_(program), options_(options), arguments_(1, program) {
    if (program.empty()) throw std::invalid_argument("start_process: the program's name is empty");
    refuse_zero_bytes(program, "the program's name");
    for (const std::string& argument : arguments) refuse_zero_bytes(argument, "an argument");
    refuse_zero_bytes(options.directory(), "the directory's name");
    for (const auto& variable : options.variables()) {
        refuse_zero_bytes(variable.first, "a variable's name");
        refuse_zero_bytes(variable.second, "a variable");
        if (variable.first.empty() || variable.first.find('=') != std::string::npos) {
            throw std::invalid_argument("start_process: '" + variable.first +
                                        "' is no name of a variable");
        }
    }
    if (options.input().kind() == ChildIo::Kind::output ||
        options.output().kind() == ChildIo::Kind::output) {
        throw std::invalid_argument(
            "start_process: same_as_output() is for the standard error only");
    }
    arguments_.insert(arguments_.end(), arguments.begin(), arguments.end());
    make_environment();
    find_candidates();
}

void ChildCommand::make_environment() {
    const std::map<std::string, std::string>& set = options_.variables();
    if (!options_.clean_environment()) {
        for (char** line = environ; line && *line; ++line) {
            const char* const end = std::strchr(*line, '=');
            if (end && set.count(std::string(*line, static_cast<std::size_t>(end - *line))))
                continue;
            environment_.emplace_back(*line);
        }
    }
    for (const auto& variable : set) {
        environment_.push_back(variable.first + '=' + variable.second);
    }
}

void ChildCommand::find_candidates() {
    if (program_.find('/') != std::string::npos) {
        candidates_.push_back(program_);
        return;
    }
    std::string path = "/bin:/usr/bin";  // glibc's, where nothing is set
    for (const std::string& line : environment_) {
        if (line.compare(0, 5, "PATH=") == 0) path = line.substr(5);
    }
    for (std::size_t begin = 0; begin <= path.size();) {
        std::size_t end = path.find(':', begin);
        if (end == std::string::npos) end = path.size();
        const std::string folder = path.substr(begin, end - begin);
        candidates_.push_back((folder.empty() ? "." : folder) + '/' + program_);
        begin = end + 1;
    }
}

std::system_error ChildCommand::error(int code, const std::string& what) const {
    return std::system_error(code, std::system_category(), "run " + program_ + what);
}

/// What the child gets under that number: never below 3, and close-on-exec. `ours` is the other end
/// of a pipe.
OwnedDescriptor ChildCommand::standard(int number, const ChildIo& io, OwnedDescriptor& ours) const {
    OwnedDescriptor theirs;
    bool made = false;
    if (io.kind() == ChildIo::Kind::pipe) {
        made =
            (number == 0 ? make_pipe(theirs, ours) : make_pipe(ours, theirs)) && never_block(ours);
    } else {
        const bool inherits = io.kind() == ChildIo::Kind::inherit;
        if (io.kind() == ChildIo::Kind::null || (inherits && !is_for_children(number))) {
            theirs = OwnedDescriptor(raised(::open("/dev/null", O_RDWR | O_CLOEXEC)));
        } else {
            theirs = duplicate(inherits ? number : io.number());
        }
        made = static_cast<bool>(theirs);
    }
    if (!made) {
        const int code = errno;
        std::string what = std::string(": its ") + standard_names[number];
        if (io.kind() == ChildIo::Kind::descriptor) {
            what += ", descriptor " + std::to_string(io.number());
        }
        throw error(code, what);
    }
    return theirs;
}

ChildCommand::Started ChildCommand::start() const {
    Started started;
    const OwnedDescriptor input = standard(0, options_.input(), started.input);
    const OwnedDescriptor output = standard(1, options_.output(), started.output);
    OwnedDescriptor errors;
    const bool joined = options_.errors().kind() == ChildIo::Kind::output;
    if (!joined) errors = standard(2, options_.errors(), started.errors);
    OwnedDescriptor report;
    if (!make_pipe(started.report, report) || !never_block(started.report)) {
        throw error(errno, ": a pipe for its start");
    }
    const std::vector<const char*> candidates = pointers<const char*>(candidates_);
    const std::vector<char*> arguments = pointers<char*>(arguments_);
    const std::vector<char*> environment = pointers<char*>(environment_);
    const ChildPlan plan = {candidates.data(),
                            arguments.data(),
                            environment.data(),
                            options_.directory().empty() ? nullptr : options_.directory().c_str(),
                            {input.get(), output.get(), joined ? output.get() : errors.get()},
                            report.get(),
                            options_.new_session()};
    ::sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    started.pid = ::fork();
    if (started.pid == 0) become(plan);
    const int code = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (started.pid < 0) throw error(code, ": fork");
    return started;
}

bool ChildCommand::is_ready(const std::string& said) noexcept {
    return said.size() == sizeof ready && said[0] == ready;
}

std::system_error ChildCommand::error_of(const std::string& said, const ExitStatus& status) const {
    ChildReport report = {ChildReport::exec, EIO};
    if (said.size() < sizeof report) {
        return error(ECANCELED, ", ended by " + status.str() + " before the program ran");
    }
    std::memcpy(&report, said.data() + (said.size() - sizeof report), sizeof report);
    switch (report.step) {
        case ChildReport::standard_io:
            return error(report.code, ": its standard descriptors");
        case ChildReport::session:
            return error(report.code, ": a session of its own");
        case ChildReport::directory:
            return error(report.code, " in directory " + options_.directory());
        default: {
            // Where it was looked for is no matter if the arguments or a name are too long.
            const bool searched = program_.find('/') == std::string::npos && report.code != E2BIG &&
                                  report.code != ENAMETOOLONG;
            return error(report.code, searched ? ", looked for in PATH" : "");
        }
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
