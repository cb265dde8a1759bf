// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_NUMBERS_HPP
#define REACTOR_TEST_BENCH_DRIVER_NUMBERS_HPP

#include <cstdint>
#include <string>

namespace bench {

/// How numbers are written; "-" for no_number.
std::string fixed(double number, int digits);  // 1.50
std::string short_number(double number);       // three digits that count: 2.15, 21.5, 215, 2150
std::string duration(double nanoseconds);      // 2.15 µs

/// Powers of ten as such: 10⁴; others as they are.
std::string size(std::uint64_t count);

/// The name of a figure, "allocated_bytes", as words.
std::string words(std::string name);

}  // namespace bench

#endif
