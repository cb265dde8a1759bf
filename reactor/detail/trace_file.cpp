// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/trace_file.hpp>
#include <reactor/detail/write_signals_blocked.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>

namespace reactor {
namespace detail {

namespace {

// As much as is worth a system call, some four hundred events.
constexpr std::size_t much = 64 * 1024;

constexpr char array_end[] = "\n]\n";
constexpr std::size_t array_end_size = sizeof array_end - 1;

int open_new(const std::string& path) noexcept {
    for (;;) {
        const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EINTR) return fd;
    }
}

/// Writing is a point where a thread may be cancelled, and unwinding would have to pass through
/// functions that must not throw.
class NotCancelled {
public:
    NotCancelled() noexcept { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~NotCancelled() { ::pthread_setcancelstate(before_, nullptr); }
    NotCancelled(const NotCancelled&) = delete;
    NotCancelled& operator=(const NotCancelled&) = delete;

private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace

TraceFile::TraceFile(const std::string& path)
    : path_(path), fd_(open_new(path)), seekable_(false), process_(::getpid()) {
    if (fd_ < 0) throw std::system_error(errno, std::system_category(), "trace file " + path);
    seekable_ = ::lseek(fd_, 0, SEEK_CUR) >= 0;
    try {
        buffer_ = "[";
        flush();
        if (error_) throw std::system_error(error_, "trace file " + path);
    } catch (...) {
        ::close(fd_);
        throw;
    }
}

TraceFile::~TraceFile() { finish(); }

void TraceFile::add(const std::string& event) {
    if (fd_ < 0 || error_) return;
    const char* const separator =
        written_ + static_cast<std::int64_t>(buffer_.size()) > 1 ? ",\n" : "\n";
    buffer_.reserve(buffer_.size() + event.size() + 2);
    buffer_ += separator;
    buffer_ += event;
    if (buffer_.size() >= much) flush();
}

void TraceFile::flush() noexcept {
    if (fd_ < 0 || error_ || buffer_.empty()) return;
    if (::getpid() != process_) {
        buffer_.clear();  // the file is the parent's
        return;
    }
    const std::size_t size = buffer_.size();
    if (seekable_) {
        try {
            buffer_ += array_end;
        } catch (...) {
            // Out of memory: the end comes with the next write.
        }
    }
    const std::size_t done = write(buffer_.data(), buffer_.size(), written_);
    if (done < buffer_.size()) {
        fail(done);
        return;
    }
    written_ += static_cast<std::int64_t>(size);
    buffer_.clear();
}

std::size_t TraceFile::write(const char* bytes, std::size_t size, std::int64_t at) noexcept {
    const NotCancelled not_cancelled;
    WriteSignalsBlocked blocked;  // a reader that has gone ends the trace, not the program
    std::size_t all = 0;
    while (all < size) {
        const ::ssize_t done =
            seekable_ ? ::pwrite(fd_, bytes + all, size - all, at + static_cast<std::int64_t>(all))
                      : ::write(fd_, bytes + all, size - all);
        if (done >= 0) {
            all += static_cast<std::size_t>(done);
        } else if (errno != EINTR) {
            blocked.failed(errno);
            error_.assign(errno, std::system_category());
            break;
        }
    }
    return all;
}

void TraceFile::fail(std::size_t done) noexcept {
    if (seekable_) {
        // Back to the last event behind which there was room for the array's end: no text has a
        // line's end in it.
        std::size_t whole =
            done < array_end_size ? std::string::npos : buffer_.rfind(",\n", done - array_end_size);
        if (whole == std::string::npos) whole = 0;
        const std::int64_t end = written_ + static_cast<std::int64_t>(whole);
        const std::error_code first = error_;
        if (::ftruncate(fd_, end) == 0) write(array_end, array_end_size, end);
        error_ = first;
    }
    buffer_.clear();
}

void TraceFile::finish() noexcept {
    if (fd_ < 0) return;
    flush();
    const NotCancelled not_cancelled;
    if (::getpid() == process_ && !seekable_ && !error_) write(array_end, array_end_size, 0);
    // Also where a network's file system tells of a full disk.
    if (::close(fd_) != 0 && errno != EINTR && !error_)
        error_.assign(errno, std::system_category());
    fd_ = -1;
}

// ---- text -----------------------------------------------------------------------------------

namespace {

/// How many bytes the character at `at` has in UTF-8; 0 if it is none (RFC 3629, section 4).
std::size_t utf8_length(const std::string& text, std::size_t at) noexcept {
    const auto byte = [&](std::size_t i) -> unsigned {
        return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    // Overlong forms, surrogates, and what is beyond U+10FFFF show in the second byte.
    const unsigned least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (lead < 0xc2 || lead > 0xf4 || byte(1) < least || byte(1) > most) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
    }
    return length;
}

}  // namespace

void append_json(std::string& to, const std::string& text) {
    static const char digits[] = "0123456789abcdef";
    to += '"';
    for (std::size_t i = 0; i < text.size();) {
        const unsigned char c = static_cast<unsigned char>(text[i]);
        const std::size_t length = utf8_length(text, i);
        if (c == '"' || c == '\\') {
            to += '\\';
            to += text[i];
        } else if (c < 0x20 || c == 0x7f) {
            to += "\\u00";
            to += digits[c >> 4];
            to += digits[c & 15];
        } else if (length == 0) {
            to += "\\ufffd";
        } else {
            to.append(text, i, length);
        }
        i += length == 0 ? 1 : length;
    }
    to += '"';
}

}  // namespace detail
}  // namespace reactor
