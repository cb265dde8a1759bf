// SPDX-License-Identifier: BSL-1.0
#include "text.hpp"

#include <cstddef>
#include <cstdio>

namespace chat {

namespace {

struct Lead {
    unsigned char first, last;      // bytes that begin such a character
    std::size_t length;             // of it
    unsigned char lowest, highest;  // its second byte
};

// RFC 3629, section 4: neither longer than need be, nor half of a surrogate pair, nor beyond
// Unicode.
const Lead leads[] = {
    {0x00, 0x7f, 1, 0, 0},       {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
    {0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
};

/// How long the character is that begins there; 0: none does.
std::size_t character(const unsigned char* at, std::size_t left) {
    for (const Lead& lead : leads) {
        if (*at < lead.first || *at > lead.last) continue;
        if (lead.length > left) return 0;
        if (lead.length > 1 && (at[1] < lead.lowest || at[1] > lead.highest)) return 0;
        for (std::size_t i = 2; i < lead.length; ++i) {
            if (at[i] < 0x80 || at[i] > 0xbf) return 0;
        }
        return lead.length;
    }
    return 0;
}

std::string with_number(const char* format, unsigned number) {
    char text[80];
    std::snprintf(text, sizeof text, format, number);
    return text;
}

}  // namespace

std::string why_not_text(reactor::net::ByteView bytes) {
    const unsigned char* const data = reinterpret_cast<const unsigned char*>(bytes.data());
    for (std::size_t i = 0; i < bytes.size();) {
        const unsigned byte = data[i];
        const std::size_t length = character(data + i, bytes.size() - i);
        if (length == 0) return with_number("the byte 0x%02x in it is not UTF-8", byte);
        const bool control = length == 1 ? (byte < ' ' && byte != '\t') || byte == 0x7f
                                         : byte == 0xc2 && data[i + 1] < 0xa0;
        if (control) {
            return with_number("U+%04X in it is a control character",
                               length == 1 ? byte : data[i + 1]);
        }
        i += length;
    }
    return std::string();
}

}  // namespace chat
