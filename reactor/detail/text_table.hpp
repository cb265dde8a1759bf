// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_TEXT_TABLE_HPP
#define REACTOR_DETAIL_TEXT_TABLE_HPP

#include <reactor/clock.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace reactor {
namespace detail {

/// "2.500 s".
std::string seconds_text(Duration length);

/// Lines of two columns and a rest, for humans: the columns are as wide as what is in them.
class TextTable {
public:
    void add(std::string first, std::string second, std::string rest);
    /// At most so many lines, and one that says how many there are beside them.
    std::string text(std::size_t most) const;

private:
    struct Line {
        std::string first;
        std::string second;
        std::string rest;
    };
    std::vector<Line> lines_;
};

}  // namespace detail
}  // namespace reactor

#endif
