// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_FORKED_HPP
#define REACTOR_TEST_FORKED_HPP

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

/// How a forked child of the test program ended.
struct Forked {
    int status = -1;     ///< its exit status, -1 if a signal ended it
    int signal = 0;      ///< the signal that ended it
    std::string errors;  ///< what it wrote to standard error
};

/// Runs f() in a forked child, which ends with status 0 after it, 1 after an exception.
template <class F>
Forked forked(F f) {
    int errors[2];
    BOOST_REQUIRE(::pipe(errors) == 0);
    std::fflush(stdout);  // or the child might write it once more
    const ::pid_t child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
        // Nothing of the test framework runs here: neither its signal handlers nor its destructors.
        for (const int signal : {SIGABRT, SIGSEGV, SIGTERM}) ::signal(signal, SIG_DFL);
        const ::rlimit no_core = {0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        ::dup2(errors[1], STDERR_FILENO);
        ::close(errors[0]);
        ::close(errors[1]);
        ::alarm(60);
        try {
            f();
        } catch (...) {
            ::_exit(1);
        }
        ::_exit(0);
    }
    ::close(errors[1]);
    Forked result;
    char buffer[4096];
    for (;;) {
        const ::ssize_t got = ::read(errors[0], buffer, sizeof buffer);
        if (got <= 0) break;
        result.errors.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(errors[0]);
    int status = 0;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    return result;
}

#endif
