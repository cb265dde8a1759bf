// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CHAT_LINES_HPP
#define REACTOR_CHAT_LINES_HPP

#include <net/byte_view.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

namespace chat {

/// Puts lines together from what a connection brings, in pieces of any size. Holds no more than one
/// line of the longest kind: of a longer one the rest is thrown away, up to its end. A value.
class Lines {
public:
    explicit Lines(std::size_t longest) : longest_(longest) {}

    /// Calls `f(line)` for each line that is whole now, without its "\n" or "\r\n"; for one that is
    /// too long, as soon as that is known, `f(null)`. The view is good until f returns. Stops, and
    /// forgets the rest, when f answers false.
    template <class F>
    void feed(reactor::net::ByteView bytes, F f);

    /// Whether a line has begun and not ended.
    bool is_inside() const noexcept { return skipping_ || !begun_.empty(); }

private:
    using ByteView = reactor::net::ByteView;

    std::size_t longest_;
    std::string begun_;
    bool skipping_ = false;
};

template <class F>
void Lines::feed(ByteView bytes, F f) {
    while (!bytes.empty()) {
        const char* const newline = std::find(bytes.begin(), bytes.end(), '\n');
        const bool ended = newline != bytes.end();
        ByteView line = bytes.from(0, static_cast<std::size_t>(newline - bytes.begin()));
        bytes = bytes.from(line.size() + (ended ? 1 : 0));
        if (skipping_) {
            skipping_ = !ended;
            continue;
        }
        // One more for a "\r", which does not count.
        bool fits = line.size() <= longest_ + 1 - begun_.size();
        if (fits && (!ended || !begun_.empty())) {
            begun_.append(line.data(), line.size());
            if (!ended) return;
            line = begun_;
        }
        if (fits && !line.empty() && line[line.size() - 1] == '\r') {
            line = line.from(0, line.size() - 1);
        }
        fits = fits && line.size() <= longest_;
        skipping_ = !ended;
        const bool go_on = f(fits ? &line : nullptr);
        begun_.clear();
        if (!go_on) return;
    }
}

}  // namespace chat

#endif
