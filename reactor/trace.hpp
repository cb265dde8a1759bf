// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TRACE_HPP
#define REACTOR_TRACE_HPP

#include <reactor/handle.hpp>

#include <memory>
#include <string>
#include <vector>

namespace reactor {

class EventLoop;

namespace detail {
class Tracer;
}  // namespace detail

/// Follows who schedules whom in a loop, for reports, and for a picture of the whole run:
///
///     reactor::Trace trace(loop, "run.json");     // open it in Perfetto or chrome://tracing
///
/// The file has one slice for each callback, and an arrow from the callback that scheduled it: with
/// call_soon(), by completing a promise, by arming or moving a timer, by registering a descriptor,
/// by run_in_executor(). What the main program or another thread queued has no arrow. Times are
/// those of the loop's clock, from the beginning of the trace.
///
/// While a loop is traced its reports say who scheduled the callback that they are about, in
/// Report::details: ("scheduled by", "the nearest <- the one before <- ..."), at most 16 of them.
///
/// Owned by the program, made and destroyed on the loop's thread, before or after the loop's end,
/// also inside a callback: what ran before it was made is nobody's cause, and what runs when it
/// ends is cut off there. Without a trace the loop does nothing for it.
class Trace {
public:
    /// Without a file, for reports and scheduled_by(). Throws StateError if the loop is closed,
    /// traced already, or runs on another thread.
    explicit Trace(EventLoop& loop);
    /// Writes to `path`, which is created or replaced. The file is complete JSON after each write,
    /// which comes when 64 KiB have gathered, before the loop sleeps for ten milliseconds or more,
    /// and at the end. Throws std::system_error, naming the file, if that cannot be done now; what
    /// fails later, as on a full disk, is logged once as an error and ends the file, not the loop.
    Trace(EventLoop& loop, const std::string& path);
    /// Ends the trace and completes the file, in a forked child too, where nothing is written.
    ~Trace();
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    /// The same, but throws std::system_error if not everything could be written. Again: no effect.
    void close();

private:
    std::unique_ptr<detail::Tracer> tracer_;
};

/// The names of the callback that scheduled this one, of the one that scheduled that, and so on:
/// the nearest first, at most 16. For a callback that is queued, armed, registered or running, in a
/// loop that is traced; else empty.
std::vector<std::string> scheduled_by(const Handle& handle);

}  // namespace reactor

#endif
