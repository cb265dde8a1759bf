// SPDX-License-Identifier: BSL-1.0
#include <net/http/detail/head_reader.hpp>

#include <algorithm>
#include <cstring>
#include <net/http/detail/head_rules.hpp>
#include <net/http/detail/quoted.hpp>

namespace reactor {
namespace net {
namespace detail {

using Kind = HttpError::Kind;

std::size_t HeadReader::take(const char* data, std::size_t size) {
    const void* lf = std::memchr(data, '\n', size);
    const std::size_t taken =
        lf ? static_cast<std::size_t>(static_cast<const char*>(lf) - data) + 1 : size;
    if (taken > limit_ - bytes_)  // before it is copied
        fail_message(is_request_, Kind::too_large,
                     "the head is beyond the limit of " + std::to_string(limit_) + " bytes");
    bytes_ += taken;
    text_.append(data, lf ? taken - 1 : taken);
    if (line_start_ == 0) check_first_bytes();
    if (lf) finish_line();
    return taken;
}

void HeadReader::check_first_bytes() {
    if (text_.empty()) return;
    if (is_request_) {
        const bool blank = text_[0] == '\r';
        if (!blank && (text_[0] <= ' ' || text_[0] > '~'))
            fail(Kind::malformed, "this is not HTTP; expected a method", 0);
        started_ = started_ || !blank;
    } else {
        started_ = true;
        const std::size_t known = (std::min)(text_.size(), std::size_t{5});
        if (text_.compare(0, known, "HTTP/", known) != 0)
            fail(Kind::malformed, "this is not HTTP/1.x; expected HTTP/1.1 and a status", 0);
    }
}

void HeadReader::finish_line() {
    if (text_.size() == line_start_ || text_.back() != '\r') {
        // Answers of old CGI programs; in a request it is a way to smuggle a second one past a
        // proxy (RFC 9112 2.2 leaves the choice).
        if (is_request_) fail(Kind::malformed, "LF without CR; expected CR LF", line_start_);
        text_ += '\r';
    }
    text_ += '\n';
    const std::size_t length = text_.size() - line_start_;
    if (length == 2 && line_start_ == 0) {
        if (!is_request_) fail(Kind::malformed, "an empty line; expected HTTP/1.1 and a status", 0);
        text_.clear();  // RFC 9112 2.2: some clients send CR LF behind a body
        return;
    }
    // "HTTP/1.1 200" is common in the field, "HTTP/1.1 200 " is what the grammar asks for.
    if (!is_request_ && line_start_ == 0 && length == 14) text_.insert(12, 1, ' ');
    line_start_ = text_.size();
    complete_ = length == 2;
}

void HeadReader::next() noexcept {
    text_.clear();
    line_start_ = 0;
    complete_ = false;
}

void HeadReader::reset() noexcept {
    next();
    bytes_ = 0;
    started_ = false;
}

void HeadReader::fail(Kind kind, const std::string& what, std::size_t at) const {
    at = (std::min)(at, text_.size());
    const std::size_t end = (std::min)(text_.find_first_of("\r\n", at), text_.size());
    const auto before = text_.begin() + static_cast<std::string::difference_type>(at);
    fail_message(is_request_, kind,
                 what + ", in line " + std::to_string(std::count(text_.begin(), before, '\n') + 1) +
                     ' ' + quoted(text_.substr(at, end - at)));
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
