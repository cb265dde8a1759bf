// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/statistics.hpp>

#include <algorithm>

namespace bench {

double median(std::vector<double> values) {
    if (values.empty()) return no_number;
    std::sort(values.begin(), values.end());
    const std::size_t size = values.size();
    return (values[(size - 1) / 2] + values[size / 2]) / 2;
}

double median(const std::vector<Sample>& samples) {
    std::vector<double> values;
    for (const Sample& sample : samples) values.push_back(sample.value);
    return median(std::move(values));
}

double ratio(const std::vector<Sample>& above, const std::vector<Sample>& below) {
    std::vector<double> ratios;
    std::vector<Sample>::const_iterator under = below.begin();
    for (const Sample& over : above) {
        while (under != below.end() && under->round < over.round) ++under;
        if (under == below.end()) break;
        if (under->round == over.round && under->value > 0) {
            ratios.push_back(over.value / under->value);
        }
    }
    return median(std::move(ratios));
}

}  // namespace bench
