// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_RESULTS_HPP
#define REACTOR_TEST_BENCH_DRIVER_RESULTS_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <test/bench/driver/cell.hpp>
#include <test/bench/driver/programs.hpp>
#include <test/bench/driver/statistics.hpp>

namespace bench {

/// A cell and what was measured of it.
struct Series {
    Cell cell;
    std::uint64_t operations = 0;  // in each run
    std::vector<Sample> samples;   // nanoseconds of CPU for an operation
    std::vector<std::pair<std::string, std::vector<Sample>>> figures;
    double instructions = no_number;  // for an operation, as are the calls
    double syscalls = no_number;

    explicit Series(Cell cell_) : cell(std::move(cell_)) {}
};

/// A row of a workload's table.
struct Row {
    Series series;
    double nanoseconds;  // median
    double to_limit;     // times the limit; no_number without one
    double ours_to;      // ours is so many times this one
};

/// One workload: ours, its variants, the limits, then the peers, the fastest first.
struct Table {
    std::string workload;
    std::vector<Row> rows;

    /// The first such row, or null.
    const Row* of(const std::string& implementation) const;
    const Row* ours() const;
    const Row* limit() const;
    const Row* best_peer() const;
};

/// The cost of the same operation with ever more of the same there; sizes ascend.
struct Growth {
    std::string of;
    std::string implementation;
    Kind kind;
    struct Point {
        std::uint64_t size;
        double nanoseconds;
        std::size_t rounds;
    };
    std::vector<Point> points;

    /// The cost at the end is so many times the one at the start; no_number of one point.
    double factor() const;
};

/// Medians of figures, in the same order, but for the peers', which stay as they are listed.
struct FigureTable {
    std::string workload;
    struct Line {
        Cell cell;
        std::uint64_t operations;  // of which they are
        std::size_t rounds;
        std::vector<std::pair<std::string, double>> figures;
    };
    std::vector<Line> lines;
};

/// On what, when and by which command.
struct Circumstances {
    std::string date;
    std::string machine;
    std::string command;
    unsigned rounds;  // at most
    double minutes;   // that there were
    double seconds;   // that it took
};

/// All that there is to tell.
struct Results {
    Circumstances circumstances = Circumstances();
    Versions versions;
    std::vector<Table> tables;
    std::vector<Growth> growths;
    std::vector<FigureTable> figures;
    std::vector<LeftOut> left_out;
};

/// Sorts what was measured into tables, in the order in which workloads appear. A series without
/// samples is in none of them.
void tabulate(const std::vector<Series>& series, Results& results);

}  // namespace bench

#endif
