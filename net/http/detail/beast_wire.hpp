// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_HTTP_DETAIL_BEAST_WIRE_HPP
#define REACTOR_NET_HTTP_DETAIL_BEAST_WIRE_HPP

#include <boost/beast/http/basic_parser.hpp>
#include <boost/optional.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <net/http/message.hpp>
#include <string>
#include <type_traits>

namespace reactor {
namespace net {
namespace detail {

using BeastError = boost::beast::error_code;
using BeastView = boost::beast::string_view;  // Boost's own type, another one from 1.81 on

/// What Beast has found in one message so far. Owned by a MessageParser.
template <class Head>
struct Incoming {
    Head head;
    bool head_done = false;
    std::function<void(const char*, std::size_t)> sink;
    std::string body;  // empty with a sink
    std::uint64_t body_size = 0;
    std::uint64_t chunk_left = 0;  // data that is still to come of this chunk
    std::size_t extension_bytes = 0;
    bool chunk_seen = false;

    void deliver(BeastView piece) {
        if (piece.empty()) return;
        body_size += piece.size();
        if (sink) {
            sink(piece.data(), piece.size());
        } else {
            body.append(piece.data(), piece.size());
        }
    }

    /// Ready for the next message; the sink stays.
    void clear() {
        head.fields.clear();  // keeps its memory; the rest is written anew
        head_done = chunk_seen = false;
        body.clear();
        extension_bytes = 0;
        body_size = chunk_left = 0;
    }
};

/// Beast's parser, whose callbacks write into an Incoming. It allocates nothing by itself.
template <class Head>
class BeastWire final
    : public boost::beast::http::basic_parser<std::is_same<Head, RequestHead>::value> {
public:
    explicit BeastWire(Incoming<Head>& message) : message_(message) {}

private:
    static std::string text_of(BeastView view) { return std::string(view.data(), view.size()); }

    static void start(RequestHead& head, BeastView method, BeastView target, int version) {
        head.method = text_of(method);
        head.target = text_of(target);
        head.version = version;
    }
    static void start(ResponseHead& head, int status, BeastView reason, int version) {
        head.status = status;
        head.reason = text_of(reason);
        head.version = version;
    }
    // Each kind of Beast parser has the callback of the other one's first line as well.
    static void start(RequestHead&, int, BeastView, int) {}
    static void start(ResponseHead&, BeastView, BeastView, int) {}

    void on_request_impl(boost::beast::http::verb, BeastView method, BeastView target, int version,
                         BeastError&) override {
        start(message_.head, method, target, version);
    }
    void on_response_impl(int status, BeastView reason, int version, BeastError&) override {
        start(message_.head, status, reason, version);
    }
    void on_field_impl(boost::beast::http::field, BeastView name, BeastView value,
                       BeastError&) override {
        // Fields of a trailer are dropped: they come too late to be believed (RFC 9110 6.5.1).
        if (!message_.head_done) message_.head.fields.add(text_of(name), text_of(value));
    }
    void on_header_impl(BeastError&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, BeastError&) override {}
    std::size_t on_body_impl(BeastView piece, BeastError&) override {
        message_.deliver(piece);
        return piece.size();
    }
    void on_chunk_header_impl(std::uint64_t size, BeastView extensions, BeastError&) override {
        message_.chunk_left = size;
        message_.chunk_seen = true;
        message_.extension_bytes += extensions.size();
    }
    std::size_t on_chunk_body_impl(std::uint64_t, BeastView piece, BeastError&) override {
        message_.chunk_left -= piece.size();
        message_.deliver(piece);
        return piece.size();
    }
    void on_finish_impl(BeastError&) override {}

    Incoming<Head>& message_;
};

struct Complaint {
    HttpError::Kind kind;
    const char* what;
};

/// What Beast says of a head that it refuses, but for the body limit.
Complaint complaint(const BeastError& code);

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
