// SPDX-License-Identifier: BSL-1.0
#include <net/http/parser.hpp>

#include <boost/optional.hpp>
#include <cstring>
#include <limits>
#include <net/http/detail/beast_wire.hpp>
#include <net/http/detail/head_reader.hpp>
#include <net/http/detail/head_rules.hpp>
#include <net/http/detail/quoted.hpp>
#include <reactor/error.hpp>
#include <type_traits>
#include <utility>

// Boost.Beast's basic_parser decides what is HTTP. This file decides what it gets to see: whole
// heads, whole chunk headers, whole trailers, never a part of one. That makes the limits ours
// (interim heads count, too), and keeps the network away from an assertion that a last chunk
// arriving byte by byte fails (beast#2861, until 1.85).

namespace reactor {
namespace net {
namespace {

namespace http = boost::beast::http;
using Code = detail::BeastError;
using Kind = HttpError::Kind;

// A size and a few extensions. Longer ones come from nobody but an attacker, since they count
// against no limit of the body (beast#3077).
constexpr std::size_t chunk_line_limit = 4096;

// 101 is the last answer in HTTP: what follows speaks the new protocol.
bool is_switch(const RequestHead&) { return false; }
bool is_switch(const ResponseHead& head) { return head.status == 101; }
bool is_interim(const RequestHead&) { return false; }
bool is_interim(const ResponseHead& head) { return head.status < 200 && !is_switch(head); }

}  // namespace

template <class Head>
struct MessageParser<Head>::Impl {
    static constexpr bool is_request = std::is_same<Head, RequestHead>::value;

    enum class State { head, body, done };

    explicit Impl(const ParserOptions& given)
        : options(given), reader(is_request, given.head_limit) {}

    ParserOptions options;
    detail::HeadReader reader;
    boost::optional<detail::BeastWire<Head>> wire;  // one per head: Beast's cannot be used twice

    // From here on: one message, see reset().
    detail::Incoming<Head> message;
    State state = State::head;
    bool no_body = false;
    bool failed = false;
    bool inside = false;     // in put(): the sink must not call back
    std::string chunk_line;  // an incomplete chunk header or trailer
    bool in_trailer = false;

    [[noreturn]] void fail_in_body(Kind kind, const std::string& what) const {
        detail::fail_message(
            is_request, kind,
            what + ", behind " + std::to_string(message.body_size) + " bytes of body");
    }

    std::size_t consume(const char* data, std::size_t size) {
        std::size_t used = 0;
        while (used < size && state != State::done) {
            const char* at = data + used;
            const std::size_t left = size - used;
            used += state == State::head                         ? take_head_line(at, left)
                    : wire->chunked() && message.chunk_left == 0 ? take_chunk_line(at, left)
                                                                 : take_data(at, left);
        }
        return used;
    }

    std::size_t take_head_line(const char* data, std::size_t size) {
        const std::size_t taken = reader.take(data, size);
        if (reader.complete()) finish_head();
        return taken;
    }

    void finish_head() {
        wire.emplace(message);
        wire->header_limit((std::numeric_limits<std::uint32_t>::max)());  // ours has been checked
        // Not boost::none, which means a limit of nothing until 1.74 (beast#2070).
        wire->body_limit(options.body_limit);
        if (!is_request && no_body) wire->skip(true);
        const std::string& text = reader.text();
        Code code;
        const std::size_t used =
            wire->put(boost::asio::const_buffer(text.data(), text.size()), code);
        if (code == http::error::body_limit)
            detail::fail_message(is_request, Kind::too_large,
                                 "Content-Length " + *message.head.fields.find("Content-Length") +
                                     " is beyond the limit of " +
                                     std::to_string(options.body_limit) + " bytes");
        if (code) {
            const detail::Complaint why = detail::complaint(code);
            reader.fail(why.kind, why.what, used);
        }
        if (used != text.size())  // two opinions about where the head ends
            reader.fail(Kind::malformed, "the head ends too early", used);
        detail::check_head(message.head);
        reader.next();
        if (is_interim(message.head)) {
            message.head.fields.clear();
            wire = boost::none;
            return;
        }
        message.head_done = true;
        state = wire->is_done() ? State::done : State::body;
    }

    // One line of: the CR LF behind a chunk, a size with extensions, the trailer. Beast asks for
    // more until it has a size line, and behind the last chunk until it has the whole trailer.
    std::size_t take_chunk_line(const char* data, std::size_t size) {
        const void* lf = std::memchr(data, '\n', size);
        const std::size_t taken =
            lf ? static_cast<std::size_t>(static_cast<const char*>(lf) - data) + 1 : size;
        const std::size_t limit = in_trailer ? options.head_limit : chunk_line_limit;
        if (taken > limit || chunk_line.size() > limit - taken)
            fail_in_body(Kind::too_large, in_trailer ? "a trailer beyond the limit of the head"
                                                     : "a chunk header beyond 4096 bytes");
        chunk_line.append(data, taken);
        if (message.chunk_seen && chunk_line[0] != '\r')
            fail_in_body(Kind::framing, "a chunk is longer than its size; expected CR LF");
        if (!lf) return taken;
        if (chunk_line.size() < 2 || chunk_line[chunk_line.size() - 2] != '\r')
            fail_in_body(Kind::framing, "LF without CR in a chunk header; expected CR LF");

        Code code;
        const std::size_t used =
            wire->put(boost::asio::const_buffer(chunk_line.data(), chunk_line.size()), code);
        if (code == http::error::need_more && used == 0) {
            in_trailer = chunk_line.size() > 2;
            return taken;
        }
        if (code == http::error::body_limit)
            fail_in_body(Kind::too_large, "the chunks are beyond the body limit");
        if (code || used != chunk_line.size())
            fail_in_body(Kind::framing, (in_trailer ? "bad trailer " : "bad chunk header ") +
                                            detail::quoted(chunk_line) +
                                            "; expected a hexadecimal size, CR LF and the data");
        if (message.extension_bytes > options.head_limit)
            fail_in_body(Kind::too_large, "chunk extensions beyond the limit of the head");
        chunk_line.clear();
        if (wire->is_done()) state = State::done;
        return taken;
    }

    std::size_t take_data(const char* data, std::size_t size) {
        Code code;
        const std::size_t used = wire->put(boost::asio::const_buffer(data, size), code);
        if (code == http::error::body_limit)
            fail_in_body(Kind::too_large, "the body is beyond the limit of " +
                                              std::to_string(options.body_limit) + " bytes");
        if (code || used == 0) fail_in_body(Kind::framing, "bad body: " + code.message());
        if (wire->is_done()) state = State::done;
        return used;
    }

    [[noreturn]] void fail_incomplete(const std::string& cause) const {
        if (!reader.started())
            detail::fail_message(is_request, Kind::incomplete, cause + " before the first byte");
        if (state == State::head)
            detail::fail_message(
                is_request, Kind::incomplete,
                cause + " inside the head, behind " + std::to_string(reader.bytes()) + " bytes");
        const std::string* length = message.head.fields.find("Content-Length");
        fail_in_body(Kind::incomplete, length ? cause + ", Content-Length " + *length : cause);
    }

    void check_usable(const char* call) const {
        check_outside(call);
        if (failed)
            throw StateError(std::string("MessageParser::") + call +
                             ": the parser has failed before; reset() it for another message");
    }

    void check_outside(const char* call) const {
        if (inside)
            throw StateError(std::string("MessageParser::") + call + " inside the body sink");
    }

    void check_head_done(const char* call) const {
        if (!message.head_done)
            throw StateError(std::string("MessageParser::") + call +
                             ": the head is not complete; ask head_done() first");
    }
};

template <class Head>
MessageParser<Head>::MessageParser(ParserOptions options) : impl_(new Impl(options)) {}

template <class Head>
MessageParser<Head>::~MessageParser() = default;
template <class Head>
MessageParser<Head>::MessageParser(MessageParser&&) noexcept = default;
template <class Head>
MessageParser<Head>& MessageParser<Head>::operator=(MessageParser&&) noexcept = default;

template <class Head>
void MessageParser<Head>::set_sink(Sink sink) {
    impl_->check_outside("set_sink");
    impl_->message.sink = std::move(sink);
}

template <class Head>
std::size_t MessageParser<Head>::put(const char* data, std::size_t size) {
    impl_->check_usable("put");
    impl_->failed = impl_->inside = true;  // holds if anything throws
    struct Leave {
        Impl& impl;
        ~Leave() { impl.inside = false; }
    } leave{*impl_};
    const std::size_t used = impl_->consume(data, size);
    impl_->failed = false;
    return used;
}

template <class Head>
void MessageParser<Head>::put_eof() {
    impl_->check_usable("put_eof");
    if (done()) return;
    if (impl_->state == Impl::State::body) {
        Code code;
        impl_->wire->put_eof(code);
        if (!code) {
            impl_->state = Impl::State::done;
            return;
        }
    }
    impl_->failed = true;
    impl_->fail_incomplete("the connection was closed");
}

template <class Head>
void MessageParser<Head>::put_reset(const std::string& cause) {
    impl_->check_usable("put_reset");
    if (done()) return;
    impl_->failed = true;
    impl_->fail_incomplete(cause);
}

template <class Head>
void MessageParser<Head>::reset(bool no_body) {
    impl_->check_outside("reset");
    Impl& impl = *impl_;
    impl.wire = boost::none;
    impl.message.clear();
    impl.state = Impl::State::head;
    impl.no_body = no_body;
    impl.failed = impl.in_trailer = false;
    impl.reader.reset();
    impl.chunk_line.clear();
}

template <class Head>
bool MessageParser<Head>::started() const noexcept {
    return impl_->reader.started();
}

template <class Head>
bool MessageParser<Head>::head_done() const noexcept {
    return impl_->message.head_done;
}

template <class Head>
bool MessageParser<Head>::done() const noexcept {
    return impl_->state == Impl::State::done;
}

template <class Head>
const Head& MessageParser<Head>::head() const {
    impl_->check_head_done("head");
    return impl_->message.head;
}

template <class Head>
bool MessageParser<Head>::keep_alive() const {
    impl_->check_head_done("keep_alive");
    const Head& head = impl_->message.head;
    // RFC 9112 6.1: chunks in a message of HTTP/1.0 may have been meant for somebody else.
    const bool odd = head.version < 11 && impl_->wire->chunked();
    return impl_->wire->keep_alive() && !is_switch(head) && !odd;
}

template <class Head>
std::uint64_t MessageParser<Head>::body_size() const noexcept {
    return impl_->message.body_size;
}

template <class Head>
std::string MessageParser<Head>::take_body() {
    std::string taken;
    taken.swap(impl_->message.body);
    return taken;
}

template class MessageParser<ResponseHead>;
template class MessageParser<RequestHead>;

}  // namespace net
}  // namespace reactor
