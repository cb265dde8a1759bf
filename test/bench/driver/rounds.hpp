// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_ROUNDS_HPP
#define REACTOR_TEST_BENCH_DRIVER_ROUNDS_HPP

#include <functional>
#include <random>
#include <string>
#include <vector>

#include <test/bench/driver/options.hpp>
#include <test/bench/driver/programs.hpp>
#include <test/bench/driver/results.hpp>

namespace bench {

/// Runs cells in rounds, each round in another order; says who does not get to the end.
class Rounds {
public:
    using RunCell = std::function<Run(const Cell& cell, std::uint64_t operations)>;
    using Say = std::function<void(const std::string& what_happens_now)>;

    Rounds(const Options& options, RunCell run_cell, Say say);

    /// Finds out how many operations of each cell fit into the time, then measures. A cell of
    /// figures is left as it is, and runs in three rounds at most. One that fails leaves the rounds
    /// and its samples, and is named in `left_out`.
    std::vector<Series> measure(const std::vector<Cell>& cells, std::vector<LeftOut>& left_out);

    /// Whether one of ours, or a limit, was among them that failed; a peer may do as it likes.
    bool failed() const noexcept { return failed_; }

private:
    struct Entry;

    bool prepare(Entry& entry, std::vector<LeftOut>& left_out);
    bool add_sample(Entry& entry, unsigned round, std::vector<LeftOut>& left_out);
    void leave_out(const Cell& cell, const RunFailed& error, std::vector<LeftOut>& left_out);

    const Options& options_;
    RunCell run_cell_;
    Say say_;
    std::mt19937 random_{std::random_device()()};
    bool failed_ = false;
};

}  // namespace bench

#endif
