// SPDX-License-Identifier: BSL-1.0
#include "supervisor.hpp"

using namespace supervisor_test;

namespace {

/// Says that it is there once its trap is.
std::string stubborn(const std::string& head) {
    return shell(head, "trap '' TERM; echo there; while :; do sleep 0.01; done");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(supervisor_shutdown)

BOOST_AUTO_TEST_CASE(in_reverse_order_one_after_the_other) {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        Supervisor running({"c after=b: sleep 1000", "a: sleep 1000", "b after=a: sleep 1000"});
        running.wait_for("c * runs");
        const Exit exit = running.stop(signal);
        const Summary summary(exit);
        BOOST_TEST(summary.stopped == 3u);
        BOOST_TEST(summary.starts == 3u);
        std::size_t at = 0;
        for (const char* line :
             {"a * runs", "b * runs", "c * runs", "Ending: 3 programs run\n",
              "c * is asked to end: SIGTERM\n", "c * has ended", "b * is asked", "b * has ended",
              "a * is asked", "a * has ended", "Ended: 3 stopped"}) {
            at = exit.out.find(line, at);
            BOOST_TEST_REQUIRE((at != std::string::npos), "no '" << line << "' in " << exit.text());
        }
    }
}

BOOST_AUTO_TEST_CASE(each_by_its_own_signal_and_all_that_it_says_is_printed) {
    Supervisor running(
        {shell("a stop=INT grace=1000",
               "trap 'i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done; "
               "echo done >&2; exit 5' INT; echo there; while :; do sleep 0.01; done")});
    running.wait_for("a | there");
    const Exit exit = running.stop();
    BOOST_TEST(Summary(exit).stopped == 1u);
    BOOST_TEST(contains(exit.out, "a * is asked to end: SIGINT\n"));
    const std::size_t end = position(exit.out, "a * has ended");
    BOOST_TEST(position(exit.out, "a | line 999\n") < end);
    BOOST_TEST(position(exit.out, "a ! done\n") < end);
    BOOST_TEST(lines_in(exit.out) == 1000u + 7, exit.text());
    BOOST_TEST(contains(exit.out.substr(end), ": exit code 5\n"));
}

BOOST_AUTO_TEST_CASE(who_ignores_it_is_killed_after_its_grace_with_its_group) {
    // The others have theirs.
    Supervisor running({shell("a grace=1000",
                              "trap 'exit 0' TERM; echo there; "
                              "while :; do sleep 0.01; done"),
                        stubborn("b grace=0.05")});
    running.wait_for("a | there");
    running.wait_for("b | there");
    const Exit exit = running.stop();
    const Summary summary(exit);
    BOOST_TEST(summary.stopped == 1u);
    BOOST_TEST(summary.killed == 1u);
    BOOST_TEST(contains(exit.out, "b * has not ended within 0.05 s: is killed\n"), exit.text());
    BOOST_TEST(contains(exit.out, ": SIGKILL (signal 9)\n"));
    BOOST_TEST(position(exit.out, "b * has ended") < position(exit.out, "a * is asked"));
}

BOOST_AUTO_TEST_CASE(a_second_signal_kills_all_at_once) {
    for (const int second : {SIGTERM, SIGINT}) {
        Supervisor running(
            {"a grace=1000: sleep 1000", stubborn("b grace=1000"), "c pause=1000: false"});
        running.wait_for("b | there");
        running.wait_for("c * has ended");
        running.process().send_signal(SIGTERM);
        running.wait_for("b * is asked");
        const Exit exit = running.stop(second);
        const Summary summary(exit);
        BOOST_TEST(summary.killed == 2u, exit.text());
        BOOST_TEST(summary.stopped == 1u, exit.text());
        BOOST_TEST(!contains(exit.out, "a * is asked"), exit.text());
    }
}

BOOST_AUTO_TEST_CASE(who_has_ended_and_is_still_read_from_counts_as_stopped) {
    // One that has left the group of a holds its pipe, and b is killed meanwhile.
    Fifo go;
    Supervisor running({stubborn("b grace=1000"),
                        shell("a", "trap 'exit 0' TERM; setsid sh -c 'echo gone; read x < " +
                                       go.path() + "' & while :; do sleep 0.01; done")},
                       {"--linger", "1000"});
    running.wait_for("a | gone");
    running.wait_for("b | there");
    const std::string runs = "a * runs, process ";
    const ::pid_t a = std::stoi(running.output().substr(running.output().find(runs) + runs.size()));
    running.process().send_signal(SIGTERM);
    for (int i = 0; i < 10000 && ::kill(a, 0) == 0; ++i) ::poll(nullptr, 0, 2);
    running.process().send_signal(SIGTERM);
    running.wait_for("b * is killed");
    go.send("go\n");
    const Summary summary(running.process().wait());
    BOOST_TEST(summary.stopped == 1u);
    BOOST_TEST(summary.killed == 1u);
}

BOOST_AUTO_TEST_CASE(nothing_comes_back_meanwhile) {
    // While b takes its time, a ends by itself: it is not started again.
    Fifo end_a, end_b;
    Supervisor running({shell("a pause=0.001", "read x < " + end_a.path()),
                        shell("b grace=1000", "trap 'read x < " + end_b.path() +
                                                  "; exit 0' TERM; echo there; "
                                                  "while :; do sleep 0.01; done")});
    running.wait_for("b | there");
    running.process().send_signal(SIGTERM);
    running.wait_for("b * is asked");
    end_a.send("go\n");
    running.wait_for("a * has ended");
    end_b.send("go\n");
    const Summary summary(running.process().wait());
    BOOST_TEST(summary.stopped == 2u);
    BOOST_TEST(summary.starts == 2u);
}

BOOST_AUTO_TEST_CASE(a_pause_is_over_at_once) {
    Supervisor running({"a pause=1000 longest=1000: false", "b pause=1000: no-such-program"});
    running.wait_for("a * has ended");
    running.wait_for("b * cannot be started");
    const Summary summary(running.stop());
    BOOST_TEST(summary.stopped == 2u);
    BOOST_TEST(summary.starts == 2u);
}

BOOST_AUTO_TEST_CASE(nohup_keeps_its_word) {
    support::Command ignoring = supervisor_command({"a: sleep 1000"});
    ignoring.ignored_signals = {SIGHUP};
    support::ChildProcess process(ignoring);
    BOOST_REQUIRE(process.wait_for_output("a * runs"));
    process.send_signal(SIGHUP);
    process.send_signal(SIGTERM);
    const Exit exit = process.wait();
    BOOST_TEST(Summary(exit).stopped == 1u, exit.text());
    BOOST_TEST(!contains(exit.out, "is killed"), exit.text());  // one signal, not two
}

BOOST_AUTO_TEST_SUITE_END()
