// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_COUNTS_HPP
#define REACTOR_TEST_BENCH_DRIVER_COUNTS_HPP

#include <cstdint>
#include <string>

namespace bench {

/// The instructions of callgrind's output file, and the calls of `strace -c`'s table. Throw
/// std::runtime_error if there is no such number.
std::uint64_t parse_callgrind(const std::string& output);
std::uint64_t parse_strace(const std::string& output);

}  // namespace bench

#endif
