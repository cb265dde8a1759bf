// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/text_table.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace reactor {
namespace detail {

namespace {

// A lambda's name can be longer than a screen is wide: it must not move all the others.
constexpr std::size_t widest = 40;

void pad(std::string& text, std::size_t width) {
    if (text.size() < width) text.append(width - text.size(), ' ');
    if (width != 0) text += "  ";
}

}  // namespace

std::string seconds_text(Duration length) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f s", std::chrono::duration<double>(length).count());
    return text;
}

void TextTable::add(std::string first, std::string second, std::string rest) {
    lines_.push_back(Line{std::move(first), std::move(second), std::move(rest)});
}

std::string TextTable::text(std::size_t most) const {
    const std::size_t shown = std::min(most, lines_.size());
    std::size_t first = 0;
    std::size_t second = 0;
    for (std::size_t i = 0; i < shown; ++i) {
        first = std::max(first, std::min(lines_[i].first.size(), widest));
        second = std::max(second, std::min(lines_[i].second.size(), widest));
    }
    std::string all;
    for (std::size_t i = 0; i < shown; ++i) {
        std::string line = lines_[i].first;
        pad(line, first);
        std::string middle = lines_[i].second;
        pad(middle, second);
        line += middle + lines_[i].rest;
        line.erase(line.find_last_not_of(' ') + 1);
        all += line + '\n';
    }
    if (shown < lines_.size()) {
        all += "and " + std::to_string(lines_.size() - shown) + " more\n";
    }
    return all;
}

}  // namespace detail
}  // namespace reactor
