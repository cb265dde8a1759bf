// SPDX-License-Identifier: BSL-1.0
#include <net/http/detail/beast_wire.hpp>

namespace reactor {
namespace net {
namespace detail {

namespace http = boost::beast::http;
using Kind = HttpError::Kind;

Complaint complaint(const BeastError& code) {
    switch (static_cast<http::error>(code.value())) {
        case http::error::bad_method:
            return {Kind::malformed, "no method; expected a request line such as GET / HTTP/1.1"};
        case http::error::bad_target:
            return {Kind::malformed, "bad request target; expected METHOD TARGET VERSION"};
        case http::error::bad_version:
            return {Kind::malformed, "bad version; expected HTTP/1.0 or HTTP/1.1"};
        case http::error::bad_status:
            return {Kind::malformed, "bad status; expected three digits and a space"};
        case http::error::bad_reason:
            return {Kind::malformed, "a control byte in the reason"};
        case http::error::bad_field:
            return {Kind::malformed, "bad field; expected a name, a colon behind it, a value"};
        case http::error::bad_value:
            return {Kind::malformed, "bad value of a field"};
        case http::error::bad_line_ending:
            return {Kind::malformed, "CR without LF; expected CR LF"};
        case http::error::need_more:
            return {Kind::malformed, "the first line is too short"};
        case http::error::header_limit:
        case http::error::bad_obs_fold:
        case http::error::buffer_overflow:
            return {Kind::too_large, "a folded field beyond 4 KiB"};
        case http::error::bad_content_length:
            return {Kind::framing,
                    "bad Content-Length; expected one decimal number and no Transfer-Encoding"};
        case http::error::bad_transfer_encoding:
            return {Kind::framing, "Transfer-Encoding twice or beside Content-Length"};
        default:  // about lengths: 1.81 has codes there that 1.74 lacks
            return {Kind::framing, "Content-Length and Transfer-Encoding contradict each other"};
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
