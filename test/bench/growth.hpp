// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_GROWTH_HPP
#define REACTOR_TEST_BENCH_GROWTH_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <test/bench/measure.hpp>

namespace bench {

/// An operation that is done while many of its kind are there: what one costs as they become more.
struct Growth {
    const char* thing;
    const char* shape;         // of the cost over the size: "flat" or "logarithmic"
    std::size_t largest;       // of the sizes, which are 100, 1,000 and so on
    std::uint64_t operations;  // for a quarter of a second or so; some do more: all that there are
    std::uint64_t counted;     // for a run under valgrind
    std::uint64_t (*run)(std::size_t size, std::uint64_t operations, Measurement& measured);
};

constexpr std::size_t smallest_size = 100;

/// `operations` in rounds of `each`, at least one; what they make together.
template <class F>
std::uint64_t in_rounds(std::uint64_t operations, std::uint64_t each, F round) {
    const std::uint64_t rounds = (operations + each - 1) / each;
    for (std::uint64_t i = 0; i < rounds; ++i) round();
    return rounds * each;
}

/// Picks among many, the same ones in every run: a few instructions, since it is measured as well.
/// (Marsaglia's xorshift, and Lemire's multiplication in place of a division.)
class Pick {
public:
    /// Less than `below`.
    std::size_t operator()(std::size_t below) noexcept {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<std::size_t>((state_ >> 32) * below >> 32);
    }

private:
    std::uint64_t state_ = 88172645463325252u;
};

/// Calls f(index) for `batch` of `size`, apart from each other and none twice: which is left to
/// `pick`. `size` is a multiple of `batch`.
template <class F>
void each_of_some(Pick& pick, std::size_t size, std::size_t batch, F f) {
    const std::size_t apart = size / batch;
    std::size_t index = pick(apart);
    for (std::size_t i = 0; i < batch; ++i, index += apart) f(index);
}

/// `program list` prints a line "growth-THING@SIZE ours operations counted shape" for each size;
/// `program growth-THING@SIZE ours [OPERATIONS]` runs one and prints a line "workload ours
/// operations cpu_ns_per_op".
inline int run(const std::vector<Growth>& growths, int argc, char** argv) {
    const bool list = argc == 2 && std::string(argv[1]) == "list";
    if (argc == 2 && std::string(argv[1]) == "version") return 0;  // nobody is compared with
    for (const Growth& growth : growths) {
        for (std::size_t size = smallest_size; size <= growth.largest; size *= 10) {
            const std::string name =
                "growth-" + std::string(growth.thing) + "@" + std::to_string(size);
            if (list) {
                std::printf("%s ours %llu %llu %s\n", name.c_str(),
                            static_cast<unsigned long long>(growth.operations),
                            static_cast<unsigned long long>(growth.counted), growth.shape);
            }
            if (argc < 3 || name != argv[1] || std::string(argv[2]) != "ours") continue;
            const std::uint64_t wanted =
                argc > 3 ? std::strtoull(argv[3], nullptr, 10) : growth.operations;
            try {
                const IdleThread idle;
                Measurement measured;
                const std::uint64_t done =
                    growth.run(size, std::max<std::uint64_t>(wanted, 1), measured);
                std::printf(
                    "%s ours %llu %.2f\n", name.c_str(), static_cast<unsigned long long>(done),
                    static_cast<double>(measured.nanoseconds()) / static_cast<double>(done));
                return 0;
            } catch (const std::exception& error) {
                std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
                return 1;
            }
        }
    }
    if (list) return 0;
    std::fprintf(stderr, "usage: %s list | WORKLOAD ours [OPERATIONS]\n", argv[0]);
    return 2;
}

}  // namespace bench

#endif
