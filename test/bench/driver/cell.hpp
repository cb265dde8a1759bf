// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_CELL_HPP
#define REACTOR_TEST_BENCH_DRIVER_CELL_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// What is measured of a workload: the CPU time of an operation, and how that may grow with a size;
/// or any figures, with their names; exact ones are the same in every run.
enum class Kind { time, flat, logarithmic, figures, exact };

/// One implementation of one workload, as a program lists it: what there is to run.
struct Cell {
    std::string program;
    std::string workload;
    std::string implementation;
    std::uint64_t operations;  // the most that are run at once
    std::uint64_t counted;     // for callgrind and strace; 0: not to be counted
    Kind kind;

    bool ours() const { return is("ours"); }
    bool limit() const { return is("limit"); }
    bool peer() const { return !ours() && !limit(); }
    bool growth() const { return kind == Kind::flat || kind == Kind::logarithmic; }
    bool figures() const { return kind == Kind::figures || kind == Kind::exact; }
    std::string name() const { return workload + " " + implementation; }

private:
    // The word, or a variant of it: "ours-tasks".
    bool is(const std::string& word) const {
        return implementation == word ||
               implementation.compare(0, word.size() + 1, word + "-") == 0;
    }
};

/// What a run has measured: nanoseconds of CPU for an operation, or figures.
struct Measured {
    std::uint64_t operations = 0;
    double nanoseconds = 0;
    std::vector<std::pair<std::string, double>> figures;
};

/// An implementation, and the library it stands for.
using Versions = std::vector<std::pair<std::string, std::string>>;

/// The lines that are not empty.
std::vector<std::string> lines_of(const std::string& text);

/// What `program list`, `program version` and a run of the cell print. They throw
/// std::runtime_error with the line that is not as it should be.
std::vector<Cell> parse_list(const std::string& text, const std::string& program);
Versions parse_versions(const std::string& text);
Measured parse_measured(const std::string& text, const Cell& cell);

/// "growth-timers@1000" is the growth of "timers" at 1000. Throws std::runtime_error if there is no
/// size after an "@".
struct Size {
    std::string of;
    std::uint64_t value;
};
Size size_of(const std::string& workload);

}  // namespace bench

#endif
