// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_RAW_MOVING_TIMERS_HPP
#define REACTOR_TEST_BENCH_RAW_MOVING_TIMERS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// The least that it costs to push a timer back by moving it in its queue at once: a 4-ary heap of
/// {deadline, number}, and the place of each number's entry beside it. For a fixed set of timers.
class RawMovingTimers {
public:
    explicit RawMovingTimers(std::size_t count) : places_(count) { heap_.reserve(count); }

    /// Once for each number.
    void add(std::size_t number, std::int64_t when) {
        heap_.push_back(Entry());
        std::size_t hole = heap_.size() - 1;
        for (; hole > 0; hole = (hole - 1) / arity) {
            const Entry& parent = heap_[(hole - 1) / arity];
            if (parent.when <= when) break;
            put(hole, parent);
        }
        put(hole, Entry{when, number});
    }

    /// To a later time than before.
    void push_back(std::size_t number, std::int64_t when) noexcept {
        const std::size_t size = heap_.size();
        std::size_t hole = places_[number];
        for (;;) {
            const std::size_t first = hole * arity + 1;
            if (first >= size) break;
            const std::size_t end = std::min(first + arity, size);
            std::size_t least = first;
            for (std::size_t child = first + 1; child < end; ++child) {
                if (heap_[child].when < heap_[least].when) least = child;
            }
            if (when <= heap_[least].when) break;
            put(hole, heap_[least]);
            hole = least;
        }
        put(hole, Entry{when, number});
    }

private:
    struct Entry {
        std::int64_t when;
        std::size_t number;
    };
    static constexpr std::size_t arity = 4;

    void put(std::size_t place, const Entry& entry) noexcept {
        heap_[place] = entry;
        places_[entry.number] = place;
    }

    std::vector<Entry> heap_;
    std::vector<std::size_t> places_;
};

}  // namespace bench

#endif
