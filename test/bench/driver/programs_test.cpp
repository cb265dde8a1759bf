// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/programs.hpp>

#include <cstdlib>
#include <string>

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include <test/support/temporary_directory.hpp>

using bench::Cell;
using bench::LeftOut;
using bench::Programs;
using bench::RunFailed;

namespace {

struct Fixture {
    support::TemporaryDirectory directory;
    std::vector<LeftOut> left_out;
    Programs programs{directory.path()};

    void add(const std::string& name, const std::string& script) const {
        const std::string path = directory / name;
        support::write_file(path, "#!/bin/sh\n" + script);
        BOOST_TEST_REQUIRE(chmod(path.c_str(), 0755) == 0);
    }
    Cell cell(const std::string& program) const {
        return {directory / program, "echo", "ours", 100, 10, bench::Kind::time};
    }
    RunFailed failure(const std::string& script) const {
        add("one_bench", script);
        try {
            programs.run(cell("one_bench"), 100);
        } catch (const RunFailed& error) {
            return error;
        }
        BOOST_FAIL("it has not failed");
        std::abort();
    }
};

/// A valgrind and a strace in PATH that run the program and then write what they would.
struct Counters : Fixture {
    std::string path = std::getenv("PATH");

    Counters() {
        add("valgrind",
            "for word; do case $word in --callgrind-out-file=*) file=${word#*=};; esac; done\n"
            "while case $1 in -*) true;; *) false;; esac; do shift; done\n"
            "\"$@\" && echo 'totals: 5000' > $file\n");
        // As many calls as operations, five times, and what a program needs to start.
        add("strace",
            "file=$3; shift 3; \"$@\" && echo \"100.00 0.000005 1 $(($4 * 5 + 100)) total\" > "
            "$file\n");
        add("one_bench", "echo $1 $2 $3 1.5\n");
        setenv("PATH", (directory.path() + ":" + path).c_str(), 1);
    }
    ~Counters() { setenv("PATH", path.c_str(), 1); }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(all_programs_of_the_folder_list_their_cells, Fixture) {
    add("a_bench", "[ $1 = list ] && echo echo ours 100 10\n");
    add("b_bench", "[ $1 = list ] && echo echo libuv 100 10\n");
    add("driver", "echo never ours 1 0\n");
    const std::vector<Cell> cells = programs.list(left_out);
    BOOST_TEST_REQUIRE(cells.size() == 2u);
    BOOST_TEST(cells[0].program == directory / "a_bench");
    BOOST_TEST(cells[1].implementation == "libuv");
    BOOST_TEST(left_out.empty());
}

BOOST_FIXTURE_TEST_CASE(what_a_program_leaves_out_is_named, Fixture) {
    add("a_bench", "echo echo ours 100 10; echo 'echo-1000: left out, few descriptors' >&2\n");
    add("b_bench", "echo no python >&2; exit 1\n");
    add("c_bench", "echo some nonsense\n");
    BOOST_TEST(programs.list(left_out).size() == 1u);
    BOOST_TEST_REQUIRE(left_out.size() == 3u);
    BOOST_TEST(left_out[0].what == "echo-1000");
    BOOST_TEST(left_out[0].why == "few descriptors");
    BOOST_TEST(left_out[1].what == "b_bench");
    BOOST_TEST(left_out[1].why == "no python");
    BOOST_TEST(left_out[2].what == "c_bench");
}

BOOST_AUTO_TEST_CASE(peers_that_are_not_there_are_named_once) {
    const std::vector<Cell> cells = {{"", "echo", "libuv", 1, 0, bench::Kind::time}};
    std::vector<LeftOut> left_out = {{"asyncio", "no python"}};
    name_absent_peers(cells, left_out);
    int libuv = 0, libev = 0, asyncio = 0, executor = 0;
    for (const LeftOut& one : left_out) {
        libuv += one.what == "libuv";
        libev += one.what == "libev";
        asyncio += one.what == "asyncio";
        executor += one.what == "boost-future-executor";
    }
    BOOST_TEST(libuv == 0);
    BOOST_TEST(libev == 1);
    BOOST_TEST(asyncio == 1);
    BOOST_TEST(executor == 1);
}

BOOST_FIXTURE_TEST_CASE(versions_are_those_of_all_programs, Fixture) {
    add("a_bench", "echo libuv libuv 1.44\n");
    add("b_bench", "echo libuv libuv 1.44; echo libev libev 4.33\n");
    add("c_bench", "exit 2\n");
    const bench::Versions versions = programs.versions();
    BOOST_TEST_REQUIRE(versions.size() == 2u);
    BOOST_TEST(versions[1].second == "libev 4.33");
}

BOOST_FIXTURE_TEST_CASE(a_run_is_told_the_workload_and_the_operations, Fixture) {
    add("one_bench", "echo $1 $2 $3 12.5\n");
    const bench::Run run = programs.run(cell("one_bench"), 77);
    BOOST_TEST(run.measured.operations == 77u);
    BOOST_TEST(run.measured.nanoseconds == 12.5);
    BOOST_TEST(run.seconds > 0);
}

BOOST_FIXTURE_TEST_CASE(a_run_that_fails_says_why, Fixture) {
    BOOST_TEST(failure("echo first >&2; echo no memory >&2; exit 1\n").what() ==
               std::string("no memory"));
    BOOST_TEST(failure("exit 4\n").what() == std::string("ended with status 4"));
    BOOST_TEST(failure("kill -9 $$\n").what() == std::string("ended by signal 9"));
    BOOST_TEST(std::string(failure("echo nonsense\n").what()).find("nonsense") !=
               std::string::npos);
    BOOST_TEST(!failure("exit 1\n").impossible);
    BOOST_TEST(failure("exit 3\n").impossible);
}

BOOST_FIXTURE_TEST_CASE(a_run_that_hangs_is_ended, Fixture) {
    programs = Programs(directory.path(), std::chrono::seconds(0));
    BOOST_TEST(failure("sleep 1000\n").what() == std::string("takes longer than 0 s"));
}

BOOST_FIXTURE_TEST_CASE(a_program_that_is_not_there_has_failed, Fixture) {
    BOOST_CHECK_THROW(programs.run(cell("none_bench"), 1), RunFailed);
    BOOST_TEST(!bench::is_installed(directory / "none_bench"));
    BOOST_TEST(bench::is_installed("true"));
}

BOOST_FIXTURE_TEST_CASE(instructions_are_those_of_an_operation, Counters) {
    BOOST_TEST(programs.instructions(cell("one_bench")) == 500);
}

BOOST_FIXTURE_TEST_CASE(syscalls_are_those_of_an_operation_without_the_start, Counters) {
    BOOST_TEST(programs.syscalls(cell("one_bench")) == 5);
}

BOOST_FIXTURE_TEST_CASE(counters_that_write_nothing_have_failed, Counters) {
    add("valgrind", "true\n");
    add("strace", "true\n");
    BOOST_CHECK_THROW(programs.instructions(cell("one_bench")), RunFailed);
    BOOST_CHECK_THROW(programs.syscalls(cell("one_bench")), RunFailed);
}
