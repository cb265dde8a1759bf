// SPDX-License-Identifier: BSL-1.0
//
// Runs the benchmark's programs, which are beside this one, and tells what they have measured: a
// table for each workload, then a summary in Markdown; all of it also as pictures and JSON into
// bench-results/. There are no thresholds: two machines are not to be compared.
//
// Everything is run in shuffled rounds, pinned to one CPU, each time in a process of its own; a
// ratio is the median of each round's ratio, so what else the machine does hits both sides.
// Instructions and system calls do not depend on that at all.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <test/bench/driver/json_report.hpp>
#include <test/bench/driver/machine.hpp>
#include <test/bench/driver/options.hpp>
#include <test/bench/driver/pinned.hpp>
#include <test/bench/driver/programs.hpp>
#include <test/bench/driver/results.hpp>
#include <test/bench/driver/rounds.hpp>
#include <test/bench/driver/svg.hpp>
#include <test/bench/driver/tables.hpp>
#include <test/support/temporary_directory.hpp>

namespace {

using bench::Cell;
using bench::Kind;
using bench::LeftOut;
using bench::Options;
using bench::Results;
using bench::Series;

/// The clock on the wall, in seconds since the benchmark began.
class Watch {
public:
    double operator()() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// What goes on now, in one line of the terminal: b2 shows what we print at the end and not before.
/// And how long each run took.
class Progress {
public:
    explicit Progress(bool verbose)
        : verbose_(verbose), terminal_(open("/dev/tty", O_WRONLY | O_CLOEXEC | O_NOCTTY)) {}
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress() {
        say("");
        if (terminal_ >= 0) close(terminal_);
    }

    void say(const std::string& what) const {
        const std::string line = "\r\033[K" + what;
        // Who has no terminal does not look.
        if (terminal_ >= 0 && write(terminal_, line.data(), line.size()) < 0) return;
    }

    void ran(const Cell& cell, std::uint64_t operations, double seconds, double now) {
        Runs& runs = runs_[cell.name()];
        ++runs.count;
        runs.seconds += seconds;
        if (!verbose_) return;
        say("");
        std::fprintf(stderr, "%8.2f s: %s, %llu operations, %.3f s\n", now, cell.name().c_str(),
                     static_cast<unsigned long long>(operations), seconds);
    }

    /// Where the time went: a line for each cell, the longest first.
    std::string runs() const {
        std::vector<std::pair<double, std::string>> all;
        for (const auto& each : runs_) {
            char line[128];
            std::snprintf(line, sizeof line, "%8.3f s in %2u runs: ", each.second.seconds,
                          each.second.count);
            all.emplace_back(-each.second.seconds, line + each.first + "\n");
        }
        std::sort(all.begin(), all.end());
        std::string text;
        for (const auto& each : all) text += each.second;
        return text;
    }

private:
    struct Runs {
        unsigned count = 0;
        double seconds = 0;
    };

    bool verbose_;
    int terminal_;
    std::map<std::string, Runs> runs_;
};

std::string own_folder() {
    std::string path(4096, '\0');
    const ::ssize_t length = readlink("/proc/self/exe", &path[0], path.size());
    if (length <= 0) throw std::system_error(errno, std::system_category(), "/proc/self/exe");
    path.resize(static_cast<std::size_t>(length));
    return path.substr(0, path.rfind('/'));
}

void make_folder(const std::string& path) {
    if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
        throw std::system_error(errno, std::system_category(), "mkdir " + path);
    }
}

bench::Run run_cell(const bench::Programs& programs, const Cell& cell, std::uint64_t operations) {
    // Figures are those of a whole program and its peers, which have all CPUs in real life.
    std::unique_ptr<bench::Pinned> pinned;
    if (!cell.figures()) pinned.reset(new bench::Pinned);
    return programs.run(cell, operations);
}

/// Instructions and system calls, where asked for and possible.
void count(const bench::Programs& programs, const Options& options, const Progress& progress,
           std::vector<Series>& all, std::vector<LeftOut>& left_out) {
    const auto usable = [&](bool wanted, const char* tool) {
        if (wanted && !bench::is_installed(tool)) {
            left_out.push_back({tool, "not installed, or does not run: nothing is counted by it"});
            wanted = false;
        }
        return wanted;
    };
    const bool instructions = usable(options.instructions, "valgrind");
    const bool syscalls = usable(options.syscalls, "strace");
    const bench::Pinned pinned;
    for (Series& series : all) {
        const Cell& cell = series.cell;
        if (cell.counted == 0 || cell.kind != Kind::time) continue;
        progress.say("counting " + cell.name());
        try {
            if (instructions) series.instructions = programs.instructions(cell);
            if (syscalls) series.syscalls = programs.syscalls(cell);
        } catch (const bench::RunFailed& error) {
            left_out.push_back({"counts of " + cell.name(), error.what()});
        }
    }
}

/// Returns the folder into which it has written everything.
std::string save(const Results& results, const Options& options, const std::string& runs) {
    make_folder(options.results);
    const std::string folder = options.results + "/" + bench::time_stamp();
    make_folder(folder);
    support::write_file(folder + "/results.json", bench::to_json(results));
    support::write_file(folder + "/tables.txt", bench::to_text(results));
    support::write_file(folder + "/runs.txt", runs);
    support::write_file(folder + "/summary.md", bench::to_summary(results));
    for (const bench::Table& table : results.tables) {
        support::write_file(folder + "/" + table.workload + ".svg", bench::bars(table));
    }
    for (const bench::Growth& growth : results.growths) {
        const std::string variant =
            growth.implementation == "ours" ? "" : "-" + growth.implementation;
        support::write_file(folder + "/growth-" + growth.of + variant + ".svg",
                            bench::curve(growth));
    }
    return folder;
}

int run(const Options& options, const std::vector<std::string>& words) {
    const Watch watch;
    const bench::Programs programs(options.programs.empty() ? own_folder() : options.programs,
                                   std::chrono::seconds(options.quick ? 10 : 30));
    Results results;
    results.circumstances.date = bench::today();
    results.circumstances.machine = bench::machine();
    results.circumstances.rounds = options.rounds;
    results.circumstances.minutes = options.minutes;
    results.circumstances.command = "b2 bench";
    for (const std::string& word : words) results.circumstances.command += " " + word;

    std::vector<Cell> cells = programs.list(results.left_out);
    if (options.only.empty()) name_absent_peers(cells, results.left_out);
    cells.erase(std::remove_if(cells.begin(), cells.end(),
                               [&](const Cell& cell) { return !options.wants(cell.workload); }),
                cells.end());
    if (cells.empty()) throw std::runtime_error("there is no such workload");
    results.versions = programs.versions();

    bool failed = false;
    Progress progress(options.verbose);
    {
        bench::Rounds rounds(
            options,
            [&](const Cell& cell, std::uint64_t operations) {
                const double before = watch();
                try {
                    const bench::Run done = run_cell(programs, cell, operations);
                    progress.ran(cell, operations, watch() - before, watch());
                    return done;
                } catch (const bench::RunFailed&) {
                    progress.ran(cell, operations, watch() - before, watch());
                    throw;
                }
            },
            [&](const std::string& what) { progress.say(what); }, watch);
        std::vector<Series> measured = rounds.measure(cells, results.left_out);
        failed = rounds.failed();
        count(programs, options, progress, measured, results.left_out);
        tabulate(measured, results);
        progress.say("");
    }
    results.circumstances.seconds = watch();
    const std::string folder = save(results, options, progress.runs());
    const std::string text = options.json      ? bench::to_json(results)
                             : options.summary ? to_summary(results)
                                               : to_text(results) + "\n" + to_summary(results);
    std::fputs(text.c_str(), stdout);
    if (!options.json && !options.summary)
        std::printf("\nalso in %s/, with pictures\n", folder.c_str());
    return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    Options options;
    try {
        options = bench::parse_options(words);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "bench: %s\n%s", error.what(), bench::usage);
        return 2;
    }
    if (options.help) {
        std::fputs(bench::usage, stdout);
        return 0;
    }
    try {
        return run(options, words);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench: %s\n", error.what());
        return 1;
    }
}
