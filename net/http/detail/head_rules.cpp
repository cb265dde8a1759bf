// SPDX-License-Identifier: BSL-1.0
#include <net/http/detail/head_rules.hpp>

#include <net/http/detail/quoted.hpp>

namespace reactor {
namespace net {
namespace detail {
namespace {

using Kind = HttpError::Kind;

// Beast refuses "chunked" beside Content-Length or twice, but ignores codings that do not end in
// "chunked", and takes a request with such for one without a body. We never ask for another coding
// (TE), so nobody may use one.
void check_coding(bool is_request, const HeaderFields& fields) {
    for (const std::string& coding : fields.all("Transfer-Encoding")) {
        if (!equals_ignoring_case(coding, "chunked"))
            fail_message(
                is_request, Kind::framing,
                "Transfer-Encoding is " + quoted(coding) + "; expected \"chunked\" and no other");
    }
}

}  // namespace

void fail_message(bool is_request, Kind kind, const std::string& what) {
    throw HttpError(kind, (is_request ? "HTTP request: " : "HTTP response: ") + what);
}

void check_head(const RequestHead& head) {
    const std::size_t hosts = head.fields.count("Host");
    if (hosts > 1) fail_message(true, Kind::malformed, "more than one Host");
    if (hosts == 0 && head.version >= 11)
        fail_message(true, Kind::malformed, "no Host; HTTP/1.1 requires it");
    // The list "5, 5" is allowed, but a proxy in front may have read only one of the numbers.
    const std::size_t lengths = head.fields.count("Content-Length");
    if (lengths > 1) fail_message(true, Kind::framing, "more than one Content-Length");
    const std::string* length = head.fields.find("Content-Length");
    if (length && length->find_first_not_of("0123456789") != std::string::npos)
        fail_message(true, Kind::framing,
                     "Content-Length is " + quoted(*length) + "; expected one decimal number");
    check_coding(true, head.fields);
}

void check_head(const ResponseHead& head) {
    if (head.status < 100)
        fail_message(false, Kind::malformed,
                     "the status is " + std::to_string(head.status) + "; expected 100 to 999");
    check_coding(false, head.fields);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
