// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CHAT_TEXT_HPP
#define REACTOR_CHAT_TEXT_HPP

#include <net/byte_view.hpp>

#include <string>

namespace chat {

/// Why this is no text to show to others, empty if it is: it must be UTF-8 (RFC 3629) without
/// control characters but the tab, which a terminal would obey instead of showing them; of those
/// there are some beyond ASCII, too.
std::string why_not_text(reactor::net::ByteView bytes);

}  // namespace chat

#endif
