// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/rounds.hpp>

#include <algorithm>
#include <utility>

#include <test/bench/driver/calibration.hpp>

namespace bench {

namespace {

constexpr unsigned rounds_of_figures = 3;

void add_figures(const Measured& measured, unsigned round, Series& series) {
    for (std::size_t i = 0; i < measured.figures.size(); ++i) {
        if (i == series.figures.size()) series.figures.push_back({measured.figures[i].first, {}});
        if (series.figures[i].first != measured.figures[i].first) {
            throw RunFailed("has other figures than before", false);
        }
        series.figures[i].second.push_back({round, measured.figures[i].second});
    }
}

}  // namespace

struct Rounds::Entry {
    Series series;
    unsigned rounds;
    bool gone;
};

Rounds::Rounds(const Options& options, RunCell run_cell, Say say)
    : options_(options), run_cell_(std::move(run_cell)), say_(std::move(say)) {}

std::vector<Series> Rounds::measure(const std::vector<Cell>& cells,
                                    std::vector<LeftOut>& left_out) {
    std::vector<Entry> entries;
    for (const Cell& cell : cells) {
        say_("calibrating " + cell.name());
        Entry entry = {Series(cell), options_.rounds, false};
        if (prepare(entry, left_out)) entries.push_back(std::move(entry));
    }
    for (unsigned round = 1; round <= options_.rounds; ++round) {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (!entries[i].gone && round <= entries[i].rounds) order.push_back(i);
        }
        std::shuffle(order.begin(), order.end(), random_);
        for (const std::size_t i : order) {
            say_("round " + std::to_string(round) + " of " + std::to_string(options_.rounds) +
                 ": " + entries[i].series.cell.name());
            entries[i].gone = !add_sample(entries[i], round, left_out);
        }
    }
    std::vector<Series> all;
    for (Entry& entry : entries) {
        if (!entry.gone) all.push_back(std::move(entry.series));
    }
    return all;
}

bool Rounds::prepare(Entry& entry, std::vector<LeftOut>& left_out) {
    const Cell& cell = entry.series.cell;
    if (cell.kind == Kind::figures) {
        entry.series.operations = cell.operations;
        entry.rounds = std::min(options_.rounds, rounds_of_figures);
        return true;
    }
    try {
        const Plan plan = calibrate(
            cell.operations, options_.seconds, options_.rounds,
            [&](std::uint64_t operations) { return run_cell_(cell, operations).seconds; });
        entry.series.operations = plan.operations;
        entry.rounds = plan.rounds;
        return true;
    } catch (const RunFailed& error) {
        leave_out(cell, error, left_out);
        return false;
    }
}

bool Rounds::add_sample(Entry& entry, unsigned round, std::vector<LeftOut>& left_out) {
    Series& series = entry.series;
    try {
        const Measured measured = run_cell_(series.cell, series.operations).measured;
        if (series.cell.kind == Kind::figures) {
            add_figures(measured, round, series);
        } else {
            series.samples.push_back({round, measured.nanoseconds});
        }
        return true;
    } catch (const RunFailed& error) {
        leave_out(series.cell, error, left_out);
        return false;
    }
}

void Rounds::leave_out(const Cell& cell, const RunFailed& error, std::vector<LeftOut>& left_out) {
    left_out.push_back({cell.name(), error.what()});
    if (!cell.peer() && !error.impossible) failed_ = true;
}

}  // namespace bench
