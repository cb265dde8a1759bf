// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/cell.hpp>

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace bench {

namespace {

std::vector<std::string> words_of(const std::string& line) {
    std::vector<std::string> words;
    std::istringstream stream(line);
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

[[noreturn]] void wrong(const std::string& what, const std::string& line) {
    throw std::runtime_error("\"" + line + "\" is not " + what);
}

bool to_number(const std::string& word, double& number) {
    char* end = nullptr;
    number = std::strtod(word.c_str(), &end);
    return !word.empty() && *end == '\0' && number >= 0;  // not of NaN
}

bool to_count(const std::string& word, std::uint64_t& count) {
    if (word.empty() || word.size() > 18) return false;
    if (word.find_first_not_of("0123456789") != std::string::npos) return false;
    count = std::strtoull(word.c_str(), nullptr, 10);
    return true;
}

bool to_kind(const std::string& word, Kind& kind) {
    if (word == "flat") {
        kind = Kind::flat;
    } else if (word == "logarithmic") {
        kind = Kind::logarithmic;
    } else if (word == "figures") {
        kind = Kind::figures;
    } else if (word == "exact") {
        kind = Kind::exact;
    } else {
        return false;
    }
    return true;
}

Cell parse_cell(const std::string& line, const std::string& program) {
    const std::vector<std::string> words = words_of(line);
    Cell cell = {program, "", "", 0, 0, Kind::time};
    const bool complete = (words.size() == 4 || words.size() == 5) &&
                          to_count(words[2], cell.operations) && cell.operations != 0 &&
                          to_count(words[3], cell.counted) &&
                          (words.size() == 4 || to_kind(words[4], cell.kind));
    if (!complete) {
        wrong("\"WORKLOAD IMPLEMENTATION OPERATIONS COUNTED [flat|logarithmic|figures|exact]\"",
              line);
    }
    cell.workload = words[0];
    cell.implementation = words[1];
    if (cell.growth()) size_of(cell.workload);
    return cell;
}

std::pair<std::string, double> parse_figure(const std::string& word, const std::string& line) {
    const std::string::size_type equals = word.find('=');
    std::pair<std::string, double> figure(word.substr(0, equals), 0);
    if (equals == 0 || equals == std::string::npos ||
        !to_number(word.substr(equals + 1), figure.second)) {
        wrong("figures, NAME=NUMBER each", line);
    }
    return figure;
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        if (!line.empty()) lines.push_back(line);
    }
    return lines;
}

std::vector<Cell> parse_list(const std::string& text, const std::string& program) {
    std::vector<Cell> cells;
    for (const std::string& line : lines_of(text)) cells.push_back(parse_cell(line, program));
    return cells;
}

Versions parse_versions(const std::string& text) {
    Versions versions;
    for (const std::string& line : lines_of(text)) {
        const std::string::size_type space = line.find(' ');
        if (space == 0 || space == std::string::npos || space + 1 == line.size()) {
            wrong("\"IMPLEMENTATION LIBRARY AND VERSION\"", line);
        }
        versions.emplace_back(line.substr(0, space), line.substr(space + 1));
    }
    return versions;
}

Measured parse_measured(const std::string& text, const Cell& cell) {
    const std::vector<std::string> lines = lines_of(text);
    const std::string line = lines.empty() ? std::string() : lines.back();
    const std::vector<std::string> words = words_of(line);
    Measured measured;
    if (words.size() < 4 || words[0] != cell.workload || words[1] != cell.implementation ||
        !to_count(words[2], measured.operations) || measured.operations == 0) {
        wrong("what \"" + cell.name() + "\" should print", line);
    }
    if (cell.figures()) {
        for (std::size_t i = 3; i < words.size(); ++i) {
            measured.figures.push_back(parse_figure(words[i], line));
        }
    } else if (words.size() != 4 || !to_number(words[3], measured.nanoseconds)) {
        wrong("what \"" + cell.name() + "\" should print", line);
    }
    return measured;
}

Size size_of(const std::string& workload) {
    const std::string prefix = "growth-";
    const std::string::size_type at = workload.rfind('@');
    Size size = {"", 0};
    if (workload.compare(0, prefix.size(), prefix) != 0 || at == std::string::npos ||
        at <= prefix.size() || !to_count(workload.substr(at + 1), size.value) || size.value == 0) {
        wrong("growth-THING@SIZE", workload);
    }
    size.of = workload.substr(prefix.size(), at - prefix.size());
    return size;
}

}  // namespace bench
