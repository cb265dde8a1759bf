// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_COMMAND_LINE_ARGUMENTS_HPP
#define REACTOR_COMMAND_LINE_ARGUMENTS_HPP

#include <reactor/clock.hpp>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>

/// What the programs share in reading their command lines.
namespace command_line {

/// The command line is not one; what() is a sentence for the user.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What a program's exit status says.
constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_signal = 128;  // plus the signal's number, as a shell reports it

/// The arguments, taken from the front.
class Arguments {
public:
    Arguments(int argc, const char* const* argv) : at_(argv + 1), end_(argv + argc) {}

    bool empty() const { return at_ >= end_; }
    std::string next() { return *at_++; }
    std::string value_of(const std::string& option) {
        if (empty()) throw UsageError(option + " needs a value");
        return next();
    }

private:
    const char* const* at_;
    const char* const* end_;
};

inline std::size_t parse_count(const std::string& option, const std::string& text) {
    char* end = nullptr;
    errno = 0;
    const unsigned long long count = std::strtoull(text.c_str(), &end, 10);
    const bool digits = !text.empty() && text[0] >= '0' && text[0] <= '9' && *end == '\0';
    if (!digits || errno != 0 || count == 0 || count > 1000 * 1000 * 1000) {
        throw UsageError(option + ": '" + text + "' is not a whole number from 1 to 1000000000");
    }
    return static_cast<std::size_t>(count);
}

inline reactor::Duration parse_seconds(const std::string& option, const std::string& text) {
    // Neither hexadecimal nor "nan", which strtod() would take.
    const bool decimal =
        !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string::npos;
    char* end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    if (!decimal || *end != '\0' || !(seconds >= 0)) {
        throw UsageError(option + ": '" + text + "' is not a number of seconds");
    }
    return reactor::saturated(std::chrono::duration<double>(seconds));
}

/// A limit of time: 0 is none at all, and no program can mean it.
inline reactor::Duration parse_limit(const std::string& option, const std::string& text) {
    const reactor::Duration limit = parse_seconds(option, text);
    if (limit <= reactor::Duration::zero()) {
        throw UsageError(option + ": '" + text + "' is no time at all");
    }
    return limit;
}

}  // namespace command_line

#endif
