// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/numbers.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bench {

std::string fixed(double number, int digits) {
    if (std::isnan(number)) return "-";
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, number);
    return text;
}

// With the digits of the number as it is rounded: 9.996 is 10.0.
std::string short_number(double number) {
    return fixed(number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
}

std::string duration(double nanoseconds) {
    if (std::isnan(nanoseconds)) return "-";
    if (nanoseconds < 999.5) return short_number(nanoseconds) + " ns";
    if (nanoseconds < 999.5e3) return short_number(nanoseconds / 1e3) + " µs";
    if (nanoseconds < 999.5e6) return short_number(nanoseconds / 1e6) + " ms";
    return short_number(nanoseconds / 1e9) + " s";
}

std::string size(std::uint64_t count) {
    static const char* const powers[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    int power = 0;
    std::uint64_t left = count;
    while (left >= 10 && left % 10 == 0) {
        left /= 10;
        ++power;
    }
    return left == 1 && power >= 2 && power < 10 ? std::string("10") + powers[power]
                                                 : std::to_string(count);
}

std::string words(std::string name) {
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

}  // namespace bench
