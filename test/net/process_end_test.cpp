// SPDX-License-Identifier: BSL-1.0
#include <net/detail/child_state.hpp>
#include <net/process.hpp>

#include "processes.hpp"

#include <csignal>
#include <memory>

using namespace processes;

BOOST_AUTO_TEST_SUITE(process_end)

namespace {

// It says that it is there, so that a signal comes after its trap.
const char* const stubborn = "trap '' TERM; echo there; while :; do sleep 1000 & wait; done";

void wait_until_there(ProcessTest& test, Process& child) {
    BOOST_TEST(test.loop.run_until_complete(child.output().read_line()) == "there\n");
}

/// A child that has ended, which its loop has not seen.
Process ended_unseen(ProcessTest& test) {
    Process child = test.shell("read line");
    child.input().write("go\n");
    ::siginfo_t info;
    BOOST_TEST(::waitid(P_PID, static_cast<::id_t>(child.pid()), &info, WEXITED | WNOWAIT) == 0);
    BOOST_TEST(child.running());
    return child;
}

/// No warning, no grace: it has ended.
void nothing_reaches_a_child_whose_end_is_unseen(ProcessTest& test) {
    Process child = ended_unseen(test);
    BOOST_TEST(!child.send_signal(SIGUSR1));
    BOOST_TEST(!child.terminate());
    BOOST_TEST(!child.kill());
    const Promise<ExitStatus> stopped = child.stop(hours(1));
    BOOST_TEST(test.loop.timer_count() == 0u);
    BOOST_TEST(test.loop.run_until_complete(stopped).success());
    ended_unseen(test);
    BOOST_TEST(test.log == "");
}

bool ended(int pid) { return ::kill(pid, 0) != 0; }

}  // namespace

// ---- stop -----------------------------------------------------------------------------------

PROCESS_TEST(a_child_that_obeys_is_stopped_by_sigterm) {
    Process child = shell("echo there; exec sleep 1000");
    wait_until_there(*this, child);
    const Promise<ExitStatus> stopped = child.stop(hours(1));
    BOOST_TEST(loop.run_until_complete(stopped).signal() == SIGTERM);
    BOOST_TEST(loop.timer_count() == 0u);
}

PROCESS_TEST(a_child_that_ignores_sigterm_is_killed_after_its_grace) {
    Process child = shell("trap '' TERM; echo there; while :; do read line; done <&0");
    wait_until_there(*this, child);
    const Promise<ExitStatus> stopped = child.stop(seconds(30));
    loop.selector().set_patience(milliseconds(0));
    loop.run_for(seconds(29));
    BOOST_TEST(!stopped.done());
    BOOST_TEST(child.running());
    loop.run_for(seconds(1));
    run_until([&] { return stopped.done(); });
    BOOST_TEST(stopped.result().signal() == SIGKILL);
    BOOST_TEST(stopped.result().str() == "SIGKILL (signal 9)");
    BOOST_TEST((child.stop(seconds(1)).result() == stopped.result()));
}

PROCESS_TEST(of_two_stops_the_earlier_end_of_grace_holds) {
    Process child = shell("trap '' TERM; echo there; while :; do read line; done <&0");
    wait_until_there(*this, child);
    const Promise<ExitStatus> never = child.stop(reactor::forever());
    const Promise<ExitStatus> early = child.stop(seconds(5));
    const Promise<ExitStatus> late = child.stop(hours(5));
    BOOST_TEST(early.cancel());  // gives up the waiting only
    loop.selector().set_patience(milliseconds(0));
    loop.run_for(seconds(6));
    run_until([&] { return late.done(); });
    BOOST_TEST(late.result().signal() == SIGKILL);
    BOOST_TEST((never.result() == late.result()));
}

// ---- signals --------------------------------------------------------------------------------

PROCESS_TEST(signals_reach_a_child_and_nobody_after_its_end) {
    Process child =
        shell("trap 'echo usr1; exit 5' USR1; echo there; while :; do sleep 0.01; done");
    wait_until_there(*this, child);
    BOOST_TEST(child.send_signal(SIGUSR1));
    BOOST_TEST(loop.run_until_complete(child.output().read_line()) == "usr1\n");
    BOOST_TEST(loop.run_until_complete(child.wait()).code() == 5);
    BOOST_TEST(!child.send_signal(SIGUSR1));
    BOOST_TEST(!child.terminate());
    BOOST_TEST(!child.kill());
    BOOST_CHECK_THROW(child.send_signal(0), std::invalid_argument);
    BOOST_CHECK_THROW(child.send_signal(1000), std::invalid_argument);
}

PROCESS_TEST(a_child_whose_end_is_unseen_gets_no_signal) {
    nothing_reaches_a_child_whose_end_is_unseen(*this);
}

PROCESS_TEST(a_child_that_is_terminated_or_killed) {
    Process first = shell("exec sleep 1000");
    Process second = shell("exec sleep 1000");
    BOOST_TEST(first.terminate());
    BOOST_TEST(second.kill());
    BOOST_TEST(loop.run_until_complete(first.wait()).signal() == SIGTERM);
    BOOST_TEST(loop.run_until_complete(second.wait()).signal() == SIGKILL);
}

// ---- pipes ----------------------------------------------------------------------------------

PROCESS_TEST(a_child_that_floods_its_pipe_is_held_up) {
    Process child = shell("exec yes 'some line of text'");
    loop.run_until_complete(child.output().read_line());
    child.output().set_limit(1000);
    run_until([&] { return !child.output().transport().is_reading(); });
    loop.run_until_idle();  // nothing to do any more: it waits
    BOOST_TEST(child.running());
    for (int i = 0; i < 10000; ++i) {
        BOOST_REQUIRE(loop.run_until_complete(child.output().read_line()) == "some line of text\n");
    }
    BOOST_TEST(child.kill());
    BOOST_TEST(loop.run_until_complete(child.wait()).signal() == SIGKILL);
}

PROCESS_TEST(the_input_of_a_child_that_has_ended_is_a_broken_pipe) {
    Process child = shell("exit 0");
    const std::string name =
        "send to standard input of sh, process " + std::to_string(child.pid()) + ": Broken pipe";
    BOOST_TEST(loop.run_until_complete(child.wait()).success());
    child.input().write("too late");
    loop.run_until_idle();
    const Promise<void> drain = child.input().drain();
    BOOST_CHECK_EXCEPTION(drain.result(), std::system_error,
                          [&](const std::system_error& error) { return error.what() == name; });
}

PROCESS_TEST(streams_may_leave_the_process) {
    Stream out;
    {
        Process child = shell("echo kept");
        out = std::move(child.output());
        BOOST_TEST(loop.run_until_complete(child.wait()).success());
    }
    BOOST_TEST(all(out) == "kept\n");
}

// ---- waiting --------------------------------------------------------------------------------

PROCESS_TEST(any_number_may_wait_and_give_up) {
    Process child = shell("read line; exit 4");
    const Promise<ExitStatus> first = child.wait();
    const Promise<ExitStatus> second = child.wait();
    const Promise<ExitStatus> third = child.wait();
    BOOST_TEST(second.cancel());
    child.input().write("go\n");
    BOOST_TEST(loop.run_until_complete(third).code() == 4);
    BOOST_TEST(first.result().code() == 4);
    BOOST_TEST(second.cancelled());
}

PROCESS_TEST(foreign_children_are_left_alone) {
    const ::pid_t foreign = ::fork();
    if (foreign == 0) ::_exit(77);
    Process child = shell("exit 1");
    BOOST_TEST(loop.run_until_complete(child.wait()).code() == 1);
    struct ::sigaction action;
    ::sigaction(SIGCHLD, nullptr, &action);
    BOOST_TEST((action.sa_handler == SIG_DFL));
    int status = 0;
    BOOST_TEST(::waitpid(foreign, &status, 0) == foreign);
    BOOST_TEST(WEXITSTATUS(status) == 77);
}

PROCESS_TEST(a_status_that_somebody_else_has_taken_is_told_as_an_error) {
    Process child = shell("read line");
    const Promise<ExitStatus> waiting = child.wait();
    ::kill(child.pid(), SIGKILL);
    int status = 0;
    BOOST_TEST(::waitpid(child.pid(), &status, 0) == child.pid());
    run_until([&] { return waiting.done(); });
    BOOST_CHECK_EXCEPTION(waiting.result(), std::system_error, [&](const std::system_error& error) {
        return error.code().value() == ECHILD && error.what() == "wait for sh, process " +
                                                                     std::to_string(child.pid()) +
                                                                     ": No child processes";
    });
    BOOST_TEST(!child.kill());
}

// Another part of the program has taken the status of the first one, and the system has given its
// number to the second.
PROCESS_TEST(a_number_that_is_given_again_ends_the_child_that_had_it) {
    using reactor::net::detail::ChildService;
    using reactor::net::detail::ChildState;
    ChildService& service = loop.service<ChildService>();
    const ::pid_t pid = ::fork();
    if (pid == 0) {
        ::pause();
        ::_exit(0);
    }
    const auto first = std::make_shared<ChildState>(loop, pid, "first", false);
    service.add(first);
    first->watch(service);
    const Promise<ExitStatus> lost = first->wait(reactor::Here());
    const auto second = std::make_shared<ChildState>(loop, pid, "second", false);
    service.add(second);
    second->watch(service);
    BOOST_CHECK_EXCEPTION(
        loop.run_until_complete(lost), std::system_error, [](const std::system_error& error) {
            return error.what() ==
                   std::string("wait for first: ") + std::system_category().message(ECHILD);
        });
    BOOST_TEST(!first->running());
    const Promise<ExitStatus> waiting = second->wait(reactor::Here());
    BOOST_TEST(second->send_signal(SIGKILL));
    BOOST_TEST(loop.run_until_complete(waiting).signal() == SIGKILL);
}

// ---- dropped --------------------------------------------------------------------------------

PROCESS_TEST(a_process_that_is_dropped_kills_its_child) {
    int pid;
    {
        Process child = shell(stubborn);
        pid = child.pid();
    }
    BOOST_TEST(log == "a Process is destroyed whose child runs, which is killed: sh, process " +
                          std::to_string(pid) + '\n');
    log.clear();
    run_until([&] { return ended(pid); });
}

PROCESS_TEST(nobody_is_warned_where_it_was_meant) {
    int killed, stopped;
    {
        Process first = shell("exec sleep 1000");
        Process second = shell("echo there; exec sleep 1000");
        wait_until_there(*this, second);
        killed = first.pid();
        stopped = second.pid();
        first.kill();
        second.stop(hours(1));
    }
    run_until([&] { return ended(killed) && ended(stopped); });
    BOOST_TEST(loop.timer_count() == 0u);
}

PROCESS_TEST(a_detached_child_goes_on_and_is_no_zombie_in_the_end) {
    Stream in;
    int pid;
    {
        Process child = shell("read line");
        pid = child.pid();
        in = std::move(child.input());
        child.detach();
    }
    loop.run_iterations(5);
    BOOST_TEST(!ended(pid));
    in.write("go\n");
    run_until([&] { return ended(pid); });
}

PROCESS_TEST(a_start_that_is_cancelled_leaves_nothing) {
    Promise<Process> starting = start_process(loop, "sleep", {"1000"}, piped());
    BOOST_TEST(starting.cancel());
    loop.run_until_idle();
    starting = start_process(loop, "sleep", {"1000"}, piped());
    loop.run_iterations(1);
    BOOST_TEST(have_children());
    BOOST_TEST(starting.cancel());
    run_until([&] { return !have_children(); });
    BOOST_TEST(starting.cancelled());
}

PROCESS_TEST(a_closing_loop_kills_its_children_and_leaves_no_zombie) {
    Process child = shell(stubborn);
    const Promise<ExitStatus> waiting = child.wait();
    const Promise<Process> starting = start_process(loop, "sleep", {"1000"}, piped());
    loop.run_iterations(1);
    BOOST_TEST(have_children());
    loop.close();
    BOOST_TEST(waiting.cancelled());
    BOOST_TEST(!child.running());
    BOOST_TEST(!child.kill());
    BOOST_CHECK_THROW(child.wait(), StateError);
}

PROCESS_TEST(a_detached_child_that_goes_on_keeps_no_other_one_a_zombie) {
    Process first = start("sleep", {"1000"}, ProcessOptions());
    Process other = start("sleep", {"1000"}, ProcessOptions());
    Process last = start("sleep", {"1000"}, ProcessOptions());
    first.detach();
    other.detach();
    loop.close();
    for (int i = 0; i < 2000 && !ended(last.pid()); ++i) ::poll(nullptr, 0, 5);
    BOOST_TEST(ended(last.pid()));
    BOOST_TEST(!ended(first.pid()));
    ::kill(other.pid(), SIGKILL);
    for (int i = 0; i < 2000 && !ended(other.pid()); ++i) ::poll(nullptr, 0, 5);
    BOOST_TEST(ended(other.pid()));
    ::kill(first.pid(), SIGKILL);
}

PROCESS_TEST(a_forked_copy_of_the_program_leaves_the_children_alone) {
    std::unique_ptr<Process> child(new Process(start("cat", {}, piped())));
    const ::pid_t copy = ::fork();
    if (copy == 0) {
        child.reset();
        loop.close();
        ::_exit(0);
    }
    int status = 0;
    BOOST_TEST(::waitpid(copy, &status, 0) == copy);
    BOOST_TEST(status == 0);
    child->input().write("alive\n");
    BOOST_TEST(loop.run_until_complete(child->output().read_line()) == "alive\n");
    child->input().close();
    BOOST_TEST(loop.run_until_complete(child->wait()).success());
}

// ---- without a pidfd ------------------------------------------------------------------------

REACTOR_LOOP_TEST_IN(WithoutPidfd, a_thread_tells_of_the_end) {
    Process child = shell("echo there; read line; exit 9");
    wait_until_there(*this, child);
    child.input().write("go\n");
    BOOST_TEST(loop.run_until_complete(child.wait()).code() == 9);
    Process other = shell("exec sleep 1000");
    BOOST_TEST(loop.run_until_complete(other.stop(hours(1))).signal() == SIGTERM);
    BOOST_TEST(!other.kill());
}

REACTOR_LOOP_TEST_IN(WithoutPidfd, a_child_whose_end_is_unseen_gets_no_signal_by_number) {
    nothing_reaches_a_child_whose_end_is_unseen(*this);
}

REACTOR_LOOP_TEST_IN(WithoutPidfd, a_dropped_process_is_killed_and_a_closing_loop_kills) {
    int pid;
    {
        Process child = shell("exec sleep 1000");
        pid = child.pid();
        child.kill();
    }
    run_until([&] { return ended(pid); });
    Process left = shell(stubborn);
    loop.close();
}

REACTOR_LOOP_TEST_IN(WithoutPidfd, a_refused_program_is_gone_when_that_is_told) {
    int code;
    BOOST_TEST(refusal("/nowhere/program", piped(), code) ==
               "run /nowhere/program: No such file or directory");
    BOOST_TEST(code == ENOENT);
}

BOOST_AUTO_TEST_SUITE_END()
