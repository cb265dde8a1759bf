// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_COMMAND_LINE_MODES_HPP
#define REACTOR_COMMAND_LINE_MODES_HPP

#include <apps/command_line/arguments.hpp>

#include <string>

namespace command_line {

/// One of the two things that a program can do, named by its first argument.
template <class Options>
struct Mode {
    const char* word;
    typename Options::Mode mode;
    void (*parse)(Arguments& arguments, Options& options);  // what follows the word
};

/// The options of a program that does one thing or the other; with "--help" anywhere those that it
/// has by default. Throws UsageError.
template <class Options>
Options parse_modes(int argc, const char* const* argv, const Mode<Options>& one,
                    const Mode<Options>& other) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) == "--help") return options;
    }
    Arguments arguments(argc, argv);
    const std::string either = std::string(one.word) + " or " + other.word;
    if (arguments.empty()) throw UsageError(either + '?');
    const std::string word = arguments.next();
    if (word != one.word && word != other.word) {
        throw UsageError(either + ", not '" + word + "'");
    }
    const Mode<Options>& chosen = word == one.word ? one : other;
    options.mode = chosen.mode;
    chosen.parse(arguments, options);
    return options;
}

}  // namespace command_line

#endif
