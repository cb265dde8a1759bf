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
    using Now = std::function<double()>;  // seconds since the benchmark began

    Rounds(const Options& options, RunCell run_cell, Say say, Now now);

    /// Finds out how many operations of each cell fit into the time of a run, and how many rounds
    /// of all into the time there is; then measures. Growth and figures run in three rounds at
    /// most, or one when quick, exact figures in one; when quick the figures are of a tenth, and
    /// growth ends at 100,000. What is too slow for more than one round is not run again for that
    /// one. Who got no round has what it measured before them, as round 0. A cell that fails leaves
    /// the rounds and its samples, and is named in `left_out`, as is one for which no time was
    /// left.
    std::vector<Series> measure(const std::vector<Cell>& cells, std::vector<LeftOut>& left_out);

    /// Whether one of ours, or a limit, was among them that failed; a peer may do as it likes.
    bool failed() const noexcept { return failed_; }

private:
    struct Entry;

    /// What is left is for the tables, and for what takes longer than before.
    static constexpr double time_used = 0.9;

    static double round_time(const std::vector<Entry>& entries,
                             const std::vector<std::size_t>& order);
    unsigned affordable(const std::vector<Entry>& entries) const;
    bool prepare(Entry& entry, std::vector<LeftOut>& left_out);
    bool add_sample(Entry& entry, unsigned round, std::vector<LeftOut>& left_out);
    void leave_out(const Cell& cell, const RunFailed& error, std::vector<LeftOut>& left_out);

    const Options& options_;
    RunCell run_cell_;
    Say say_;
    Now now_;
    double end_;
    std::mt19937 random_{std::random_device()()};
    bool failed_ = false;
};

}  // namespace bench

#endif
