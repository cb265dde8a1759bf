// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/rounds.hpp>

#include <algorithm>
#include <utility>

#include <test/bench/driver/calibration.hpp>

namespace bench {

namespace {

constexpr unsigned rounds_of_figures = 3;
constexpr unsigned rounds_of_growth = 3;
constexpr std::uint64_t part_when_quick = 10;      // of the operations of figures
constexpr std::uint64_t most_when_quick = 100000;  // there are of what grows

/// To begin with: a peer may be much slower than ours, which growth is of.
std::uint64_t first_operations(const Cell& cell) {
    return cell.operations / (cell.growth() ? 8 : 50);
}

/// In the order in which they are prepared: should there be too little time, growth is what it is
/// too little for.
std::vector<Cell> to_measure(std::vector<Cell> cells, bool quick, std::vector<LeftOut>& left_out) {
    std::stable_partition(cells.begin(), cells.end(),
                          [](const Cell& cell) { return !cell.growth(); });
    if (!quick) return cells;
    const auto too_many = [](const Cell& cell) {
        return cell.growth() && size_of(cell.workload).value > most_when_quick;
    };
    const auto end = std::remove_if(cells.begin(), cells.end(), too_many);
    if (end != cells.end()) {
        left_out.push_back({"growth beyond " + std::to_string(most_when_quick), "--quick"});
        cells.erase(end, cells.end());
    }
    return cells;
}

unsigned wanted_rounds(const Cell& cell, const Options& options) {
    if (cell.kind == Kind::exact) return 1;
    if (cell.kind == Kind::time) return options.rounds;
    // Nobody is compared with them in the same round.
    if (options.quick) return 1;
    return std::min(options.rounds, cell.growth() ? rounds_of_growth : rounds_of_figures);
}

void add_figures(const Measured& measured, unsigned round, Series& series) {
    for (std::size_t i = 0; i < measured.figures.size(); ++i) {
        if (i == series.figures.size()) series.figures.push_back({measured.figures[i].first, {}});
        if (series.figures[i].first != measured.figures[i].first) {
            throw RunFailed("has other figures than before", false);
        }
        series.figures[i].second.push_back({round, measured.figures[i].second});
    }
}

void add(const Measured& measured, unsigned round, Series& series) {
    if (series.cell.figures()) {
        add_figures(measured, round, series);
    } else {
        series.samples.push_back({round, measured.nanoseconds});
    }
}

}  // namespace

struct Rounds::Entry {
    Series series;
    double seconds;   // that a run takes
    unsigned rounds;  // those that it is to run in
    unsigned done;
    Measured first;  // what it measured when that was found out
    bool gone;
};

Rounds::Rounds(const Options& options, RunCell run_cell, Say say, Now now)
    : options_(options),
      run_cell_(std::move(run_cell)),
      say_(std::move(say)),
      now_(std::move(now)),
      end_(time_used * 60 * options.minutes) {}

std::vector<Series> Rounds::measure(const std::vector<Cell>& cells,
                                    std::vector<LeftOut>& left_out) {
    std::vector<Entry> entries;
    for (const Cell& cell : to_measure(cells, options_.quick, left_out)) {
        if (now_() > end_) {
            left_out.push_back({cell.name(), "there was no time left (--minutes)"});
            continue;
        }
        say_("calibrating " + cell.name());
        Entry entry = {Series(cell), 0, 0, 0, Measured(), false};
        if (prepare(entry, left_out)) entries.push_back(std::move(entry));
    }
    const unsigned most = affordable(entries);
    for (unsigned round = 1; round <= most; ++round) {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const Entry& entry = entries[i];
            if (!entry.gone && entry.done < round && round <= entry.rounds) order.push_back(i);
        }
        if (round > 1 && now_() + round_time(entries, order) > end_) break;
        std::shuffle(order.begin(), order.end(), random_);
        for (const std::size_t i : order) {
            if (now_() + entries[i].seconds > end_) continue;
            say_("round " + std::to_string(round) + " of " + std::to_string(most) + ": " +
                 entries[i].series.cell.name());
            entries[i].gone = !add_sample(entries[i], round, left_out);
        }
    }
    std::vector<Series> all;
    for (Entry& entry : entries) {
        if (entry.gone) continue;
        if (entry.done == 0) add(entry.first, 0, entry.series);
        all.push_back(std::move(entry.series));
    }
    return all;
}

// The last run of it is also its first round, if nobody is compared with it or it has only one.
bool Rounds::prepare(Entry& entry, std::vector<LeftOut>& left_out) {
    const Cell& cell = entry.series.cell;
    const unsigned wanted = wanted_rounds(cell, options_);
    try {
        const auto run = [&](std::uint64_t operations) -> Tried {
            const Run done = run_cell_(cell, operations);
            entry.first = done.measured;
            return {
                done.measured.operations, done.seconds,
                1e-9 * done.measured.nanoseconds * static_cast<double>(done.measured.operations)};
        };
        if (cell.figures()) {
            const Tried tried = run(std::max<std::uint64_t>(
                1, options_.quick ? cell.operations / part_when_quick : cell.operations));
            entry.series.operations = tried.operations;
            entry.seconds = tried.seconds;
            entry.rounds = wanted;
        } else {
            const Plan plan =
                calibrate(cell.operations, first_operations(cell), options_.seconds, wanted, run);
            entry.series.operations = plan.operations;
            entry.seconds = plan.seconds;
            entry.rounds = plan.rounds;
        }
        if (cell.kind != Kind::time || (entry.rounds == 1 && wanted != 1)) {
            add(entry.first, 1, entry.series);
            entry.done = 1;
        }
        return true;
    } catch (const RunFailed& error) {
        leave_out(cell, error, left_out);
        return false;
    }
}

bool Rounds::add_sample(Entry& entry, unsigned round, std::vector<LeftOut>& left_out) {
    try {
        add(run_cell_(entry.series.cell, entry.series.operations).measured, round, entry.series);
        entry.done = round;
        return true;
    } catch (const RunFailed& error) {
        leave_out(entry.series.cell, error, left_out);
        return false;
    }
}

double Rounds::round_time(const std::vector<Entry>& entries,
                          const std::vector<std::size_t>& order) {
    double seconds = 0;
    for (const std::size_t i : order) seconds += entries[i].seconds;
    return seconds;
}

// The most rounds for which there is time; one, if there is too little for all of that.
unsigned Rounds::affordable(const std::vector<Entry>& entries) const {
    double left = end_ - now_();
    unsigned round = 0;
    while (round < options_.rounds) {
        for (const Entry& entry : entries) {
            if (entry.done <= round && round < entry.rounds) left -= entry.seconds;
        }
        if (left < 0) break;
        ++round;
    }
    return std::max(1u, round);
}

void Rounds::leave_out(const Cell& cell, const RunFailed& error, std::vector<LeftOut>& left_out) {
    left_out.push_back({cell.name(), error.what()});
    if (!cell.peer() && !error.impossible) failed_ = true;
}

}  // namespace bench
