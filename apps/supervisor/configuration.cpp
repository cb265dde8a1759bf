// SPDX-License-Identifier: BSL-1.0
#include "configuration.hpp"

#include <apps/command_line/arguments.hpp>

#include <net/exit_status.hpp>

#include <algorithm>
#include <cstring>

namespace supervisor {

using command_line::UsageError;

namespace {

constexpr std::size_t longest_name = 32;

const char* const blanks = " \t";
// What a shell would take for something else than itself. Nobody shall believe that one is there.
const char* const for_a_shell = "|&;<>$`*?()";

/// Tells where in the text something is wrong.
struct Place {
    std::string where;
    [[noreturn]] void refuse(const std::string& what) const {
        throw UsageError(where + ": " + what);
    }
};

// ---- the command ----------------------------------------------------------------------------

/// Blanks separate words; '…' holds anything but a ', "…" anything, with \" and \\ for these two;
/// outside a \ takes the next character as it is.
class Words {
public:
    Words(const std::string& text, const Place& place) : text_(text), place_(place) {}

    std::vector<std::string> split() {
        std::vector<std::string> words;
        while ((at_ = text_.find_first_not_of(blanks, at_)) != std::string::npos) {
            words.push_back(word());
        }
        return words;
    }

private:
    std::string word() {
        std::string word;
        for (; at_ < text_.size() && !std::strchr(blanks, text_[at_]); ++at_) {
            const char c = text_[at_];
            if (c == '\'') {
                const std::size_t end = text_.find('\'', at_ + 1);
                if (end == std::string::npos) place_.refuse("a ' is not closed: add another one");
                word.append(text_, at_ + 1, end - at_ - 1);
                at_ = end;
            } else if (c == '"') {
                quoted(word);
            } else if (c == '\\') {
                if (++at_ == text_.size()) {
                    place_.refuse(
                        "a \\ at the end: a program has one line; double it if it is meant");
                }
                word += text_[at_];
            } else if (std::strchr(for_a_shell, c)) {
                place_.refuse(std::string("no shell will see the ") + c +
                              ": quote it, or run sh -c '...'");
            } else {
                word += c;
            }
        }
        return word;
    }

    void quoted(std::string& word) {
        while (++at_ < text_.size() && text_[at_] != '"') {
            const bool escapes = text_[at_] == '\\' && at_ + 1 < text_.size() &&
                                 (text_[at_ + 1] == '"' || text_[at_ + 1] == '\\');
            if (escapes) ++at_;
            word += text_[at_];
        }
        if (at_ == text_.size()) place_.refuse("a \" is not closed: add another one");
    }

    const std::string& text_;
    const Place& place_;
    std::size_t at_ = 0;
};

// ---- what stands before it ------------------------------------------------------------------

bool is_name(const std::string& text) {
    const auto fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    };
    return !text.empty() && text.size() <= longest_name &&
           std::all_of(text.begin(), text.end(), fits);
}

std::vector<std::string> split(const std::string& text, const char* separators) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; (at = text.find_first_not_of(separators, at)) != std::string::npos;) {
        const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end;
    }
    return parts;
}

int parse_signal(const std::string& key, const std::string& text) {
    for (int signal = 1; signal < NSIG; ++signal) {
        const std::string name = signal_name(signal);
        if (text == name || "SIG" + text == name || text == std::to_string(signal)) return signal;
    }
    throw UsageError(key + ": '" + text +
                     "' is no signal: TERM, INT, QUIT, HUP, USR1, or a number");
}

ProgramOptions::Restart parse_restart(const std::string& key, const std::string& text) {
    if (text == "always") return ProgramOptions::Restart::always;
    if (text == "on-failure") return ProgramOptions::Restart::on_failure;
    if (text == "never") return ProgramOptions::Restart::never;
    throw UsageError(key + ": '" + text + "' is not one of always, on-failure, never");
}

void set(ProgramOptions& program, const std::string& setting) {
    using namespace command_line;
    const std::size_t equals = std::min(setting.find('='), setting.size());
    const std::string key = setting.substr(0, equals);
    const std::string value = setting.substr(std::min(equals + 1, setting.size()));
    if (key == "restart") {
        program.restart = parse_restart(key, value);
    } else if (key == "after") {
        program.after = split(value, ",");
        if (program.after.empty()) throw UsageError("after: names are missing, after=NAME,NAME");
    } else if (key == "stop") {
        program.stop = parse_signal(key, value);
    } else if (key == "grace") {
        program.grace = parse_seconds(key, value);
    } else if (key == "pause") {
        program.pause = parse_limit(key, value);
    } else if (key == "longest") {
        program.longest = parse_limit(key, value);
    } else if (key == "stable") {
        program.stable = parse_seconds(key, value);
    } else if (key == "tries") {
        program.tries = parse_count(key, value);
    } else {
        throw UsageError("'" + key +
                         "' is no setting: there are after, restart, pause, longest, stable, "
                         "tries, stop, grace, each as KEY=VALUE");
    }
}

ProgramOptions parse_program(const std::string& line, const Place& place) {
    ProgramOptions program;
    program.where = place.where;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
        place.refuse("no ':' that ends the name and its settings: NAME [KEY=VALUE ...]: COMMAND");
    }
    const std::vector<std::string> head = split(line.substr(0, colon), blanks);
    if (head.empty()) place.refuse("no name before the ':'");
    program.name = head[0];
    if (!is_name(program.name)) {
        place.refuse("'" + program.name + "' is no name: 1 to " + std::to_string(longest_name) +
                     " letters, digits, '-', '_' and '.'");
    }
    try {
        for (std::size_t i = 1; i < head.size(); ++i) set(program, head[i]);
    } catch (const UsageError& error) {
        place.refuse(error.what());
    }
    if (program.longest < program.pause) program.longest = program.pause;

    const std::string command = line.substr(colon + 1);
    program.command = Words(command, place).split();
    if (program.command.empty()) place.refuse("no command behind the ':'");
    if (program.command[0].empty()) place.refuse("the program's name is empty");
    return program;
}

const ProgramOptions* find(const std::vector<ProgramOptions>& programs, const std::string& name) {
    for (const ProgramOptions& program : programs) {
        if (program.name == name) return &program;
    }
    return nullptr;
}

}  // namespace

void read_programs(const std::string& text, const std::string& source,
                   std::vector<ProgramOptions>& programs) {
    std::size_t number = 1;
    for (std::size_t at = 0; at < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        at = end + 1;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        const Place place = {source + ':' + std::to_string(number)};
        if (line.find('\0') != std::string::npos) {
            place.refuse("a zero byte: this is no text");
        }
        const std::size_t first = line.find_first_not_of(blanks);
        if (first == std::string::npos || line[first] == '#') continue;
        ProgramOptions program = parse_program(line, place);
        if (const ProgramOptions* const other = find(programs, program.name)) {
            place.refuse("the name " + program.name + " is taken by " + other->where +
                         ": choose another one");
        }
        programs.push_back(std::move(program));
    }
}

std::vector<ProgramOptions> in_order(const std::vector<ProgramOptions>& programs) {
    for (const ProgramOptions& program : programs) {
        for (const std::string& name : program.after) {
            if (find(programs, name)) continue;
            Place{program.where}.refuse("after=" + name + ": no program has this name");
        }
    }
    std::vector<ProgramOptions> ordered, left = programs;
    while (!left.empty()) {
        const auto next =
            std::find_if(left.begin(), left.end(), [&](const ProgramOptions& program) {
                return std::all_of(program.after.begin(), program.after.end(),
                                   [&](const std::string& name) { return find(ordered, name); });
            });
        if (next == left.end()) {
            std::string names;
            for (const ProgramOptions& program : left) {
                names += (names.empty() ? "" : ", ") + program.name;
            }
            Place{left[0].where}.refuse("after=" + left[0].after[0] +
                                        ": none of these can be the first: " + names +
                                        "; leave one 'after' out");
        }
        ordered.push_back(*next);
        left.erase(next);
    }
    return ordered;
}

std::string signal_name(int signal) {
    const std::string text = reactor::net::ExitStatus::of_signal(signal).str();
    return text.substr(0, text.find(" ("));
}

}  // namespace supervisor
