// SPDX-License-Identifier: BSL-1.0
#include "scenario.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

const char* const usage =
    "fuzz_net [--seeds N] [--seed X] [--only echo|proxy|chat]\n"
    "\n"
    "Runs servers and clients in a network in memory, in which anything may happen: each seed is "
    "a\n"
    "run of its own, the same each time. Prints a line for each scenario; for a seed that fails,\n"
    "what is wrong and how to see it again.\n"
    "\n"
    "  --seeds N   so many of them, from 1 on (default: 1000)\n"
    "  --seed X    this one only, with everything that happens\n"
    "  --only NAME this scenario only\n";

struct Scenario {
    const char* name;
    fuzz::Outcome (*run)(std::uint64_t seed, const std::string& selector);
};

constexpr Scenario scenarios[] = {
    {"echo", &fuzz::run_echo}, {"proxy", &fuzz::run_proxy}, {"chat", &fuzz::run_chat}};

// A seed that fails is enough to begin with.
constexpr std::size_t most_told = 3;

bool parse(const char* text, std::uint64_t& number) {
    char* end = nullptr;
    number = std::strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

void tell(const Scenario& scenario, std::uint64_t seed, const fuzz::Outcome& outcome) {
    std::printf("%s: seed %llu fails\n", scenario.name, static_cast<unsigned long long>(seed));
    for (const std::string& fault : outcome.faults) std::printf("    %s\n", fault.c_str());
    std::printf("    again, with its log: bin/fuzz_net --only %s --seed %llu\n", scenario.name,
                static_cast<unsigned long long>(seed));
}

bool is_scenario(const char* name) {
    for (const Scenario& scenario : scenarios) {
        if (std::strcmp(name, scenario.name) == 0) return true;
    }
    return false;
}

/// True: all is well.
bool run(const Scenario& scenario, std::uint64_t seeds) {
    std::size_t failed = 0;
    std::size_t clients = 0;
    std::size_t whole = 0;
    std::uint64_t bytes = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const fuzz::Outcome outcome = scenario.run(seed, std::string());
        clients += outcome.clients;
        whole += outcome.whole;
        bytes += outcome.bytes;
        if (!outcome.faults.empty() && ++failed <= most_told) tell(scenario, seed, outcome);
    }
    std::printf("%s: %llu seeds, %llu failed; %llu clients, %llu of them whole, %llu bytes\n",
                scenario.name, static_cast<unsigned long long>(seeds),
                static_cast<unsigned long long>(failed), static_cast<unsigned long long>(clients),
                static_cast<unsigned long long>(whole), static_cast<unsigned long long>(bytes));
    return failed == 0;
}

bool replay(const Scenario& scenario, std::uint64_t seed) {
    const fuzz::Outcome outcome = scenario.run(seed, std::string());
    std::printf("---- %s, seed %llu\n%s", scenario.name, static_cast<unsigned long long>(seed),
                outcome.log.c_str());
    if (!outcome.faults.empty()) tell(scenario, seed, outcome);
    return outcome.faults.empty();
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t seeds = 1000;
    std::uint64_t seed = 0;
    bool one = false;
    const char* only = nullptr;
    for (int i = 1; i < argc; i += 2) {
        const std::string option = argv[i];
        const char* const value = i + 1 < argc ? argv[i + 1] : "";
        if (option == "--seeds" && parse(value, seeds)) continue;
        if (option == "--seed" && parse(value, seed)) {
            one = true;
            continue;
        }
        if (option == "--only" && is_scenario(value)) {
            only = value;
            continue;
        }
        std::fputs(usage, option == "--help" ? stdout : stderr);
        return option == "--help" ? 0 : 2;
    }
    bool well = true;
    for (const Scenario& scenario : scenarios) {
        if (only && std::strcmp(only, scenario.name) != 0) continue;
        if (!(one ? replay(scenario, seed) : run(scenario, seeds))) well = false;
    }
    return well ? 0 : 1;
}
