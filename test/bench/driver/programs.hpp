// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_PROGRAMS_HPP
#define REACTOR_TEST_BENCH_DRIVER_PROGRAMS_HPP

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <test/bench/driver/cell.hpp>

namespace bench {

/// Something that is not measured, and the reason.
struct LeftOut {
    std::string what;
    std::string why;
};

/// A run that has failed, hangs, or cannot be on this machine, as it says by status 3.
struct RunFailed : std::runtime_error {
    RunFailed(const std::string& why, bool impossible_)
        : runtime_error(why), impossible(impossible_) {}
    bool impossible;
};

/// What a run has measured, and how long it took on the wall.
struct Run {
    Measured measured;
    double seconds;
};

/// The programs of a folder, each run in a process of its own, which is killed with all that it has
/// started if it takes longer than `time_limit`.
class Programs {
public:
    explicit Programs(std::string folder,
                      std::chrono::seconds time_limit = std::chrono::seconds(30));

    /// All that they list. What they say that they leave out, and one that cannot list anything, is
    /// named in `left_out`.
    std::vector<Cell> list(std::vector<LeftOut>& left_out) const;
    Versions versions() const;

    /// These throw RunFailed.
    Run run(const Cell& cell, std::uint64_t operations) const;
    double instructions(const Cell& cell) const;  // for each operation
    double syscalls(const Cell& cell) const;

private:
    Run run(const std::vector<std::string>& before, const Cell& cell,
            std::uint64_t operations) const;

    std::string folder_;
    std::chrono::seconds time_limit_;
};

/// Names the peers that the benchmark knows, but nobody lists or has named.
void name_absent_peers(const std::vector<Cell>& cells, std::vector<LeftOut>& left_out);

/// Whether there is such a program in PATH.
bool is_installed(const std::string& program);

}  // namespace bench

#endif
