// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/programs.hpp>

#include <set>
#include <system_error>
#include <utility>

#include <test/bench/driver/counts.hpp>
#include <test/support/child_process.hpp>
#include <test/support/temporary_directory.hpp>

namespace bench {

namespace {

constexpr int slower_when_counted = 4;  // though there are fewer operations
constexpr int impossible_here = 3;

/// Who the benchmark knows, and what it takes to have them in it.
const struct {
    const char* implementation;
    const char* package;
} peers[] = {{"asio", "libboost-dev"},
             {"libuv", "libuv1-dev"},
             {"libevent", "libevent-dev"},
             {"bufferevent", "libevent-dev"},
             {"libev", "libev-dev"},
             {"poco", "libpoco-dev"},
             {"asyncio", "python3"},
             {"boost-future", "libboost-thread-dev"},
             {"boost-future-executor", "libboost-thread-dev"},
             {"curl", "curl"},
             {"aria2c", "aria2"}};

std::string last_line(const std::string& text) {
    const std::vector<std::string> lines = lines_of(text);
    return lines.empty() ? std::string() : lines.back();
}

/// Its output; throws RunFailed.
support::Exit run_to_end(const std::vector<std::string>& words, std::chrono::seconds time_limit) {
    support::Command command(words);
    command.time_limit = time_limit;
    support::Exit exit;
    try {
        exit = support::run(command);
    } catch (const std::system_error& error) {
        throw RunFailed(error.what(), false);
    }
    if (exit.timed_out) {
        throw RunFailed("takes longer than " + std::to_string(time_limit.count()) + " s", false);
    }
    if (exit.signal != 0) {
        throw RunFailed("ended by signal " + std::to_string(exit.signal), false);
    }
    if (exit.status != 0) {
        std::string why = last_line(exit.err);
        if (why.empty()) why = "ended with status " + std::to_string(exit.status);
        throw RunFailed(why, exit.status == impossible_here);
    }
    return exit;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::vector<std::string> programs_in(const std::string& folder) {
    std::vector<std::string> programs;
    for (const std::string& name : support::names_in(folder)) {
        if (ends_with(name, "_bench")) programs.push_back(folder + "/" + name);
    }
    return programs;
}

/// "echo-1000: left out, too few descriptors", as programs say it of what they do not list.
LeftOut parse_left_out(const std::string& line, const std::string& program) {
    const std::string between = ": left out, ";
    const std::string::size_type found = line.find(between);
    if (found == std::string::npos) return {base_name(program), line};
    return {line.substr(0, found), line.substr(found + between.size())};
}

}  // namespace

Programs::Programs(std::string folder, std::chrono::seconds time_limit)
    : folder_(std::move(folder)), time_limit_(time_limit) {}

std::vector<Cell> Programs::list(std::vector<LeftOut>& left_out) const {
    std::vector<Cell> cells;
    for (const std::string& program : programs_in(folder_)) {
        try {
            const support::Exit exit = run_to_end({program, "list"}, time_limit_);
            for (const std::string& line : lines_of(exit.err)) {
                left_out.push_back(parse_left_out(line, program));
            }
            for (Cell& cell : parse_list(exit.out, program)) {
                cells.push_back(std::move(cell));
            }
        } catch (const std::runtime_error& error) {
            left_out.push_back({base_name(program), error.what()});
        }
    }
    return cells;
}

Versions Programs::versions() const {
    Versions versions;
    for (const std::string& program : programs_in(folder_)) {
        try {
            const support::Exit exit = run_to_end({program, "version"}, time_limit_);
            for (std::pair<std::string, std::string>& version : parse_versions(exit.out)) {
                bool known = false;  // a peer may have several programs
                for (const auto& other : versions) known = known || other == version;
                if (!known) versions.push_back(std::move(version));
            }
        } catch (const std::runtime_error&) {
            // Nothing is wrong with what it measures.
        }
    }
    return versions;
}

Run Programs::run(const std::vector<std::string>& before, const Cell& cell,
                  std::uint64_t operations) const {
    std::vector<std::string> words = before;
    words.insert(words.end(),
                 {cell.program, cell.workload, cell.implementation, std::to_string(operations)});
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    const support::Exit exit =
        run_to_end(words, before.empty() ? time_limit_ : slower_when_counted * time_limit_);
    const std::chrono::duration<double> took = Clock::now() - begin;
    try {
        return {parse_measured(exit.out, cell), took.count()};
    } catch (const std::runtime_error& error) {
        throw RunFailed(error.what(), false);
    }
}

Run Programs::run(const Cell& cell, std::uint64_t operations) const {
    return run({}, cell, operations);
}

// What happens in the part of a run that is measured, start-up and preparation left out.
double Programs::instructions(const Cell& cell) const {
    const support::TemporaryDirectory directory;
    const std::string file = directory / "callgrind";
    const Run counted = run({"valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=" + file,
                             "--toggle-collect=reactor_bench_measured*"},
                            cell, cell.counted);
    try {
        return static_cast<double>(parse_callgrind(support::read_file(file))) /
               static_cast<double>(counted.measured.operations);
    } catch (const std::runtime_error& error) {
        throw RunFailed(error.what(), false);
    }
}

// As the difference of two lengths, so that start-up cancels out. Of one thread and process: the
// load generator is another process, and its calls are not the server's.
double Programs::syscalls(const Cell& cell) const {
    const support::TemporaryDirectory directory;
    const std::string file = directory / "strace";
    double calls[2];
    double operations[2];
    for (int i = 0; i < 2; ++i) {
        const Run counted =
            run({"strace", "-c", "-o", file}, cell, (i == 0 ? 1 : 3) * cell.counted);
        operations[i] = static_cast<double>(counted.measured.operations);
        try {
            calls[i] = static_cast<double>(parse_strace(support::read_file(file)));
        } catch (const std::runtime_error& error) {
            throw RunFailed(error.what(), false);
        }
    }
    if (operations[1] <= operations[0]) throw RunFailed("does not run longer when asked to", false);
    return (calls[1] - calls[0]) / (operations[1] - operations[0]);
}

void name_absent_peers(const std::vector<Cell>& cells, std::vector<LeftOut>& left_out) {
    std::set<std::string> there;
    for (const Cell& cell : cells) there.insert(cell.implementation);
    for (const LeftOut& one : left_out) there.insert(one.what);
    for (const auto& peer : peers) {
        if (there.count(peer.implementation) != 0) continue;
        left_out.push_back(
            {peer.implementation, std::string("it was not found (package ") + peer.package + ")"});
    }
}

bool is_installed(const std::string& program) {
    try {
        run_to_end({program, "--version"}, std::chrono::seconds(10));
        return true;
    } catch (const RunFailed&) {
        return false;
    }
}

}  // namespace bench
