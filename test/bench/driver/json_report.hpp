// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_JSON_REPORT_HPP
#define REACTOR_TEST_BENCH_DRIVER_JSON_REPORT_HPP

#include <string>

#include <test/bench/driver/results.hpp>

namespace bench {

/// A string of JSON (RFC 8259), in its quotation marks. What is not UTF-8 is replaced.
std::string json_string(const std::string& text);

/// All results as one JSON object, every round's samples in it; null where there is no number.
std::string to_json(const Results& results);

}  // namespace bench

#endif
