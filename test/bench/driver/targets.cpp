// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/targets.hpp>

#include <algorithm>

namespace bench {

namespace {

template <class T>
const T* find(const std::vector<T>& tables, const std::string& workload) {
    const auto found = std::find_if(tables.begin(), tables.end(),
                                    [&](const T& table) { return table.workload == workload; });
    return found == tables.end() ? nullptr : &*found;
}

void compare_times(const Table& table, Reached& reached) {
    const Row* const ours = table.of(reached.target.implementation);
    const Row* const measure = table.of(reached.target.measure);
    if (!measure) return;
    if (ours) reached.ours = ratio(ours->series.samples, measure->series.samples);
    if (const Row* const peer = table.best_peer()) {
        reached.best_peer = peer->series.cell.implementation;
        reached.best_peers = ratio(peer->series.samples, measure->series.samples);
    }
}

void compare_figures(const FigureTable& table, Reached& reached) {
    for (const FigureTable::Line& line : table.lines) {
        for (const auto& figure : line.figures) {
            if (figure.first != reached.target.measure) continue;
            if (line.cell.implementation == reached.target.implementation) {
                reached.ours = figure.second;
            } else if (line.cell.peer() && !(reached.best_peers <= figure.second)) {
                reached.best_peer = line.cell.implementation;
                reached.best_peers = figure.second;
            }
        }
    }
}

}  // namespace

const std::vector<Target>& targets() {
    static const std::vector<Target> all = {
        {"a million timers: add", "timer-add-1M", "ours", "limit", 1.0},
        {"a million timers: cancel", "timer-cancel-1M", "ours", "limit", 1.3},
        {"a million timers: fire", "timer-fire-1M", "ours", "limit", 1.0},
        {"a million timers: re-armed when they fire", "timer-rearm-1M", "ours", "limit", 1.3},
        {"a timer pushed back", "timer-push-back-1M", "ours", "limit-moved", 0.35},
        {"call_soon chain, a poll per iteration", "call_soon-chain", "ours", "limit", 1.06},
        {"call_soon chain on io_uring", "call_soon-chain", "ours-io_uring", "limit-unpolled", 2.0},
        {"call_soon batch, no context", "call_soon-batch", "ours", "limit", 1.9},
        {"call_soon batch, one context variable set", "call_soon-batch", "ours-context", "limit",
         2.4},
        {"a promise from create to free, by a call_soon", "promise-done-callback", "ours",
         "limit-call_soon", 4.0},
        {"a task's step, by a call_soon", "task-step", "ours", "limit-call_soon", 5.0},
        {"post from another thread", "post", "ours", "limit", 1.05},
        {"echo of 64 bytes, 64 connections, protocol", "echo-64", "ours", "limit", 1.03},
        {"echo of 64 bytes, 64 connections, promise streams", "echo-64", "ours-streams", "limit",
         1.08},
        {"echo of 16 KiB, 64 connections", "echo-16k-64", "ours", "limit", 1.02},
        {"a stream of 64 bytes, 16 deep", "echo-pipelined", "ours", "limit", 1.03},
        {"connect, echo, close", "churn", "ours", "limit", 1.02},
        {"a ring of 1,000 sockets, 100 bytes under way", "ring-1000-100", "ours", "limit", 1.03},
        {"bytes for an idle connection", "memory-connections", "ours", "allocated_bytes", 200},
        {"the crawl's demo: total by slowest", "crawl-demo", "ours", "seconds/slowest", 1.01},
    };
    return all;
}

std::vector<Reached> compare(const std::vector<Target>& wanted, const Results& results) {
    std::vector<Reached> all;
    for (const Target& target : wanted) {
        Reached reached = {target, no_number, "", no_number};
        if (const Table* const table = find(results.tables, target.workload)) {
            compare_times(*table, reached);
        } else if (const FigureTable* const figures = find(results.figures, target.workload)) {
            compare_figures(*figures, reached);
        }
        all.push_back(std::move(reached));
    }
    return all;
}

}  // namespace bench
