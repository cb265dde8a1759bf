// SPDX-License-Identifier: BSL-1.0
#include <net/detail/child_launch.hpp>
#include <net/process.hpp>

#include "processes.hpp"

#include <csignal>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace processes;

BOOST_AUTO_TEST_SUITE(process_group)

namespace {

ProcessOptions whole() { return ProcessTest::piped().kill_group(); }

int number(const std::string& line) { return std::stoi(line); }

bool there(int pid) { return ::kill(pid, 0) == 0; }

}  // namespace

// In all of these the child of the child holds the pipe that is read to its end.

PROCESS_TEST(what_a_child_leaves_behind_ends_with_it) {
    Process child = shell("sleep 1000 & echo left; exit 3", whole());
    BOOST_TEST(all(child.output()) == "left\n");
    const ExitStatus status = loop.run_until_complete(child.wait());
    BOOST_TEST(status.str() == "exit code 3");
}

PROCESS_TEST(kill_is_for_the_whole_group) {
    // Again and again: the answer must not depend on how soon the group has gone.
    for (int i = 0; i < 10; ++i) {
        Process child = shell("sleep 1000 & echo there; wait", whole());
        BOOST_TEST(loop.run_until_complete(child.output().read_line()) == "there\n");
        BOOST_TEST(::getsid(child.pid()) == child.pid());
        BOOST_TEST(child.kill());
        BOOST_TEST(all(child.output()) == "");
        BOOST_TEST(loop.run_until_complete(child.wait()).signal() == SIGKILL);
    }
}

PROCESS_TEST(other_signals_are_for_the_child_alone) {
    // What ended the sleep is SIGKILL, and not the signal that came before that.
    Process child = shell(
        "trap 'kill -KILL $!; wait $!; exit $?' USR1; sleep 1000 & echo there; wait", whole());
    BOOST_TEST(loop.run_until_complete(child.output().read_line()) == "there\n");
    BOOST_TEST(child.send_signal(SIGUSR1));
    BOOST_TEST(loop.run_until_complete(child.wait()).code() == 128 + SIGKILL);
}

PROCESS_TEST(who_has_left_the_group_goes_on) {
    Process child = shell("setsid sh -c 'echo $$; exec sleep 1000 >&- 2>&-' & read line", whole());
    const int gone = number(loop.run_until_complete(child.output().read_line()));
    child.input().write("go\n");
    BOOST_TEST(loop.run_until_complete(child.wait()).success());
    BOOST_TEST(there(gone));
    ::kill(gone, SIGKILL);
}

PROCESS_TEST(the_group_of_a_detached_child_is_left_alone) {
    Process child = shell("sleep 1000 >&- 2>&- & echo $!; read line", whole());
    const int left = number(loop.run_until_complete(child.output().read_line()));
    child.detach();
    child.input().write("go\n");
    BOOST_TEST(loop.run_until_complete(child.wait()).success());
    BOOST_TEST(there(left));
    ::kill(left, SIGKILL);
}

PROCESS_TEST(a_loop_that_closes_before_it_has_seen_the_end_kills_what_is_left) {
    int ends[2];
    BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const reactor::net::detail::OwnedDescriptor from_left(ends[0]);
    reactor::net::detail::OwnedDescriptor to_us(ends[1]);
    Process child = shell("sleep 1000 >&- & echo there; read line",
                          whole().errors(ChildIo::descriptor(to_us.get())));
    to_us.close();
    BOOST_TEST(loop.run_until_complete(child.output().read_line()) == "there\n");
    child.input().write("go\n");
    ::siginfo_t info;
    BOOST_TEST(::waitid(P_PID, static_cast<::id_t>(child.pid()), &info, WEXITED | WNOWAIT) == 0);
    BOOST_TEST(child.running());
    loop.close();
    char byte;
    BOOST_TEST(::read(from_left.get(), &byte, 1) == 0);
}

PROCESS_TEST(a_program_that_is_refused_has_no_group) {
    int code = 0;
    BOOST_TEST(refusal("/nowhere/cat", whole(), code) ==
               "run /nowhere/cat: No such file or directory");
    BOOST_TEST(code == ENOENT);
}

BOOST_AUTO_TEST_SUITE_END()
