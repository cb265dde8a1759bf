// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_REPORT_HPP
#define REACTOR_REPORT_HPP

#include <reactor/handle.hpp>

#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace reactor {

class EventLoop;

/// What a loop's exception handler is told: an error that nobody else will hear of. A value.
/// asyncio: the context dictionary of call_exception_handler().
class Report {
public:
    explicit Report(std::string text, std::exception_ptr error = nullptr)
        : message(std::move(text)), exception(std::move(error)) {}

    std::string message;           ///< one sentence: what happened
    std::exception_ptr exception;  ///< may be null
    Handle handle;                 ///< whose callback it was; may be empty
    std::string promise;           ///< which promise, with where it was made; may be empty
    std::string task;              ///< which task, with its state; may be empty
    /// Whatever else is known, as (name, text).
    std::vector<std::pair<std::string, std::string>> details;

    /// The lines that the default handler prints: the message, then `name: text` for the rest in
    /// alphabetical order, then the error's own text.
    std::string text() const;
};

enum class LogLevel { debug, info, warning, error };

/// Receives what a loop would print; called on the loop's thread, must not throw.
using LogSink = std::function<void(LogLevel level, const std::string& text)>;

/// Told of every error that has no other way out; called on the loop's thread, inside the context
/// of the handle concerned. What it throws is logged together with the report.
using ExceptionHandler = std::function<void(EventLoop& loop, const Report& report)>;

/// `text` as one write to standard error, with the level before it: the default log sink. May be
/// called from any thread; never throws.
void log_to_standard_error(LogLevel level, const std::string& text) noexcept;

}  // namespace reactor

#endif
