// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_TRACE_FILE_HPP
#define REACTOR_DETAIL_TRACE_FILE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

namespace reactor {
namespace detail {

/// A file of one JSON array, written event by event. Owned by the trace, used on its loop's thread;
/// a forked child writes nothing.
///
/// Events are buffered and written whole, and each write puts the array's end behind them, which
/// the next one overwrites: the file is valid JSON at any time, also after a kill -9 or on a disk
/// that is full, but for one write that was under way. A pipe, where nothing can be overwritten,
/// gets its end last.
class TraceFile {
public:
    /// Creates or replaces the file. Throws std::system_error that names it, also if its first
    /// bytes cannot be written.
    explicit TraceFile(const std::string& path);
    ~TraceFile();
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    /// Appends one event, a JSON object; written at once if much has gathered. May throw
    /// std::bad_alloc, which leaves the event out.
    void add(const std::string& event);
    /// Writes what has gathered. The first failure is kept; from then on nothing is written.
    void flush() noexcept;
    /// flush(), the end of the array, and close(). Again: no effect.
    void finish() noexcept;

    const std::error_code& error() const noexcept { return error_; }
    const std::string& path() const noexcept { return path_; }

private:
    /// How much of it was written; `error_` says why not all.
    std::size_t write(const char* bytes, std::size_t size, std::int64_t at) noexcept;
    void fail(std::size_t done) noexcept;

    const std::string path_;
    int fd_;
    bool seekable_;
    long process_;
    std::string buffer_;        // whole events, each with its separator before it
    std::int64_t written_ = 0;  // without the array's end
    std::error_code error_;
};

/// Appends text as a JSON string, quoted and escaped; what is no UTF-8 becomes U+FFFD.
void append_json(std::string& to, const std::string& text);

}  // namespace detail
}  // namespace reactor

#endif
