// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_HTTP_DETAIL_HEAD_READER_HPP
#define REACTOR_NET_HTTP_DETAIL_HEAD_READER_HPP

#include <cstddef>
#include <net/http/message.hpp>
#include <string>

namespace reactor {
namespace net {
namespace detail {

/// Collects the lines of a message's head until the first blank one, whatever pieces they come in,
/// and never holds more than the limit. Puts into the form of the grammar what is common in the
/// field (see MessageParser), refuses at once what cannot become a head: a peer that speaks
/// something else may never send a line end. Owned by a MessageParser.
class HeadReader {
public:
    HeadReader(bool is_request, std::size_t limit) : is_request_(is_request), limit_(limit) {}

    /// Takes bytes up to the end of a line at most; how many. HttpError `too_large`, `malformed`.
    std::size_t take(const char* data, std::size_t size);

    bool complete() const noexcept { return complete_; }  ///< text() ends in the blank line
    bool started() const noexcept { return started_; }    ///< more than blank lines has come

    /// The lines so far, each ended by CR LF.
    const std::string& text() const noexcept { return text_; }

    /// How much has come since reset(), on the wire.
    std::size_t bytes() const noexcept { return bytes_; }

    /// Begins the next head of the same message, behind an interim one: the limit counts on.
    void next() noexcept;

    /// Begins the next message.
    void reset() noexcept;

    /// HttpError: `what`, the number and the text of the line of text() that `at` lies in.
    [[noreturn]] void fail(HttpError::Kind kind, const std::string& what, std::size_t at) const;

private:
    void check_first_bytes();
    void finish_line();

    bool is_request_;
    bool started_ = false;
    bool complete_ = false;
    std::size_t limit_;
    std::size_t bytes_ = 0;
    std::size_t line_start_ = 0;  // in text_
    std::string text_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
