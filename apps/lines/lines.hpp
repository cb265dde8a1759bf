// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_LINES_LINES_HPP
#define REACTOR_LINES_LINES_HPP

#include <net/byte_view.hpp>

#include <algorithm>
#include <cstddef>
#include <string>

/// What the programs share that talk in lines.
namespace lines {

using reactor::net::ByteView;

/// Puts lines together from what comes in pieces of any size. Holds no more than one line of the
/// longest kind: of a longer one there is the beginning, told as cut as soon as that is known, and
/// the rest is thrown away, up to its end. A value.
class Lines {
public:
    explicit Lines(std::size_t longest) : longest_(longest) {}

    /// Calls f(line, cut) for each line that is whole now, or too long, without its "\n". The view
    /// is good until f returns. Stops, and forgets the rest, when f answers false.
    template <class F>
    void feed(ByteView bytes, F f);
    /// No more will come: the last line may have no end.
    template <class F>
    void end(F f);

    /// Whether a line has begun and not ended.
    bool is_inside() const noexcept { return skipping_ || !begun_.empty(); }

private:
    std::size_t longest_;
    std::string begun_;
    bool skipping_ = false;
};

/// A line that may have ended in "\r\n".
inline ByteView without_return(ByteView line) {
    const std::size_t size = line.size();
    return size != 0 && line[size - 1] == '\r' ? line.from(0, size - 1) : line;
}

template <class F>
void Lines::feed(ByteView bytes, F f) {
    while (!bytes.empty()) {
        const char* const newline = std::find(bytes.begin(), bytes.end(), '\n');
        const bool ended = newline != bytes.end();
        const ByteView piece = bytes.from(0, static_cast<std::size_t>(newline - bytes.begin()));
        bytes = bytes.from(piece.size() + (ended ? 1 : 0));
        bool go_on = true;
        if (!skipping_) {
            const bool fits = piece.size() <= longest_ - begun_.size();
            if (fits && ended && begun_.empty()) {
                go_on = f(piece, false);
            } else {
                begun_.append(piece.data(), std::min(piece.size(), longest_ - begun_.size()));
                if (fits && !ended) return;
                skipping_ = !fits;
                go_on = f(ByteView(begun_), !fits);
                begun_.clear();
            }
        }
        if (ended) skipping_ = false;
        if (!go_on) return;
    }
}

template <class F>
void Lines::end(F f) {
    if (!begun_.empty()) f(ByteView(begun_), false);
    begun_.clear();
    skipping_ = false;
}

}  // namespace lines

#endif
