// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_OPTIONS_HPP
#define REACTOR_TEST_BENCH_DRIVER_OPTIONS_HPP

#include <string>
#include <vector>

namespace bench {

/// What the driver is asked for.
struct Options {
    bool quick = false;
    unsigned rounds = 7;
    double seconds = 0.3;           // the most that a run may take
    double minutes = 30;            // that there are for everything
    std::vector<std::string> only;  // patterns of workloads' names; none: all
    bool instructions = false;
    bool syscalls = false;
    bool json = false;
    bool summary = false;
    bool verbose = false;
    bool help = false;
    std::string results = "bench-results";
    std::string programs;  // the folder they are in; empty: the driver's own

    bool wants(const std::string& workload) const;
};

/// Throws std::invalid_argument with the word that is wrong. "--only x" and "--only=x" are the
/// same.
Options parse_options(const std::vector<std::string>& words);

extern const char usage[];

}  // namespace bench

#endif
