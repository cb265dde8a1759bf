// SPDX-License-Identifier: BSL-1.0
#include <net/process.hpp>

#include "processes.hpp"

#include <test/support/temporary_directory.hpp>

#include <csignal>

#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace processes;

BOOST_AUTO_TEST_SUITE(process_refused)

namespace {

/// What a call that must fail says.
template <class F>
std::string misuse(F call) {
    try {
        call();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "none";
}

bool dies_at_birth = false;

void die_at_birth() {
    if (dies_at_birth) ::kill(::getpid(), SIGKILL);
}

}  // namespace

PROCESS_TEST(a_program_that_is_not_there_is_named) {
    int code;
    BOOST_TEST(refusal("/nowhere/program", ProcessOptions(), code) ==
               "run /nowhere/program: No such file or directory");
    BOOST_TEST(code == ENOENT);
    BOOST_TEST(refusal("no-such-program", piped(), code) ==
               "run no-such-program, looked for in PATH: No such file or directory");
    BOOST_TEST(code == ENOENT);
}

PROCESS_TEST(a_file_that_is_no_program_is_refused) {
    const support::TemporaryDirectory directory;
    int code;
    BOOST_TEST(refusal(directory.path(), piped(), code) ==
               "run " + directory.path() + ": Permission denied");
    BOOST_TEST(code == EACCES);
    const std::string file = directory / "file";
    support::write_file(file, "text\n");
    ::chmod(file.c_str(), 0600);
    BOOST_TEST(refusal(file, piped(), code) == "run " + file + ": Permission denied");
    // Of several in PATH, the one that is there tells.
    BOOST_TEST(refusal("file", piped().variable("PATH", directory.path() + ":/nowhere"), code) ==
               "run file, looked for in PATH: Permission denied");
    ::chmod(file.c_str(), 0700);
    refusal(file, piped(), code);  // there is no shell behind this to try its luck
    BOOST_TEST(code == ENOEXEC);
}

PROCESS_TEST(a_directory_that_is_not_there_is_named) {
    int code;
    BOOST_TEST(refusal("cat", piped().directory("/nowhere"), code) ==
               "run cat in directory /nowhere: No such file or directory");
    BOOST_TEST(code == ENOENT);
    BOOST_TEST(refusal("cat", piped().directory("/dev/null"), code) ==
               "run cat in directory /dev/null: Not a directory");
}

PROCESS_TEST(a_descriptor_that_is_not_open_is_named) {
    int code;
    BOOST_TEST(refusal("cat", piped().output(ChildIo::descriptor(987)), code) ==
               "run cat: its standard output, descriptor 987: Bad file descriptor");
    BOOST_TEST(code == EBADF);
}

PROCESS_TEST(too_long_a_list_of_arguments_and_too_long_a_name_are_told) {
    const std::string long_one(200000, 'x');
    const Promise<Process> starting = start_process(loop, "cat", {long_one, long_one}, piped());
    BOOST_CHECK_EXCEPTION(loop.run_until_complete(starting), std::system_error,
                          [](const std::system_error& error) {
                              return error.code().value() == E2BIG &&
                                     error.what() == "run cat: " + error.code().message();
                          });
    int code;
    const std::string long_name(300, 'x');
    BOOST_TEST(refusal(long_name, piped(), code) ==
               "run " + long_name + ": " + std::system_category().message(ENAMETOOLONG));
    BOOST_TEST(code == ENAMETOOLONG);
}

// As the system may do to what has just been forked, when memory is short.
PROCESS_TEST(a_child_that_is_killed_before_it_runs_the_program_has_not_started) {
    static const int registered = ::pthread_atfork(nullptr, nullptr, &die_at_birth);
    BOOST_REQUIRE(registered == 0);
    dies_at_birth = true;
    int code;
    const std::string what = refusal("true", piped(), code);
    dies_at_birth = false;
    BOOST_TEST(what == "run true, ended by SIGKILL (signal 9) before the program ran: " +
                           std::system_category().message(ECANCELED));
    BOOST_TEST(code == ECANCELED);
    BOOST_TEST(loop.run_until_complete(start("true", {}, piped()).wait()).success());
}

// At each of the descriptors that a start needs.
PROCESS_TEST(a_start_without_descriptors_fails_and_leaves_nothing) {
    ::rlimit before;
    BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    loop.run_until_complete(start("true", {}, piped()).wait());  // what a first use needs
    const std::size_t open = reactor::testing::open_descriptors();
    bool started = false;
    int failures = 0;
    for (std::size_t more = 0; more < 40 && !started; ++more) {
        ::rlimit few = before;
        few.rlim_cur = open + more;
        ::setrlimit(RLIMIT_NOFILE, &few);
        const Promise<Process> starting = start_process(loop, "true", {}, piped());
        std::exception_ptr error;
        try {
            Process child = loop.run_until_complete(starting);
            ::setrlimit(RLIMIT_NOFILE, &before);
            started = loop.run_until_complete(child.wait()).success();
        } catch (const std::system_error& failure) {
            ::setrlimit(RLIMIT_NOFILE, &before);
            BOOST_TEST(failure.code().value() == EMFILE);
            BOOST_TEST(std::string(failure.what()).find("run true: ") == 0u, failure.what());
            ++failures;
        }
        loop.run_until_idle();
        BOOST_TEST(reactor::testing::open_descriptors() == open);
    }
    BOOST_TEST(started);
    BOOST_TEST(failures >= 4);
}

PROCESS_TEST(misuse_is_told_at_once) {
    const std::string zero("a\0b", 3);
    BOOST_TEST(misuse([&] { start_process(loop, "", {}); }) ==
               "start_process: the program's name is empty");
    BOOST_TEST(misuse([&] { start_process(loop, zero, {}); }) ==
               "start_process: a zero byte in the program's name");
    BOOST_TEST(misuse([&] { start_process(loop, "a", {zero}); }) ==
               "start_process: a zero byte in an argument");
    BOOST_TEST(misuse([&] { start_process(loop, "a", {}, piped().directory(zero)); }) ==
               "start_process: a zero byte in the directory's name");
    BOOST_TEST(misuse([&] { start_process(loop, "a", {}, piped().variable("a=b", "")); }) ==
               "start_process: 'a=b' is no name of a variable");
    BOOST_TEST(misuse([&] { start_process(loop, "a", {}, piped().variable("a", zero)); }) ==
               "start_process: a zero byte in a variable");
    BOOST_TEST(misuse([&] {
                   start_process(loop, "a", {}, piped().input(ChildIo::same_as_output()));
               }).find("for the standard error only") != std::string::npos);
    BOOST_TEST(!have_children());
    Process empty;
    BOOST_TEST(!empty);
    BOOST_CHECK_THROW(empty.wait(), StateError);
    BOOST_CHECK_THROW(empty.kill(), StateError);
    BOOST_CHECK_THROW(empty.output(), StateError);
}

BOOST_AUTO_TEST_SUITE_END()
