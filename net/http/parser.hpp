// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_HTTP_PARSER_HPP
#define REACTOR_NET_HTTP_PARSER_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <net/http/message.hpp>
#include <string>

namespace reactor {
namespace net {

/// What a parser accepts.
struct ParserOptions {
    /// Bytes of a head, of all interim (1xx) heads before it, and of a chunked body's trailer. The
    /// biggest heads in the field (policies, cookies) are 20 to 30 KiB; servers stop at 8 to 64.
    std::size_t head_limit = 64 * 1024;

    /// Bytes of a body once the chunks are joined.
    std::uint64_t body_limit = (std::numeric_limits<std::uint64_t>::max)();
};

/// Takes one HTTP/1.x message out of a byte stream, however it is cut into pieces.
///
///     put() ──> head ──────────────> body ───────────────> done ──reset()──> head
///               │ 1xx: once more     │ length, chunks or close
///               └── HttpError ───────┴──> failed ──reset()──> head
///
/// ResponseParser and RequestParser are the two kinds. No loop and no socket in here. Owned by
/// whoever reads the connection and used by one thread at a time; movable.
///
/// Tolerated: a status line without reason and without the space before it, header lines of a
/// response that end in a bare LF, folded lines (joined by a space), blank lines before a request.
/// Refused: Transfer-Encoding beside Content-Length or other than "chunked", Content-Length that
/// is not one plain number (a response may repeat the same), white space before the colon of a
/// field, NUL and other control bytes; in a request of HTTP/1.1 also a missing or doubled Host.
template <class Head>
class MessageParser {
public:
    /// Gets each piece of the body as it arrives; never an empty one. head() may be asked in it;
    /// put(), reset() and destroying the parser are not allowed in it. What it throws leaves put().
    using Sink = std::function<void(const char*, std::size_t)>;

    explicit MessageParser(ParserOptions options = ParserOptions());
    ~MessageParser();
    MessageParser(MessageParser&&) noexcept;
    MessageParser& operator=(MessageParser&&) noexcept;

    /// Sends the bodies from here on to `sink` instead of keeping them for take_body(). An empty
    /// sink undoes that. Stays across reset().
    void set_sink(Sink sink);

    /// Takes up to `size` bytes and says how many belong to this message. Fewer than `size` only
    /// when the message is done: the rest is the next message's, on a client's connection bytes
    /// that nobody asked for (do not reuse it then). 0 once done().
    ///
    /// HttpError if the message is refused, or what the sink throws. The parser has failed then:
    /// head() and take_body() still give what there was, put() and put_eof() throw StateError
    /// until reset().
    std::size_t put(const char* data, std::size_t size);

    /// The peer ended the stream in order. Completes a response whose body lasts until the close;
    /// HttpError `incomplete` for any other message that is not done, the empty reply included
    /// (see started()). Nothing once done(); StateError after a failure.
    void put_eof();

    /// The connection broke (reset, time limit, own close): HttpError `incomplete`, also where an
    /// orderly end would have completed the body. `cause` becomes part of what(). Nothing once
    /// done(); StateError after a failure.
    void put_reset(const std::string& cause = "the connection was reset");

    /// Ready for the next message of the connection. `no_body`: it answers a HEAD request, or is
    /// the 2xx answer to CONNECT, so no body follows whatever its head says (RequestParser: has no
    /// meaning and is ignored). Options and sink stay; a body not taken is dropped.
    void reset(bool no_body = false);

    /// A byte of the message has come (blank lines before a request do not count). If not, the end
    /// of the stream is the normal end of a kept connection for a server; a client may repeat an
    /// idempotent request on a fresh one.
    bool started() const noexcept;

    bool head_done()
        const noexcept;          ///< the final head is complete; stays true when the body fails
    bool done() const noexcept;  ///< the whole message is complete

    /// StateError before head_done().
    const Head& head() const;

    /// The connection may carry another message behind this one, as far as this one says: version,
    /// Connection, and a body that ends before the close. false after 101. StateError before
    /// head_done().
    bool keep_alive() const;

    /// Bytes of body seen so far, taken or not.
    std::uint64_t body_size() const noexcept;

    /// Moves out what has been kept of the body since the last call; empty with a sink.
    std::string take_body();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

using ResponseParser = MessageParser<ResponseHead>;
using RequestParser = MessageParser<RequestHead>;

extern template class MessageParser<ResponseHead>;
extern template class MessageParser<RequestHead>;

}  // namespace net
}  // namespace reactor

#endif
