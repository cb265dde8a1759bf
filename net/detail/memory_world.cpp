// SPDX-License-Identifier: BSL-1.0
#include <net/detail/memory_world.hpp>

#include <stdexcept>

namespace reactor {
namespace net {
namespace detail {

namespace {

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("MemoryNetworkOptions: ") + what);
}

void check(const testing::MemoryNetworkOptions& options) {
    for (const double probability :
         {options.short_reads, options.short_writes, options.spurious_events, options.resets,
          options.refused_connects, options.failing_accepts, options.failing_lookups}) {
        require(probability >= 0 && probability <= 1, "a probability is from 0 to 1");
    }
    require(options.shortest_latency >= Duration::zero() &&
                options.shortest_latency <= options.longest_latency &&
                options.longest_latency < forever(),
            "0 <= shortest_latency <= longest_latency < forever() does not hold");
    require(options.shortest_lookup >= Duration::zero() &&
                options.shortest_lookup <= options.longest_lookup &&
                options.longest_lookup < forever(),
            "0 <= shortest_lookup <= longest_lookup < forever() does not hold");
    require(options.send_buffer > 0 && options.receive_buffer > 0 && options.largest_segment > 0,
            "buffers and segments have room for a byte at least");
}

/// "0.001204000"
std::string seconds_of(Duration time) {
    const auto count = static_cast<std::uint64_t>(time.count());
    std::string part = std::to_string(count % 1000000000u);
    part.insert(0, 9 - part.size(), '0');
    return std::to_string(count / 1000000000u) + '.' + part;
}

}  // namespace

MemoryWorld::MemoryWorld(const reactor::testing::VirtualClock& clock, std::uint64_t seed,
                         const testing::MemoryNetworkOptions& network_options)
    : options((check(network_options), network_options)),
      random(seed),
      clock_(&clock),
      start_(clock.now()) {}

void MemoryWorld::at(TimePoint time, std::function<void()> happening) {
    coming_.emplace(Place(time, sequence_++), std::move(happening));
}

void MemoryWorld::run_due() {
    while (!coming_.empty() && coming_.begin()->first.first <= now()) {
        const std::function<void()> happening = std::move(coming_.begin()->second);
        coming_.erase(coming_.begin());
        happening();
    }
}

void MemoryWorld::note(const std::string& text) {
    if (over()) return;
    lines_.push_back(seconds_of(now() - start_) + ' ' + text);
    if (lines_.size() > options.log_lines) {
        lines_.pop_front();
        ++lines_before_;
    }
}

std::string MemoryWorld::diary() const {
    std::string text;
    if (lines_before_ != 0) {
        text = "(" + std::to_string(lines_before_) + " lines before are not kept)\n";
    }
    for (const std::string& line : lines_) text += line + '\n';
    return text;
}

void MemoryWorld::end() noexcept {
    clock_ = nullptr;
    coming_.clear();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
