// SPDX-License-Identifier: BSL-1.0
#include <net/http/detail/quoted.hpp>

namespace reactor {
namespace net {
namespace detail {

std::string quoted(const std::string& text, std::size_t limit) {
    static const char digits[] = "0123456789abcdef";
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size() && i < limit; ++i) {
        const unsigned char c = static_cast<unsigned char>(text[i]);
        if (c < 0x20 || c >= 0x7f) {
            out += "\\x";
            out += digits[c >> 4];
            out += digits[c & 15];
        } else {
            if (c == '"' || c == '\\') out += '\\';
            out += text[i];
        }
    }
    out += text.size() > limit ? "\"..." : "\"";
    return out;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
