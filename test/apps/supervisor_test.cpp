// SPDX-License-Identifier: BSL-1.0
#include "supervisor.hpp"

#include <map>

using namespace supervisor_test;

namespace {

/// The lines that begin so, without that.
Strings lines_of(const Exit& exit, const std::string& prefix) {
    Strings lines;
    for (const std::string& line : exit.lines()) {
        if (line.compare(0, prefix.size(), prefix) == 0)
            lines.push_back(line.substr(prefix.size()));
    }
    return lines;
}

Exit run(const Strings& all, const Strings& options = {}) {
    const Exit exit = support::run(supervisor_command(all, options));
    BOOST_TEST_REQUIRE(!exit.timed_out, exit.text());
    return exit;
}

bool is_zombie(::pid_t pid) {
    const std::string stat = support::read_file("/proc/" + std::to_string(pid) + "/stat");
    return contains(stat, ") Z ");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(supervisor_programs)

// ---- one run --------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(lines_and_ends_are_told_with_the_name_in_front) {
    const Exit exit =
        run({shell("web restart=never", "echo out; echo err >&2; printf unended"),
             shell("job restart=never", "exit 3"), shell("bad restart=never", "kill -9 $$")});
    const Summary summary(exit, 1);
    BOOST_TEST(lines_of(exit, "web | ") == (Strings{"out", "unended"}), exit.text());
    BOOST_TEST(lines_of(exit, "web ! ") == (Strings{"err"}));
    const auto told = [&](const std::string& name, const std::string& end) {
        const Strings lines = lines_of(exit, name + " * ");
        BOOST_TEST_REQUIRE(lines.size() == 2u, exit.text());
        BOOST_TEST(lines[0].compare(0, 14, "runs, process ") == 0, lines[0]);
        BOOST_TEST(lines[1].compare(0, 16, "has ended after ") == 0, lines[1]);
        BOOST_TEST(lines[1].substr(lines[1].find(": ")) == ": " + end);
    };
    told("web", "exit code 0");
    told("job", "exit code 3");
    told("bad", "SIGKILL (signal 9)");
    // Its end comes behind its last words.
    BOOST_TEST(position(exit.out, "web ! err") < position(exit.out, "web * has ended"));
    BOOST_TEST(position(exit.out, "web | unended") < position(exit.out, "web * has ended"));
    BOOST_TEST(summary.succeeded == 1u);
    BOOST_TEST(summary.failed == 2u);
    BOOST_TEST(summary.starts == 3u);
}

BOOST_AUTO_TEST_CASE(all_have_ended_well) {
    const Exit exit = run({"a restart=never: true", "b restart=on-failure: true"});
    const Summary summary(exit);
    BOOST_TEST(summary.succeeded == 2u);
    BOOST_TEST(!contains(exit.out, "Ending: "));
}

BOOST_AUTO_TEST_CASE(a_program_finds_a_session_and_nothing_to_read) {
    const Exit exit = run({shell("a restart=never",
                                 "cat; echo $$; ps -o sid= -o pgid= -p $$ || "
                                 "cut -d' ' -f6,5 /proc/$$/stat")});
    const Strings lines = lines_of(exit, "a | ");
    BOOST_TEST_REQUIRE(lines.size() == 2u, exit.text());
    std::istringstream ids(lines[1]);
    std::string session, group;
    ids >> session >> group;
    BOOST_TEST(session == lines[0]);
    BOOST_TEST(group == lines[0]);
}

BOOST_AUTO_TEST_CASE(a_file_says_what_is_to_run) {
    const support::TemporaryDirectory directory;
    const std::string conf = directory / "conf";
    support::write_file(conf,
                        "# two\n"
                        "second after=first restart=never: echo 'two words'\n"
                        "first restart=never: sh -c 'echo \"$0 $1\"' a \"b  c\"\n");
    const Exit exit = run({"third restart=never: echo 3"}, {conf});
    Summary(exit, 0);
    BOOST_TEST(lines_of(exit, "first | ") == (Strings{"a b  c"}), exit.text());
    BOOST_TEST(lines_of(exit, "second | ") == (Strings{"two words"}));
    BOOST_TEST(position(exit.out, "first * runs") < position(exit.out, "second * runs"));
    BOOST_TEST(position(exit.out, "second * runs") < position(exit.out, "third * runs"));
}

// ---- again ----------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(what_ends_is_started_again) {
    Supervisor running({"a pause=0.001 longest=0.002: true"});
    running.wait_for_starts("a", 10);
    const Summary summary(running.stop());
    BOOST_TEST(summary.stopped == 1u);
    BOOST_TEST(summary.starts >= 10u);
}

BOOST_AUTO_TEST_CASE(on_failure_until_it_succeeds) {
    const support::TemporaryDirectory directory;
    const std::string file = directory / "file";
    const Exit exit = run({shell("a restart=on-failure pause=0.001",
                                 "test -e " + file + " && exit 0; touch " + file + "; exit 1")});
    const Summary summary(exit);
    BOOST_TEST(summary.succeeded == 1u);
    BOOST_TEST(summary.starts == 2u);
    BOOST_TEST(contains(exit.out, ": exit code 1; again in "), exit.text());
}

BOOST_AUTO_TEST_CASE(given_up_after_so_many_in_a_row) {
    const Exit exit = run({"a tries=3 pause=0.001: false", "b restart=never: true"});
    const Summary summary(exit, 1);
    BOOST_TEST(summary.given_up == 1u);
    BOOST_TEST(summary.succeeded == 1u);
    BOOST_TEST(summary.starts == 4u);
    BOOST_TEST(
        contains(exit.out, ": exit code 1; given up, as that was number 3 in a row within 10 s\n"),
        exit.text());
}

BOOST_AUTO_TEST_CASE(pauses_grow_until_a_run_was_stable) {
    const auto pauses = [](const Exit& exit) {
        std::vector<double> all;
        for (const std::string& line : exit.lines()) {
            const std::size_t at = line.find("again in ");
            if (at != std::string::npos) all.push_back(std::stod(line.substr(at + 9)));
        }
        return all;
    };
    // Chance makes of each pause between a half and the whole.
    const std::vector<double> grown = pauses(run({"a tries=8 pause=0.02: false"}));
    BOOST_TEST_REQUIRE(grown.size() == 7u);
    BOOST_TEST(grown.front() <= 0.02);
    BOOST_TEST(grown.back() >= 0.16);
    const std::vector<double> most = pauses(run({"a tries=8 pause=0.02 longest=0.02: false"}));
    BOOST_TEST(most.back() <= 0.02);
    // Every run counts as stable: it is never given up, and the first pause stays.
    Supervisor stable({"a tries=1 stable=0 pause=0.02: false"});
    stable.wait_for_starts("a", 8);
    for (const double pause : pauses(stable.stop())) BOOST_TEST(pause <= 0.02);
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_be_started_is_named_and_tried_again) {
    const support::TemporaryDirectory directory;
    const std::string late = directory / "late";
    Supervisor running({"nowhere tries=2 pause=0.001: no-such-program",
                        "path restart=never: /etc/passwd", "late pause=0.001 longest=0.01: " + late,
                        "next restart=never: echo next"});
    // The others are not held up.
    running.wait_for("next | next");
    running.wait_for("late * cannot be started: run " + late +
                     ": No such file or directory; again in ");
    support::write_file(directory / "made", "#!/bin/sh\necho here; exec sleep 1000\n");
    BOOST_REQUIRE(::chmod((directory / "made").c_str(), 0700) == 0);
    BOOST_REQUIRE(::rename((directory / "made").c_str(), late.c_str()) == 0);
    running.wait_for("late | here");
    running.wait_for(
        "nowhere * cannot be started: run no-such-program, looked for in PATH: No such "
        "file or directory; given up, as that was number 2 in a row");
    running.wait_for("next * has ended");
    const Summary summary(running.stop());
    BOOST_TEST(summary.given_up == 1u);
    BOOST_TEST(summary.stopped == 1u);
    BOOST_TEST(summary.failed == 1u);
    BOOST_TEST(contains(running.output(),
                        "path * cannot be started: run /etc/passwd: Permission denied\n"));
}

// ---- output ---------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(lines_of_many_are_never_mixed_and_stay_in_order) {
    const std::string script =
        "i=0; while [ $i -lt 300 ]; do printf 'be'; printf \"gun $i\\n\"; "
        "printf 'er' >&2; printf \"ror $i\\n\" >&2; i=$((i+1)); done";
    const Exit exit = run({shell("a restart=never", script), shell("b restart=never", script),
                           shell("c restart=never", script)});
    BOOST_TEST(Summary(exit).succeeded == 3u);
    std::map<std::string, int> next;
    int lines = 0;
    for (const std::string& line : exit.lines()) {
        const std::string prefix = line.substr(0, 4);
        const std::string word = prefix[2] == '|' ? "begun " : "error ";
        if (prefix[1] != ' ' || (prefix[2] != '|' && prefix[2] != '!')) continue;
        BOOST_TEST_REQUIRE(line == prefix + word + std::to_string(next[prefix]));
        ++next[prefix];
        ++lines;
    }
    BOOST_TEST(lines == 6 * 300);
}

BOOST_AUTO_TEST_CASE(a_line_that_is_too_long_is_cut_visibly) {
    const Exit exit = run({shell("a restart=never",
                                 "echo 1234567890; echo 12345678901; echo; "
                                 "head -c 1000000 /dev/zero | tr '\\0' x; echo; printf end")},
                          {"--line", "10"});
    const std::string cut = " [cut: longer than 10 bytes]";
    BOOST_TEST(lines_of(exit, "a | ") ==
                   (Strings{"1234567890", "1234567890" + cut, "", "xxxxxxxxxx" + cut, "end"}),
               exit.text());
}

// Nobody reads what the supervisor prints.
BOOST_AUTO_TEST_CASE(a_flood_is_held_up) {
    constexpr std::size_t much = 64 * 1024 * 1024;
    Fifo flood;
    Supervisor running({"flood: cat " + flood.path()});
    running.wait_for("runs");
    const std::string line = std::string(99, 'x') + '\n';
    std::string piece;
    for (int i = 0; i < 40; ++i) piece += line;  // fits into a pipe as a whole
    const std::size_t sent = flood.send_until_full(piece, much);
    BOOST_TEST(sent < 4u * 1024 * 1024);
    // All of it comes in the end.
    const std::string printed = "flood | " + line;
    while (std::count(running.output().begin(), running.output().end(), 'x') <
           static_cast<std::ptrdiff_t>(sent / 100 * 99)) {
        running.wait_for_more();
    }
    BOOST_TEST(contains(running.output(), printed + printed));
    BOOST_TEST(Summary(running.stop()).stopped == 1u);
}

BOOST_AUTO_TEST_CASE(a_flood_does_not_starve_the_others) {
    Fifo quiet;
    Supervisor running({"first: yes", "second: yes", "quiet: cat " + quiet.path()});
    running.wait_for("quiet * runs");
    for (int i = 0; i < 5; ++i) {
        quiet.send("hello " + std::to_string(i) + '\n');
        running.wait_for("quiet | hello " + std::to_string(i) + '\n');
    }
    BOOST_TEST(contains(running.output(), "first | y\n"));
    BOOST_TEST(contains(running.output(), "second | y\n"));
    const Exit exit = running.stop();
    BOOST_TEST(Summary(exit).stopped == 3u);
    for (const std::string& text : exit.lines()) {
        if (text.size() < 10) BOOST_TEST_REQUIRE((text == "first | y" || text == "second | y"));
    }
}

BOOST_AUTO_TEST_CASE(the_output_may_be_a_file) {
    const support::TemporaryDirectory directory;
    const std::string log = directory / "log";
    const Exit exit = support::run(
        support::Command({"sh", "-c", "exec \"$0\" --run \"$1\" > \"$2\"",
                          programs::path_of("supervisor"), "a restart=never: echo hello", log}));
    BOOST_TEST(exit.status == 0, exit.text());
    const std::string text = support::read_file(log);
    BOOST_TEST(position(text, "a | hello\n") < position(text, "Ended: "));
}

BOOST_AUTO_TEST_CASE(an_output_that_nobody_takes_is_the_end) {
    const auto through = [](const std::string& where) {
        // Its status, and what it says.
        return support::run(
            support::Command({"sh", "-c", "{ \"$0\" --run \"$1\"; echo status $? >&2; } " + where,
                              programs::path_of("supervisor"), "a: yes"}));
    };
    const Exit gone = through("| head -n 1");
    BOOST_TEST(contains(gone.err, "Broken pipe\nstatus 1\n"), gone.text());
    BOOST_TEST(lines_in(gone.err) == 2u, gone.text());
    const Exit full = through("> /dev/full");
    BOOST_TEST(contains(full.err, "No space left on device\nstatus 1\n"), full.text());
    const Exit closed = through(">&-");
    BOOST_TEST(closed.err == "supervisor: standard output: Bad file descriptor\nstatus 1\n",
               closed.text());
}

// ---- what is left ---------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(errors_that_nobody_reads_do_not_end_it_otherwise) {
    Supervisor running({"a: sleep 1000"});
    running.wait_for("a * runs");
    running.process().close_errors();
    running.process().close_output();
    const Exit exit = running.process().wait();
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(exit.signal == 0);
}

BOOST_AUTO_TEST_CASE(children_of_a_child_end_with_it) {
    // They hold its pipe: its end would not be seen for long.
    const Exit exit =
        run({shell("a restart=never", "sleep 1000 & echo there")}, {"--linger", "1000"});
    BOOST_TEST(Summary(exit).succeeded == 1u);
    BOOST_TEST(!contains(exit.out, "no longer read"), exit.text());
}

BOOST_AUTO_TEST_CASE(who_has_left_its_group_and_holds_its_pipe_is_not_waited_for) {
    // One that is silent: for no longer than that; one that floods: for as much as a pipe may hold.
    const std::vector<Strings> ways = {{"sleep 1000", "0.05"}, {"yes", "1000"}};
    for (const Strings& way : ways) {
        Fifo go;
        Supervisor running({shell("a restart=never", "setsid sh -c 'echo $$; exec " + way[0] +
                                                         "' & read x < " + go.path())},
                           {"--linger", way[1]});
        running.wait_for("a | ");
        const std::size_t at = running.output().find("a | ");
        while (running.output().find('\n', at) == std::string::npos) running.wait_for_more();
        const ::pid_t left = std::stoi(running.output().substr(at + 4));
        go.send("go\n");
        const Exit exit = running.process().wait();
        ::kill(left, SIGKILL);  // unless SIGPIPE was faster
        BOOST_TEST(Summary(exit).succeeded == 1u);
        BOOST_TEST(
            contains(exit.out, "a | [no longer read: another process holds its pipe open]\n"));
    }
}

BOOST_AUTO_TEST_CASE(no_zombies_and_no_descriptors_are_left) {
    Supervisor running({"a pause=0.001 longest=0.001: true", "b restart=never: true"});
    const std::string own = "/proc/" + std::to_string(running.process().pid());
    running.wait_for_starts("a", 3);
    running.wait_for("b * has ended");
    const std::size_t before = support::names_in(own + "/fd").size();
    running.wait_for_starts("a", 60);
    // Each run has its pipes for a while.
    BOOST_TEST(support::names_in(own + "/fd").size() < before + 10);
    std::istringstream children(
        support::read_file(own + "/task/" + std::to_string(running.process().pid()) + "/children"));
    std::size_t count = 0;
    for (std::string pid; children >> pid;) ++count;
    BOOST_TEST(count <= 1u);
    running.stop();
}

// It has two children before it begins: one that ends, and one that goes on.
BOOST_AUTO_TEST_CASE(foreign_children_are_left_alone) {
    Fifo end;
    const std::string script = "(read x < " + end.path() +
                               "; exit 7) & echo $!; sleep 1000 >/dev/null 2>&1 & echo $!; "
                               "exec \"$0\" --run \"$1\"";
    support::ChildProcess process(
        support::Command({"sh", "-c", script, programs::path_of("supervisor"),
                          "a pause=0.001 longest=0.001: false"}));
    BOOST_REQUIRE(process.wait_for_output("a * runs"));
    end.send("end\n");
    std::istringstream numbers(process.output());
    ::pid_t ended = 0, sleeping = 0;
    numbers >> ended >> sleeping;
    while (!is_zombie(ended)) BOOST_TEST_REQUIRE(::kill(ended, 0) == 0);
    // After the end of one more of its own, the status is still there for whoever asks.
    const std::size_t size = process.output().size();
    while (process.output().find("a * has ended", size) == std::string::npos) {
        BOOST_TEST_REQUIRE(process.pump());
    }
    BOOST_TEST(is_zombie(ended));
    process.send_signal(SIGTERM);
    BOOST_TEST(Summary(process.wait()).stopped == 1u);
    BOOST_TEST(::kill(sleeping, SIGKILL) == 0);
}

BOOST_AUTO_TEST_CASE(sigchld_may_have_been_ignored) {
    support::Command ignoring = supervisor_command({"a restart=never: false"});
    ignoring.ignored_signals = {SIGCHLD};
    const Exit exit = support::run(ignoring);
    BOOST_TEST(Summary(exit, 1).failed == 1u);
    BOOST_TEST(contains(exit.out, ": exit code 1\n"), exit.text());
}

BOOST_AUTO_TEST_SUITE_END()
