// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/tables.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <test/bench/driver/numbers.hpp>
#include <test/bench/driver/targets.hpp>

namespace bench {

namespace {

using Line = std::vector<std::string>;
using Lines = std::vector<Line>;

/// How many characters of UTF-8 they are.
std::size_t width(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;
    }));
}

template <class Number>
bool any(const Table& table, Number number) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [&](const Row& row) { return !std::isnan(number(row)); });
}

std::string rounds_of(const Row& row) { return std::to_string(row.series.samples.size()); }

std::string text_of(const Table& table) {
    const auto instructions = [](const Row& row) { return row.series.instructions; };
    const auto syscalls = [](const Row& row) { return row.series.syscalls; };
    const bool has_instructions = any(table, instructions);
    const bool has_syscalls = any(table, syscalls);
    Lines lines = {{table.workload, "CPU", "/ limit", "ours / it", "rounds"}};
    if (has_instructions) lines.back().push_back("instructions");
    if (has_syscalls) lines.back().push_back("system calls");
    for (const Row& row : table.rows) {
        lines.push_back({"  " + row.series.cell.implementation, duration(row.nanoseconds),
                         fixed(row.to_limit, 2), fixed(row.ours_to, 2), rounds_of(row)});
        if (has_instructions) lines.back().push_back(short_number(instructions(row)));
        if (has_syscalls) lines.back().push_back(fixed(syscalls(row), 2));
    }
    return align(lines);
}

std::string name_of(const Growth& growth) {
    return growth.implementation == "ours" ? growth.of : growth.of + ", " + growth.implementation;
}

std::string promise_of(const Growth& growth) {
    return growth.kind == Kind::flat ? "flat" : "logarithmic";
}

std::string text_of(const Growth& growth) {
    Lines lines = {{"growth of " + name_of(growth), "CPU", "/ first", "rounds"}};
    const double first = growth.points.front().nanoseconds;
    for (const Growth::Point& point : growth.points) {
        lines.push_back({"  " + size(point.size), duration(point.nanoseconds),
                         fixed(first > 0 ? point.nanoseconds / first : no_number, 2),
                         std::to_string(point.rounds)});
    }
    return align(lines) + "  (should be " + promise_of(growth) + ")\n";
}

std::string text_of(const FigureTable& table) {
    std::vector<std::string> names;  // not all implementations need have the same
    for (const FigureTable::Line& line : table.lines) {
        for (const auto& figure : line.figures) {
            if (std::find(names.begin(), names.end(), figure.first) == names.end()) {
                names.push_back(figure.first);
            }
        }
    }
    Lines lines = {{table.workload, "of", "rounds"}};
    for (const std::string& name : names) lines.back().push_back(words(name));
    for (const FigureTable::Line& line : table.lines) {
        lines.push_back({"  " + line.cell.implementation, std::to_string(line.operations),
                         std::to_string(line.rounds)});
        for (const std::string& name : names) {
            const auto found = std::find_if(
                line.figures.begin(), line.figures.end(),
                [&](const std::pair<std::string, double>& figure) { return figure.first == name; });
            lines.back().push_back(found == line.figures.end() ? "-" : short_number(found->second));
        }
    }
    return align(lines);
}

std::string in_markdown(const Line& line) {
    std::string text = "|";
    for (const std::string& word : line) text += " " + word + " |";
    return text + "\n";
}

std::string in_markdown(const Lines& lines) {
    std::string text = in_markdown(lines.front());
    text += "| --- |";
    for (std::size_t i = 1; i < lines.front().size(); ++i) text += " ---: |";
    text += "\n";
    for (std::size_t i = 1; i < lines.size(); ++i) text += in_markdown(lines[i]);
    return text;
}

std::string summary_of(const std::vector<Table>& tables) {
    Lines lines = {{"workload", "ours", "/ limit", "best peer", "its time", "ours / it", "rounds"}};
    for (const Table& table : tables) {
        const Row* const ours = table.ours();
        if (!ours) continue;
        lines.push_back({table.workload, duration(ours->nanoseconds), fixed(ours->to_limit, 2)});
        Line& line = lines.back();
        if (const Row* const peer = table.best_peer()) {
            line.insert(line.end(), {peer->series.cell.implementation, duration(peer->nanoseconds),
                                     fixed(peer->ours_to, 2)});
        } else {
            line.insert(line.end(), {"-", "-", "-"});
        }
        line.push_back(rounds_of(*ours));
    }
    return lines.size() == 1 ? std::string() : "\n" + in_markdown(lines);
}

std::string summary_of(const std::vector<Growth>& growths) {
    std::vector<std::uint64_t> sizes;
    for (const Growth& growth : growths) {
        for (const Growth::Point& point : growth.points) sizes.push_back(point.size);
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    if (sizes.empty()) return std::string();

    Lines lines = {{"growth of"}};
    for (const std::uint64_t one : sizes) lines.back().push_back(size(one));
    lines.back().push_back("should be");
    for (const Growth& growth : growths) {
        lines.push_back({name_of(growth)});
        for (const std::uint64_t one : sizes) {
            const auto found =
                std::find_if(growth.points.begin(), growth.points.end(),
                             [&](const Growth::Point& point) { return point.size == one; });
            lines.back().push_back(found == growth.points.end() ? "-"
                                                                : duration(found->nanoseconds));
        }
        lines.back().push_back(promise_of(growth));
    }
    return "\n" + in_markdown(lines);
}

std::string summary_of(const std::vector<FigureTable>& tables) {
    Lines lines = {{"figures", "of", "are", "for"}};
    for (const FigureTable& table : tables) {
        for (const FigureTable::Line& line : table.lines) {
            std::string figures;
            for (const auto& figure : line.figures) {
                figures += (figures.empty() ? "" : ", ") + words(figure.first) + " " +
                           short_number(figure.second);
            }
            lines.push_back({table.workload, line.cell.implementation, figures,
                             std::to_string(line.operations)});
        }
    }
    return lines.size() == 1 ? std::string() : "\n" + in_markdown(lines);
}

std::string summary_of(const std::vector<Reached>& all) {
    Lines lines = {
        {"target", "workload", "measured by", "at most", "ours", "best peer", "reached"}};
    bool any = false;
    for (const Reached& reached : all) {
        const Target& target = reached.target;
        any = any || !std::isnan(reached.ours);
        const std::string variant =
            target.implementation == "ours" ? "" : ", " + target.implementation;
        const std::string verdict = std::isnan(reached.ours)      ? "not measured"
                                    : reached.ours <= target.most ? "yes"
                                                                  : "no";
        lines.push_back({target.what, target.workload + variant, target.measure,
                         short_number(target.most), short_number(reached.ours),
                         reached.best_peer.empty()
                             ? "-"
                             : reached.best_peer + " " + short_number(reached.best_peers),
                         verdict});
    }
    return any ? "\n" + in_markdown(lines) : std::string();
}

}  // namespace

std::string align(const Lines& rows) {
    std::vector<std::size_t> widths;
    for (const Line& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
    }
    std::string text;
    for (const Line& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string space(widths[i] - width(row[i]), ' ');
            line += i == 0 ? row[i] + space : "  " + space + row[i];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string to_text(const Results& results) {
    std::string text;
    for (const Table& table : results.tables) text += text_of(table) + "\n";
    for (const Growth& growth : results.growths) text += text_of(growth) + "\n";
    for (const FigureTable& table : results.figures) text += text_of(table) + "\n";
    for (const LeftOut& one : results.left_out) {
        text += "left out: " + one.what + ": " + one.why + "\n";
    }
    return text;
}

std::string to_summary(const Results& results) {
    const Circumstances& circumstances = results.circumstances;
    std::string text = circumstances.date + ", " + circumstances.machine + "; `" +
                       circumstances.command + "`, " + std::to_string(circumstances.rounds) +
                       " rounds at most, " + fixed(circumstances.seconds / 60, 1) + " of " +
                       fixed(circumstances.minutes, 0) + " minutes";
    std::string before = "; ";
    for (const auto& version : results.versions) {
        text += before + version.second;
        before = ", ";
    }
    return text + ".\n" + summary_of(compare(targets(), results)) + summary_of(results.tables) +
           summary_of(results.growths) + summary_of(results.figures);
}

}  // namespace bench
