// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/counts.hpp>

#include <sstream>
#include <stdexcept>
#include <vector>

namespace bench {

std::uint64_t parse_callgrind(const std::string& output) {
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string key;
        std::uint64_t total = 0;
        if (words >> key && key == "totals:" && words >> total) return total;
    }
    throw std::runtime_error("callgrind says nothing of totals");
}

// % time     seconds  usecs/call     calls    errors syscall
//  60.00    0.000003           1         3         1 epoll_wait
// 100.00    0.000005           1         5         1 total
std::uint64_t parse_strace(const std::string& output) {
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream stream(line);
        std::vector<std::string> words;
        for (std::string word; stream >> word;) words.push_back(word);
        if (words.size() < 5 || words.back() != "total") continue;
        std::uint64_t calls = 0;
        if (std::istringstream(words[3]) >> calls) return calls;
    }
    throw std::runtime_error("strace says nothing of a total");
}

}  // namespace bench
