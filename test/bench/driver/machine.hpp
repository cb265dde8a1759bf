// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_MACHINE_HPP
#define REACTOR_TEST_BENCH_DRIVER_MACHINE_HPP

#include <string>

namespace bench {

/// The processor's name in /proc/cpuinfo, or "unknown processor".
std::string parse_processor(const std::string& cpuinfo);

/// Processor, how many there are, kernel and compiler, in a line.
std::string machine();

/// The date, and the same with the time as the name of a folder; local time.
std::string today();
std::string time_stamp();

}  // namespace bench

#endif
