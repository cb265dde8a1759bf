// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_DRIVER_SVG_HPP
#define REACTOR_TEST_BENCH_DRIVER_SVG_HPP

#include <string>

#include <test/bench/driver/results.hpp>

namespace bench {

/// Text between tags or in an attribute of XML.
std::string xml_escaped(const std::string& text);

/// A picture (SVG 1.1): a bar for each implementation, the CPU time of an operation. What takes
/// more than five times as long as ours has a bar with an open end.
std::string bars(const Table& table);

/// The cost of an operation over the size, which is on a logarithmic scale, so that what grows
/// logarithmically is a straight line.
std::string curve(const Growth& growth);

}  // namespace bench

#endif
