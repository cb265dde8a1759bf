// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_TABLES_HPP
#define REACTOR_TEST_BENCH_DRIVER_TABLES_HPP

#include <string>
#include <vector>

#include <test/bench/driver/results.hpp>

namespace bench {

/// Words in columns: the first to the left, the others to the right, as wide as they need.
std::string align(const std::vector<std::vector<std::string>>& rows);

/// Everything, to be read in a terminal: a table for each workload, growth and set of figures, who
/// was left out and why.
std::string to_text(const Results& results);

/// What there is to know at a glance, in Markdown: ours, the limit and the best peer of each
/// workload, with the date, the machine and the command.
std::string to_summary(const Results& results);

}  // namespace bench

#endif
