// SPDX-License-Identifier: BSL-1.0
#include <reactor/clock.hpp>

namespace reactor {

namespace {

class SteadyClock final : public Clock {
public:
    TimePoint now() const noexcept override {
        return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
    }
};

}  // namespace

Clock::~Clock() = default;

const Clock& Clock::steady() noexcept {
    static const SteadyClock clock;
    return clock;
}

namespace detail {

void throw_nan_delay(const char* call) {
    throw std::invalid_argument(std::string(call) +
                                ": the length of time is not a number (NaN): give a finite one, or "
                                "forever()");
}

}  // namespace detail

}  // namespace reactor
