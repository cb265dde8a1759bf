// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_PROCESSES_HPP
#define REACTOR_TEST_NET_PROCESSES_HPP

#include <boost/test/unit_test.hpp>

#include <net/detail/child_service.hpp>
#include <net/process.hpp>

#include <test/support/loop_test.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

/// What tests of child processes share: a loop that waits for real processes, and looks that none
/// is left.
namespace processes {

using reactor::Promise;
using reactor::StateError;
using reactor::net::ChildIo;
using reactor::net::ExitStatus;
using reactor::net::Process;
using reactor::net::ProcessOptions;
using reactor::net::start_process;
using reactor::net::Stream;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Whether this process has a child, a zombie included.
inline bool have_children() {
    ::siginfo_t info;
    return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// The number of this process's pidfd; -1: there is none.
inline int find_pidfd() {
    ::DIR* const directory = ::opendir("/proc/self/fd");
    BOOST_REQUIRE(directory);
    int found = -1;
    while (const ::dirent* const entry = ::readdir(directory)) {
        char target[64];
        const ::ssize_t size =
            ::readlinkat(::dirfd(directory), entry->d_name, target, sizeof target);
        if (size > 0 && std::string(target, static_cast<std::size_t>(size)).find("[pidfd]") !=
                            std::string::npos) {
            found = std::stoi(entry->d_name);
        }
    }
    ::closedir(directory);
    return found;
}

struct ProcessTest : support::LoopTest {
    explicit ProcessTest(const std::string& selector) : support::LoopTest(selector) {
        loop.selector().set_patience(seconds(20));
        loop.set_log([this](reactor::LogLevel, const std::string& text) { log += text + '\n'; });
    }
    ~ProcessTest() {
        for (int i = 0; i < 2000 && have_children(); ++i) {
            ::poll(nullptr, 0, 5);
            if (!loop.is_closed()) loop.run_iterations(1);
        }
        BOOST_TEST(!have_children());
        if (!loop.is_closed()) loop.run_until_idle();
        BOOST_TEST(log.empty(), log);
    }

    static ProcessOptions piped() {
        return ProcessOptions()
            .input(ChildIo::pipe())
            .output(ChildIo::pipe())
            .errors(ChildIo::pipe());
    }
    Process start(const std::string& program, const std::vector<std::string>& arguments,
                  const ProcessOptions& options) {
        return loop.run_until_complete(start_process(loop, program, arguments, options));
    }
    Process shell(const std::string& script, const ProcessOptions& options = piped()) {
        return start("sh", {"-c", script}, options);
    }
    std::string all(Stream& stream) { return loop.run_until_complete(stream.read_all(1 << 24)); }
    /// What the program writes to its standard output.
    std::string output(const std::string& program, const std::vector<std::string>& arguments,
                       const ProcessOptions& options) {
        Process process = start(program, arguments, options);
        const std::string text = all(process.output());
        loop.run_until_complete(process.wait());
        return text;
    }
    /// Why it could not be started.
    std::string refusal(const std::string& program, const ProcessOptions& options, int& code) {
        code = 0;
        try {
            start(program, {}, options);
        } catch (const std::system_error& error) {
            BOOST_TEST(!have_children());  // by the time that it is told
            code = error.code().value();
            return error.what();
        }
        return "none";
    }
    /// Turns the loop, without time passing, until that is so.
    template <class F>
    void run_until(F reached) {
        for (int i = 0; i < 4000 && !reached(); ++i) {
            ::poll(nullptr, 0, i < 10 ? 0 : 5);
            loop.run_iterations(1);
        }
        BOOST_TEST(reached());
    }

    std::string log;
};

/// The same where the system has no pidfd.
struct WithoutPidfd : ProcessTest {
    explicit WithoutPidfd(const std::string& selector) : ProcessTest(selector) {
        loop.service<reactor::net::detail::ChildService>().uses_pidfd = false;
    }
};

}  // namespace processes

#define PROCESS_TEST(name) REACTOR_LOOP_TEST_IN(processes::ProcessTest, name)

#endif
