// SPDX-License-Identifier: BSL-1.0
#include "options.hpp"

#include <apps/command_line/arguments.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <sys/resource.h>

namespace crawler {

using namespace command_line;

const char* const usage =
    "usage: crawler [options] URL...\n"
    "       crawler [options] --input FILE\n"
    "       crawler [options] --demo\n"
    "Fetches pictures concurrently over HTTP and writes them into a directory.\n"
    "\n"
    "  --input FILE       more URLs, one a line; '-' is standard input, '#' begins a comment\n"
    "  --output DIR       where the pictures go (default: pic)\n"
    "  --jobs N           how many are fetched at a time (default: 64)\n"
    "  --timeout SECONDS  for each whole fetch (default: 30)\n"
    "  --demo             serves ten pictures from this very process and fetches them\n"
    "  --serve            only serves pictures; the first line printed is the base URL\n"
    "  --count N          ... /1.png to /N.png (default: 1000)\n"
    "  --latency SECONDS  ... after this time each (default: 0.1)\n"
    "  --help             this text\n"
    "\n"
    "Exit status: 0 all fetched, 1 some failed, 2 wrong usage, 130 interrupted.\n";

namespace {

// Standard streams, selector, wake-up, resolver and executor, with room to spare.
constexpr std::size_t other_descriptors = 48;

void read_urls(const std::string& path, std::vector<std::string>& urls) {
    struct Close {
        void operator()(std::FILE* file) const {
            if (file != stdin) std::fclose(file);
        }
    };
    const std::unique_ptr<std::FILE, Close> file(path == "-" ? stdin
                                                             : std::fopen(path.c_str(), "re"));
    if (!file) throw std::system_error(errno, std::system_category(), "--input: open " + path);
    std::string line;
    const auto take = [&] {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin != std::string::npos && line[begin] != '#') {
            urls.push_back(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
        }
        line.clear();
    };
    for (int c; (c = std::getc(file.get())) != EOF;) {
        if (c == '\n') {
            take();
        } else {
            line += static_cast<char>(c);
        }
    }
    if (std::ferror(file.get())) {
        throw std::system_error(errno, std::system_category(), "--input: read " + path);
    }
    take();
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
    Options options;
    Arguments arguments(argc, argv);
    bool only_urls = false;
    while (!arguments.empty()) {
        const std::string word = arguments.next();
        if (only_urls || word.empty() || word[0] != '-') {
            options.urls.push_back(word);
        } else if (word == "--") {
            only_urls = true;
        } else if (word == "--help") {
            options.mode = Options::Mode::help;
            return options;
        } else if (word == "--demo") {
            options.mode = Options::Mode::demo;
        } else if (word == "--serve") {
            options.mode = Options::Mode::serve;
        } else if (word == "--input") {
            read_urls(arguments.value_of(word), options.urls);
        } else if (word == "--output") {
            options.output = arguments.value_of(word);
        } else if (word == "--jobs") {
            options.jobs = parse_count(word, arguments.value_of(word));
        } else if (word == "--timeout") {
            options.timeout = parse_seconds(word, arguments.value_of(word));
        } else if (word == "--count") {
            options.count = parse_count(word, arguments.value_of(word));
        } else if (word == "--latency") {
            options.latency = parse_seconds(word, arguments.value_of(word));
        } else {
            throw UsageError("unknown option " + word);
        }
    }
    if (options.output.empty()) throw UsageError("--output needs a directory");
    if (options.mode == Options::Mode::crawl && options.urls.empty()) {
        throw UsageError("no URL given");
    }
    if (options.mode != Options::Mode::crawl && !options.urls.empty()) {
        throw UsageError("--demo and --serve take no URL: they have pictures of their own");
    }
    return options;
}

std::size_t affordable_jobs(std::size_t wanted, std::size_t each) {
    struct rlimit limit;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
    const rlim_t needed = wanted * each + other_descriptors;
    if (limit.rlim_cur < needed && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= needed) return wanted;
    const std::size_t usable =
        limit.rlim_cur > other_descriptors ? limit.rlim_cur - other_descriptors : 0;
    return std::max<std::size_t>(1, std::min(wanted, usable / each));
}

}  // namespace crawler
