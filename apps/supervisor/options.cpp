// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <apps/command_line/arguments.hpp>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>

namespace supervisor {

using namespace command_line;

const char* const usage =
    "usage: supervisor [options] FILE\n"
    "       supervisor [options] --run PROGRAM...\n"
    "Starts programs, keeps them running, and prints what they write, until SIGTERM, SIGINT or\n"
    "SIGHUP, or until all have ended for good.\n"
    "\n"
    "A PROGRAM, and each line of FILE, is NAME [KEY=VALUE...]: COMMAND, as in\n"
    "\n"
    "  # lines like this one say nothing\n"
    "  db  grace=60 stop=INT                  : postgres -D /srv/db\n"
    "  web after=db restart=on-failure tries=5: ./web --title 'Two words' \"it's\" a\\ word\n"
    "\n"
    "  after=NAME,NAME   started behind these, and stopped before them; else as they stand\n"
    "  restart=WHEN      it ends: always, on-failure (not with exit code 0), never (default:\n"
    "                    always)\n"
    "  pause=S           before a restart; each is longer than the last one (default: 1)\n"
    "  longest=S         up to so long (default: 60)\n"
    "  stable=S          who has run so long begins with the first pause again (default: 10)\n"
    "  tries=N           given up when so many in a row were not stable (default: never)\n"
    "  stop=SIGNAL       that asks it to end (default: TERM)\n"
    "  grace=S           until it is killed, with its process group (default: 10)\n"
    "\n"
    "COMMAND is a program, looked up in PATH, and its arguments; there is no shell unless it is\n"
    "sh -c '...'. It leads a session and a process group of its own, reads from /dev/null, and "
    "what\n"
    "is left of its group when it ends is killed.\n"
    "\n"
    "  --run PROGRAM     may be repeated, also beside a FILE\n"
    "  --line BYTES      a longer line of a program is cut (default: 8192)\n"
    "  --linger S        after a program's end, for the end of its output, which others may hold "
    "open\n"
    "                    (default: 5)\n"
    "  --help            this text\n"
    "\n"
    "A line printed is \"NAME | \" and what a program has written to its standard output, \"NAME ! "
    "\"\n"
    "for its standard error, \"NAME * \" for what has become of it. After a signal the programs "
    "are\n"
    "stopped, the last one first; a second signal kills them all.\n"
    "\n"
    "Exit status: 0 ended by a signal, or all programs have ended well; 1 one has failed or was "
    "given\n"
    "up, or nobody takes what is printed; 2 wrong usage.\n";

namespace {

// What is longer is no list of programs.
constexpr std::size_t longest_file = 1024 * 1024;

std::string read_file(const std::string& path) {
    const auto fail = [&](int code) {
        throw std::system_error(code, std::system_category(), "read " + path);
    };
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                               &std::fclose);
    if (!file) fail(errno);
    std::string text(longest_file + 1, '\0');
    text.resize(std::fread(&text[0], 1, text.size(), file.get()));
    if (std::ferror(file.get())) fail(errno);
    if (text.size() > longest_file) {
        throw UsageError(path + ": longer than 1 MiB: this is no list of programs");
    }
    return text;
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
    Options options;
    std::vector<ProgramOptions> programs;
    std::size_t given = 0;
    std::string file;
    Arguments arguments(argc, argv);
    while (!arguments.empty()) {
        const std::string word = arguments.next();
        if (word == "--help") {
            options.help = true;
            return options;
        } else if (word == "--run") {
            const std::string program = arguments.value_of(word);
            if (program.find('\n') != std::string::npos) {
                throw UsageError("--run: one program, not several lines: repeat --run");
            }
            read_programs(program, "--run " + std::to_string(++given), programs);
        } else if (word == "--line") {
            options.output.longest_line = parse_count(word, arguments.value_of(word));
        } else if (word == "--linger") {
            options.output.linger = parse_seconds(word, arguments.value_of(word));
        } else if (!word.empty() && word[0] == '-') {
            throw UsageError("unknown option " + word);
        } else if (!file.empty()) {
            throw UsageError("one FILE, not " + word + " as well");
        } else {
            file = word;
            read_programs(read_file(file), file, programs);
        }
    }
    if (programs.empty()) {
        throw UsageError(file.empty()
                             ? "no program: FILE or --run is needed"
                             : file + ": no program in it: a line NAME: COMMAND is needed");
    }
    options.programs = in_order(programs);
    return options;
}

}  // namespace supervisor
