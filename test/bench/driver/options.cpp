// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/options.hpp>

#include <stdexcept>

#include <fnmatch.h>

namespace bench {

const char usage[] =
    "usage: driver [OPTION]...\n"
    "Runs the benchmark's programs and prints what they measure; `b2 bench OPTION...` does it, "
    "too.\n"
    "  --quick            shorter runs and three rounds, in less than four minutes: less exact\n"
    "  --rounds N         how often everything is run, if there is time (7)\n"
    "  --minutes N        the time there is for everything (30; quick: 4)\n"
    "  --only PATTERN     workloads whose name matches, e.g. 'timer-*'; may be there several "
    "times\n"
    "  --instructions     also count instructions (needs valgrind)\n"
    "  --syscalls         also count system calls (needs strace)\n"
    "  --json             print JSON instead of tables\n"
    "  --summary          print the summary in Markdown only\n"
    "  --verbose          say on standard error when each run ends and how long it took\n"
    "  --results DIR      where pictures and tables go, each run into a folder of its own\n"
    "  --programs DIR     where the programs are (beside this one)\n";

namespace {

unsigned to_number(const char* option, const std::string& word) {
    if (word.empty() || word.size() > 4 || word[0] == '0' ||
        word.find_first_not_of("0123456789") != std::string::npos) {
        throw std::invalid_argument(std::string(option) + " is \"" + word +
                                    "\", not a number from 1 to 9999");
    }
    return static_cast<unsigned>(std::stoul(word));
}

/// The words of a command line one after the other, with "--name=value" as two.
class Words {
public:
    explicit Words(const std::vector<std::string>& words) : words_(words) {}

    bool next() {
        if (has_value_) throw std::invalid_argument(option_ + " has no value");
        if (next_ == words_.size()) return false;
        option_ = words_[next_++];
        const std::string::size_type equals = option_.find('=');
        has_value_ = equals != std::string::npos;
        if (has_value_) {
            value_ = option_.substr(equals + 1);
            option_.resize(equals);
        }
        return true;
    }
    const std::string& option() const { return option_; }
    std::string value() {
        if (!has_value_) {
            if (next_ == words_.size()) throw std::invalid_argument(option_ + " needs a value");
            value_ = words_[next_++];
        }
        has_value_ = false;
        if (value_.empty()) throw std::invalid_argument(option_ + " needs a value");
        return value_;
    }

private:
    const std::vector<std::string>& words_;
    std::size_t next_ = 0;
    std::string option_;
    std::string value_;
    bool has_value_ = false;
};

}  // namespace

bool Options::wants(const std::string& workload) const {
    for (const std::string& pattern : only) {
        if (fnmatch(pattern.c_str(), workload.c_str(), 0) == 0) return true;
    }
    return only.empty();
}

Options parse_options(const std::vector<std::string>& words) {
    Options options;
    unsigned rounds = 0;
    unsigned minutes = 0;
    for (Words word(words); word.next();) {
        const std::string& name = word.option();
        if (name == "--quick") {
            options.quick = true;
            options.rounds = 3;
            options.seconds = 0.08;
            options.minutes = 4;
        } else if (name == "--rounds") {
            rounds = to_number("--rounds", word.value());
        } else if (name == "--minutes") {
            minutes = to_number("--minutes", word.value());
        } else if (name == "--only") {
            options.only.push_back(word.value());
        } else if (name == "--instructions") {
            options.instructions = true;
        } else if (name == "--syscalls") {
            options.syscalls = true;
        } else if (name == "--json") {
            options.json = true;
        } else if (name == "--summary") {
            options.summary = true;
        } else if (name == "--verbose") {
            options.verbose = true;
        } else if (name == "--results") {
            options.results = word.value();
        } else if (name == "--programs") {
            options.programs = word.value();
        } else if (name == "--help") {
            options.help = true;
        } else {
            throw std::invalid_argument("what is " + name + "?");
        }
    }
    if (rounds != 0) options.rounds = rounds;
    if (minutes != 0) options.minutes = minutes;
    return options;
}

}  // namespace bench
