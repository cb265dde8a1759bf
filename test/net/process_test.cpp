// SPDX-License-Identifier: BSL-1.0
#include <net/pipe.hpp>
#include <net/process.hpp>

#include "processes.hpp"

#include <test/support/pattern.hpp>

#include <csignal>
#include <sstream>

#include <sys/socket.h>

using namespace processes;

BOOST_AUTO_TEST_SUITE(process)

namespace {

using reactor::net::open_read_pipe;
using reactor::net::open_write_pipe;

/// While it lives, a standard descriptor of ours leads elsewhere, or is closed (-1).
class Replaced {
public:
    Replaced(int number, int by) : number_(number), kept_(::fcntl(number, F_DUPFD_CLOEXEC, 3)) {
        if (by >= 0) {
            ::dup2(by, number);
        } else {
            ::close(number);
        }
    }
    ~Replaced() {
        if (kept_ < 0) return;
        ::dup2(kept_, number_);
        ::close(kept_);
    }
    Replaced(const Replaced&) = delete;
    Replaced& operator=(const Replaced&) = delete;

private:
    const int number_;
    const int kept_;
};

std::string taken(int descriptor) {
    char bytes[64];
    const ::ssize_t got = ::read(descriptor, bytes, sizeof bytes);
    return std::string(bytes, static_cast<std::size_t>(got < 0 ? 0 : got));
}

}  // namespace

PROCESS_TEST(a_program_runs_with_its_output_as_streams_and_its_end_as_a_promise) {
    Process child = shell("echo out; echo err >&2; exit 3");
    BOOST_TEST(child.pid() > 0);
    BOOST_TEST(all(child.output()) == "out\n");
    BOOST_TEST(all(child.errors()) == "err\n");
    const ExitStatus status = loop.run_until_complete(child.wait());
    BOOST_TEST((status == ExitStatus::of_code(3)));
    BOOST_TEST(!status.success());
    BOOST_TEST(status.str() == "exit code 3");
    BOOST_TEST(!child.running());
    BOOST_TEST((loop.run_until_complete(child.wait()) == status));  // it is kept
}

PROCESS_TEST(what_is_written_to_a_program_comes_back) {
    Process child = start("cat", {}, piped());
    child.input().write("line\n");
    BOOST_TEST(loop.run_until_complete(child.output().read_line()) == "line\n");
    const std::string bytes = support::pattern(3 << 20);
    child.input().write(bytes);
    BOOST_TEST(child.input().transport().write_paused());
    child.input().write_eof();
    BOOST_TEST((all(child.output()) == bytes));
    BOOST_TEST(loop.run_until_complete(child.wait()).success());
}

PROCESS_TEST(a_signal_that_ends_it_is_told) {
    Process child = shell("kill -TERM $$");
    const ExitStatus status = loop.run_until_complete(child.wait());
    BOOST_TEST(status.signal() == SIGTERM);
    BOOST_TEST(status.code() == -1);
    BOOST_TEST(!status.success());
    BOOST_TEST(status.str() == "SIGTERM (signal 15)");
}

BOOST_AUTO_TEST_CASE(signals_have_their_names) {
    BOOST_TEST(ExitStatus::of_signal(SIGSEGV, true).str() == "SIGSEGV (signal 11), core dumped");
    BOOST_TEST(ExitStatus::of_signal(SIGVTALRM).str() ==
               "SIGVTALRM (signal " + std::to_string(SIGVTALRM) + ')');
    BOOST_TEST(ExitStatus::of_signal(SIGPROF).str() ==
               "SIGPROF (signal " + std::to_string(SIGPROF) + ')');
    BOOST_TEST(ExitStatus::of_signal(SIGIO).str().find("SIGIO (") == 0u);
    BOOST_TEST(ExitStatus::of_signal(SIGRTMIN).str() == "signal " + std::to_string(SIGRTMIN));
}

PROCESS_TEST(arguments_come_as_they_are) {
    const std::string text =
        output("printf", {"[%s]", "two words", "", "$HOME `id` \"'", "\n"}, piped());
    BOOST_TEST(text == "[two words][][$HOME `id` \"'][\n]");
}

PROCESS_TEST(the_environment_and_the_directory_are_those_of_the_options) {
    ::setenv("REACTOR_TEST_OURS", "ours", 1);
    const std::string script = "printf %s. \"$REACTOR_TEST_OURS\" \"$ADDED\"; pwd";
    BOOST_TEST(output("sh", {"-c", script}, piped().variable("ADDED", "a=b").directory("/")) ==
               "ours.a=b./\n");
    BOOST_TEST(output("sh", {"-c", script},
                      piped().variable("REACTOR_TEST_OURS", "theirs").directory("/usr")) ==
               "theirs../usr\n");
    BOOST_TEST(output("/usr/bin/env", {}, piped().clean_environment().variable("ONLY", "this")) ==
               "ONLY=this\n");
    ::unsetenv("REACTOR_TEST_OURS");
}

PROCESS_TEST(the_path_is_that_of_the_childs_environment) {
    int code;
    BOOST_TEST(refusal("env", piped().variable("PATH", "/nowhere:/tmp"), code) ==
               "run env, looked for in PATH: No such file or directory");
    BOOST_TEST(code == ENOENT);
    BOOST_TEST(output("env", {}, piped().clean_environment().variable("PATH", "/no:/usr/bin")) ==
               "PATH=/no:/usr/bin\n");
}

PROCESS_TEST(standard_descriptors_lead_where_the_options_say) {
    int ends[2];
    BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const auto options = ProcessOptions()
                             .input(ChildIo::null())
                             .output(ChildIo::descriptor(ends[1]))
                             .errors(ChildIo::same_as_output());
    Process child = shell("read line || echo nothing; echo out; echo err >&2", options);
    ::close(ends[1]);
    BOOST_TEST(loop.run_until_complete(child.wait()).success());
    BOOST_TEST(taken(ends[0]) == "nothing\nout\nerr\n");
    ::close(ends[0]);
    BOOST_TEST(!child.output());  // no pipe, no stream
    BOOST_TEST(!child.errors());
    BOOST_TEST(!child.input());
}

PROCESS_TEST(standard_output_and_standard_error_may_change_places) {
    int first[2], second[2];
    BOOST_REQUIRE(::pipe2(first, O_CLOEXEC) == 0);
    BOOST_REQUIRE(::pipe2(second, O_CLOEXEC) == 0);
    Process child;
    {
        const Replaced out(1, first[1]);
        const Replaced err(2, second[1]);
        child =
            shell("echo out; echo err >&2",
                  ProcessOptions().output(ChildIo::descriptor(2)).errors(ChildIo::descriptor(1)));
    }
    BOOST_TEST(loop.run_until_complete(child.wait()).success());
    BOOST_TEST(taken(first[0]) == "err\n");
    BOOST_TEST(taken(second[0]) == "out\n");
    for (const int end : {first[0], first[1], second[0], second[1]}) ::close(end);
}

// What is opened next would take the number: in our program the child's pipes, in the child
// whatever it opens.
PROCESS_TEST(a_program_without_a_standard_input_can_have_children) {
    const Replaced in(0, -1);
    Process child = shell("read line; readlink /proc/self/fd/0",
                          ProcessOptions().output(ChildIo::pipe()).errors(ChildIo::pipe()));
    BOOST_TEST(all(child.output()) == "/dev/null\n");
    BOOST_TEST(all(child.errors()) == "");
    BOOST_TEST(loop.run_until_complete(child.wait()).success());
    Process cat = start("cat", {}, piped());
    cat.input().write("through");
    cat.input().close();
    BOOST_TEST(all(cat.output()) == "through");
    BOOST_TEST(loop.run_until_complete(cat.wait()).success());
}

// Such as the epoll set of its loop, or a listening socket.
PROCESS_TEST(what_a_program_opens_instead_of_its_standard_input_is_not_inherited) {
    const Replaced in(0, -1);
    BOOST_REQUIRE(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) == 0);
    const auto options = ProcessOptions().output(ChildIo::pipe());
    BOOST_TEST(output("readlink", {"/proc/self/fd/0"}, options) == "/dev/null\n");
    // Unless it says so.
    const std::string target = output("readlink", {"/proc/self/fd/0"},
                                      ProcessOptions(options).input(ChildIo::descriptor(0)));
    BOOST_TEST(target.find("socket:") == 0u, target);
}

// A transport's own descriptor does not block; the child would fail with EAGAIN.
PROCESS_TEST(a_child_inherits_a_standard_descriptor_that_blocks_where_a_pipe_has_ours) {
    int in[2], out[2];
    BOOST_REQUIRE(::pipe2(in, O_CLOEXEC) == 0);
    BOOST_REQUIRE(::pipe2(out, O_CLOEXEC) == 0);
    bool succeeded;
    int ours[2];
    std::string later;
    {
        // What is checked in here would be reported to the pipe.
        const Replaced from(0, in[0]);
        const Replaced to(1, out[1]);
        Stream reader = loop.run_until_complete(open_read_pipe(loop, 0));
        Stream writer = loop.run_until_complete(open_write_pipe(loop, 1));
        reader.transport().pause_reading();
        const ::ssize_t written = ::write(in[1], "line\n", 5);
        ::close(in[1]);
        Process child = shell("grep -h ^flags: /proc/self/fdinfo/0 /proc/self/fdinfo/1; cat",
                              ProcessOptions().errors(ChildIo::same_as_output()));
        succeeded = loop.run_until_complete(child.wait()).success() && written == 5;
        for (int number = 0; number < 2; ++number) ours[number] = ::fcntl(number, F_GETFL);
        reader.transport().abort();
        writer.transport().abort();
        loop.run_until_idle();
        // Whatever takes the number now is nobody's.
        const int next = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        later = std::to_string(next) + ' ' +
                output("readlink", {"/proc/self/fd/0"}, ProcessOptions().output(ChildIo::pipe()));
    }
    BOOST_TEST(succeeded);
    std::istringstream words(taken(out[0]));
    for (const int flags_of_ours : ours) {
        std::string word;
        int flags = O_NONBLOCK;
        words >> word >> std::oct >> flags;
        BOOST_TEST(word == "flags:");
        BOOST_TEST((flags & O_NONBLOCK) == 0);
        BOOST_TEST((flags_of_ours & O_NONBLOCK) != 0);  // it is as it was
    }
    std::string line;
    words >> line;
    BOOST_TEST(line == "line");
    BOOST_TEST(later == "0 /dev/null\n");
    for (const int end : {in[0], out[0], out[1]}) ::close(end);
}

// Dispositions that are ignored, and masks, would be passed on by exec.
PROCESS_TEST(a_child_begins_with_the_usual_signals) {
    ::sigset_t some, before;
    ::sigemptyset(&some);
    for (const int signal : {SIGTERM, SIGUSR1, SIGCHLD}) ::sigaddset(&some, signal);
    ::pthread_sigmask(SIG_BLOCK, &some, &before);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGUSR2, SIG_IGN);
    const std::string status = output("grep", {"^Sig[BI]", "/proc/self/status"}, piped());
    std::signal(SIGPIPE, SIG_DFL);
    std::signal(SIGUSR2, SIG_DFL);
    ::sigset_t after;
    ::pthread_sigmask(SIG_SETMASK, &before, &after);
    BOOST_TEST(status == "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    BOOST_TEST(::sigismember(&after, SIGTERM) == 1);  // ours is as it was
    BOOST_TEST(::sigismember(&after, SIGHUP) == 0);
}

PROCESS_TEST(a_child_has_three_descriptors) {
    const int open_on_exec = ::open("/dev/null", O_RDONLY);
    Process other = start("cat", {}, piped());
    // One more: that of the directory, which ls has opened itself.
    BOOST_TEST(output("ls", {"/proc/self/fd"}, piped()) == "0\n1\n2\n3\n");
    ::close(open_on_exec);
    other.input().close();
    BOOST_TEST(loop.run_until_complete(other.wait()).success());
}

// A child that inherits the other end of a sibling's pipe would keep it open.
PROCESS_TEST(the_end_of_one_input_does_not_wait_for_a_sibling) {
    Process first = start("cat", {}, piped());
    Process second = start("cat", {}, piped());
    first.input().close();
    BOOST_TEST(loop.run_until_complete(first.wait()).success());
    BOOST_TEST(second.running());
    second.input().close();
    BOOST_TEST(loop.run_until_complete(second.wait()).success());
}

PROCESS_TEST(a_session_of_its_own) {
    Process child = shell("read line", piped().new_session());
    BOOST_TEST(::getsid(child.pid()) == child.pid());
    child.input().write("go\n");
    BOOST_TEST(loop.run_until_complete(child.wait()).success());
}

PROCESS_TEST(many_children_end_each_with_its_own_status) {
    std::vector<Promise<Process>> starting;
    for (int i = 0; i < 30; ++i) {
        starting.push_back(
            start_process(loop, "sh", {"-c", "exit " + std::to_string(i)}, ProcessOptions()));
    }
    std::vector<Process> children;
    for (const Promise<Process>& one : starting) {
        loop.run_until_complete(
            one.then([&](Process child) { children.push_back(std::move(child)); }));
    }
    for (std::size_t i = 0; i < children.size(); ++i) {
        BOOST_TEST(loop.run_until_complete(children[i].wait()).code() == static_cast<int>(i));
    }
}

BOOST_AUTO_TEST_SUITE_END()
