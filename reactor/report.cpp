// SPDX-License-Identifier: BSL-1.0
#include <reactor/error.hpp>
#include <reactor/report.hpp>

#include <algorithm>
#include <cerrno>

#include <unistd.h>

namespace reactor {

namespace {

const char* name_of(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return "debug";
        case LogLevel::info:
            return "info";
        case LogLevel::warning:
            return "warning";
        case LogLevel::error:
            return "error";
    }
    return "log";
}

}  // namespace

std::string Report::text() const {
    std::vector<std::pair<std::string, std::string>> rows = details;
    const std::string name = handle.name();
    if (!name.empty()) rows.emplace_back("handle", name);
    if (!promise.empty()) rows.emplace_back("promise", promise);
    if (!task.empty()) rows.emplace_back("task", task);
    std::sort(rows.begin(), rows.end());

    std::string all = message.empty() ? "Unhandled exception in event loop" : message;
    for (const auto& row : rows) all += "\n" + row.first + ": " + row.second;
    if (exception) all += "\n" + describe(exception);
    return all;
}

void log_to_standard_error(LogLevel level, const std::string& text) noexcept {
    try {
        const std::string line = std::string("reactor: ") + name_of(level) + ": " + text + "\n";
        // One write, so that the lines of two threads do not mix; no stream, whose state a guest
        // must not touch.
        const char* at = line.data();
        std::size_t left = line.size();
        while (left > 0) {
            const ssize_t written = ::write(STDERR_FILENO, at, left);
            if (written < 0) {
                if (errno == EINTR) continue;
                return;  // nobody is left to tell
            }
            at += written;
            left -= static_cast<std::size_t>(written);
        }
    } catch (...) {
        // Out of memory while reporting: the report is lost, the program goes on.
    }
}

}  // namespace reactor
