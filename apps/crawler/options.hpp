// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CRAWLER_OPTIONS_HPP
#define REACTOR_CRAWLER_OPTIONS_HPP

#include <reactor/clock.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace crawler {

/// What the command line says.
struct Options {
    enum class Mode { crawl, demo, serve, help };

    Mode mode = Mode::crawl;
    std::vector<std::string> urls;
    std::size_t jobs = 64;
    reactor::Duration timeout = std::chrono::seconds(30);
    std::string output = "pic";
    std::size_t count = 1000;                                    // of pictures that are served
    reactor::Duration latency = std::chrono::milliseconds(100);  // of each of them
};

/// Throws command_line::UsageError, and std::system_error if the file of URLs cannot be read.
Options parse_options(int argc, const char* const* argv);

extern const char* const usage;

/// How many fetches the process has descriptors for, after raising its soft limit to the hard one;
/// `each` is how many a fetch needs.
std::size_t affordable_jobs(std::size_t wanted, std::size_t each);

}  // namespace crawler

#endif
