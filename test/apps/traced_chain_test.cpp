// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

#include <test/support/child_process.hpp>
#include <test/support/temporary_directory.hpp>
#include <test/support/trace_reader.hpp>

#include "program.hpp"

using namespace support;
using programs::Strings;

namespace {

Exit run_in(const std::string& directory, const Strings& arguments) {
    Command traced_chain = programs::command("traced_chain", arguments);
    traced_chain.directory = directory;
    return run(traced_chain);
}

std::size_t slices_named(const TraceRead& trace, const std::string& part) {
    std::size_t count = 0;
    for (const auto& slice : trace.slices) count += slice.name.find(part) != std::string::npos;
    return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(traced_chain)

BOOST_AUTO_TEST_CASE(writes_a_trace_and_says_where) {
    const TemporaryDirectory directory;
    const Exit exit = run_in(directory.path(), {"run.json"});
    BOOST_TEST_REQUIRE(exit.status == 0, exit.text());
    BOOST_TEST(exit.err == "");
    BOOST_TEST(exit.lines().back() == "trace: run.json", exit.text());
    BOOST_TEST(exit.out.find("1636 primes; ") == 0u, exit.text());

    // read_trace() is strict: JSON, both ends of each arrow, no arrow back in time.
    const TraceRead trace = read_trace(directory / "run.json");
    BOOST_TEST(slices_named(trace, "send") == 3u);
    BOOST_TEST(slices_named(trace, "post") == 1u);
    BOOST_TEST(slices_named(trace, "Delivery") == 3u);
    BOOST_TEST(slices_named(trace, "Answer") == 3u);
    BOOST_TEST(trace.cause_of("post") == "");
    std::size_t whole_chains = 0;
    for (const auto& slice : trace.slices) {
        if (slice.name == "send") {
            const std::string cause = trace.cause_of(slice);
            BOOST_TEST((cause == "Adder" || cause == "send"), cause);
        } else if (slice.name == "receive") {
            BOOST_TEST(trace.cause_of(slice) == "Adder");
        } else if (slice.name.find("Delivery") != std::string::npos) {
            BOOST_TEST(trace.cause_of(slice) == "receive");
        } else if (slice.name.find("Answer") != std::string::npos) {
            BOOST_TEST(trace.cause_of(slice).find("Delivery") != std::string::npos);
        } else if (slice.name == "Adder" && slice.kind == "done") {
            whole_chains += trace.cause_of(slice).find("Answer") != std::string::npos;
        }
    }
    // An answer may be there before the task asks for it.
    BOOST_TEST(whole_chains >= 1u);
    // All but the first step of the task and the post have an arrow.
    BOOST_TEST(trace.arrows.size() == trace.slices.size() - 2);
}

BOOST_AUTO_TEST_CASE(without_a_name_into_a_file_of_its_own) {
    const TemporaryDirectory directory;
    const Exit exit = run_in(directory.path(), {});
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST((names_in(directory.path()) == Strings{"traced_chain.json"}));
    BOOST_CHECK_NO_THROW(read_trace(directory / "traced_chain.json"));
}

BOOST_AUTO_TEST_CASE(help_is_no_error) {
    const TemporaryDirectory directory;
    const Exit exit = run_in(directory.path(), {"--help"});
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(exit.out.find("usage: traced_chain [FILE]\n") == 0u, exit.text());
    BOOST_TEST(names_in(directory.path()).empty());
}

BOOST_AUTO_TEST_CASE(wrong_arguments) {
    const TemporaryDirectory directory;
    for (const Strings& arguments :
         {Strings{"--svg"}, Strings{""}, Strings{"-"}, Strings{"a.json", "b.json"}}) {
        const Exit exit = run_in(directory.path(), arguments);
        BOOST_TEST(exit.status == 2, exit.text());
        BOOST_TEST(exit.out == "");
        BOOST_TEST(exit.err.find("traced_chain: ") == 0u, exit.text());
        BOOST_TEST(exit.err.find("\nusage: traced_chain") != std::string::npos, exit.text());
    }
    BOOST_TEST(names_in(directory.path()).empty());
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_written) {
    const TemporaryDirectory directory;
    for (const char* const path : {"missing/run.json", "/dev/full"}) {
        const Exit exit = run_in(directory.path(), {path});
        BOOST_TEST(exit.status == 1, exit.text());
        BOOST_TEST(exit.out == "");
        BOOST_TEST(exit.err.find(std::string("traced_chain: trace file ") + path + ": ") == 0u,
                   exit.text());
        BOOST_TEST(exit.err.find('\n') == exit.err.size() - 1, exit.text());
    }
}

BOOST_AUTO_TEST_SUITE_END()
