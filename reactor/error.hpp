// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_ERROR_HPP
#define REACTOR_ERROR_HPP

#include <stdexcept>
#include <string>
#include <system_error>

#if defined(__GNUC__) && !defined(__EXCEPTIONS)
#error "reactor reports errors as C++ exceptions: compile without -fno-exceptions."
#endif

#if defined(__GNUC__)
#define REACTOR_NODISCARD __attribute__((warn_unused_result))
#else
#define REACTOR_NODISCARD
#endif

namespace reactor {

// The error types of the library. What the system or a peer did is a std::system_error; misuse is
// a std::logic_error; cancellation and leaving the loop are neither, so that a legacy
// `catch (const std::exception&)` swallows neither of them. Values: any thread may hold them.

/// A call in the wrong state or from the wrong thread: on a closed loop, on an empty handle, on a
/// loop that another thread runs. The message names the call and the remedy.
/// asyncio: RuntimeError.
struct StateError : std::logic_error {
    using std::logic_error::logic_error;
};

/// A promise was asked for an outcome it does not have (yet), or given a second one.
/// asyncio: InvalidStateError.
struct InvalidStateError : std::logic_error {
    using std::logic_error::logic_error;
};

/// What a promise followed was dropped while it was pending: it can never be completed.
struct BrokenPromise : std::logic_error {
    using std::logic_error::logic_error;
};

/// ContextVar::get() of a variable that has neither a value nor a default. Python: LookupError.
struct LookupError : std::logic_error {
    using std::logic_error::logic_error;
};

/// A limit of time passed. Its code is std::errc::timed_out, so one clause takes a time-out of
/// ours and one of the system (ETIMEDOUT). asyncio: TimeoutError.
struct TimeoutError : std::system_error {
    TimeoutError() : TimeoutError("timed out") {}
    explicit TimeoutError(const std::string& what)
        : std::system_error(std::make_error_code(std::errc::timed_out), what) {}
};

/// A stream ended before the bytes asked for had arrived. asyncio: IncompleteReadError.
struct IncompleteReadError : std::runtime_error {
    /// `expected` is the number of bytes asked for, 0 where no number was known.
    IncompleteReadError(std::string partial_bytes, std::size_t expected_bytes);

    std::string partial;   ///< what had arrived
    std::size_t expected;  ///< how much was asked for; 0: until a separator or the end of a body
};

/// What was looked for did not come within the limit of bytes. asyncio: LimitOverrunError.
struct LimitOverrunError : std::runtime_error {
    LimitOverrunError(const std::string& what, std::size_t consumed_bytes)
        : std::runtime_error(what), consumed(consumed_bytes) {}

    std::size_t consumed;  ///< how many bytes were looked at
};

/// The outcome of a cancelled promise, and how a cancelled task hears of it. Deliberately not a
/// std::exception. asyncio: CancelledError.
class CancelledError {
public:
    CancelledError() = default;
    explicit CancelledError(std::string message) : message_(std::move(message)) {}

    /// What was given to cancel(), empty if nothing was.
    const std::string& message() const noexcept { return message_; }
    const char* what() const noexcept { return message_.empty() ? "cancelled" : message_.c_str(); }

private:
    std::string message_;
};

/// Thrown by a callback to leave run_forever() or run_until_complete(): the only exception that a
/// loop lets through. Deliberately not a std::exception. Python: SystemExit.
class LoopExit {
public:
    explicit LoopExit(int code = 0) noexcept : code_(code) {}

    int code() const noexcept { return code_; }
    const char* what() const noexcept { return "exit from the event loop"; }

private:
    int code_;
};

/// Ctrl-C reached Runner::run() and the main task ended cancelled by it. Derives from LoopExit,
/// with the status 130 that a shell expects. Python: KeyboardInterrupt.
class Interrupted : public LoopExit {
public:
    Interrupted() noexcept : LoopExit(130) {}
};

/// One line that says what `error` is, for messages: what() of the library's and the standard
/// library's types, a fixed text for any other. Never throws.
std::string describe(const std::exception_ptr& error) noexcept;

}  // namespace reactor

#endif
