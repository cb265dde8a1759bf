// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/results.hpp>

#include <algorithm>

namespace bench {

namespace {

/// The element for which `is_it` holds, or a new one.
template <class T, class F>
T& find_or_add(std::vector<T>& all, F is_it, const T& otherwise) {
    const auto found = std::find_if(all.begin(), all.end(), is_it);
    if (found != all.end()) return *found;
    all.push_back(otherwise);
    return all.back();
}

template <class F>
const Row* first_row(const std::vector<Row>& rows, F is_it) {
    const auto found = std::find_if(rows.begin(), rows.end(), is_it);
    return found == rows.end() ? nullptr : &*found;
}

int group_of(const Cell& cell) {
    if (cell.implementation == "ours") return 0;
    return cell.ours() ? 1 : cell.limit() ? 2 : 3;
}

bool stands_before(const Row& a, const Row& b) {
    const int group = group_of(a.series.cell);
    if (group != group_of(b.series.cell)) return group < group_of(b.series.cell);
    return group == 3 && a.nanoseconds < b.nanoseconds;
}

void compare(Table& table) {
    std::stable_sort(table.rows.begin(), table.rows.end(), stands_before);
    const Row* const ours = table.ours();
    const Row* const limit = table.limit();
    for (Row& row : table.rows) {
        if (limit) row.to_limit = ratio(row.series.samples, limit->series.samples);
        if (ours) row.ours_to = ratio(ours->series.samples, row.series.samples);
    }
}

void add_time(const Series& series, std::vector<Table>& tables) {
    Table& table = find_or_add(
        tables, [&](const Table& other) { return other.workload == series.cell.workload; },
        Table{series.cell.workload, {}});
    table.rows.push_back({series, median(series.samples), no_number, no_number});
}

void add_growth(const Series& series, std::vector<Growth>& growths) {
    const Size size = size_of(series.cell.workload);
    const std::string& implementation = series.cell.implementation;
    Growth& growth = find_or_add(
        growths,
        [&](const Growth& other) {
            return other.of == size.of && other.implementation == implementation;
        },
        Growth{size.of, implementation, series.cell.kind, {}});
    growth.points.push_back({size.value, median(series.samples), series.samples.size()});
}

void add_figures(const Series& series, std::vector<FigureTable>& tables) {
    FigureTable& table = find_or_add(
        tables, [&](const FigureTable& other) { return other.workload == series.cell.workload; },
        FigureTable{series.cell.workload, {}});
    FigureTable::Line line = {
        series.cell, series.operations, series.figures.front().second.size(), {}};
    for (const auto& figure : series.figures) {
        line.figures.emplace_back(figure.first, median(figure.second));
    }
    table.lines.push_back(std::move(line));
}

}  // namespace

const Row* Table::of(const std::string& implementation) const {
    return first_row(
        rows, [&](const Row& row) { return row.series.cell.implementation == implementation; });
}

const Row* Table::ours() const { return of("ours"); }

const Row* Table::limit() const {
    return first_row(rows, [](const Row& row) { return row.series.cell.limit(); });
}

const Row* Table::best_peer() const {
    return first_row(rows, [](const Row& row) { return row.series.cell.peer(); });
}

double Growth::factor() const {
    if (points.size() < 2 || points.front().nanoseconds <= 0) return no_number;
    return points.back().nanoseconds / points.front().nanoseconds;
}

void tabulate(const std::vector<Series>& series, Results& results) {
    for (const Series& one : series) {
        if (one.cell.figures()) {
            if (!one.figures.empty()) add_figures(one, results.figures);
        } else if (!one.samples.empty()) {
            if (one.cell.kind == Kind::time) {
                add_time(one, results.tables);
            } else {
                add_growth(one, results.growths);
            }
        }
    }
    for (Table& table : results.tables) compare(table);
    for (FigureTable& table : results.figures) {
        std::stable_sort(table.lines.begin(), table.lines.end(),
                         [](const FigureTable::Line& a, const FigureTable::Line& b) {
                             return group_of(a.cell) < group_of(b.cell);
                         });
    }
    for (Growth& growth : results.growths) {
        std::sort(growth.points.begin(), growth.points.end(),
                  [](const Growth::Point& a, const Growth::Point& b) { return a.size < b.size; });
    }
}

}  // namespace bench
