// SPDX-License-Identifier: BSL-1.0
#include <net/detail/stream_request.hpp>

#include <algorithm>
#include <stdexcept>

#include <string.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

using Answer = StreamRequest::Answer;

Answer wait() { return Answer{Answer::Outcome::wait, 0, 0}; }
Answer take(std::size_t size) { return Answer{Answer::Outcome::take, size, 0}; }
Answer incomplete() { return Answer{Answer::Outcome::incomplete, 0, 0}; }
Answer overrun(std::size_t consumed, std::size_t drop) {
    return Answer{Answer::Outcome::overrun, consumed, drop};
}

}  // namespace

StreamRequest::StreamRequest(const char* name, Kind what, const std::string& text)
    : call(name), kind(what), count(0), separator(text), longest_(text.size()) {
    if (text.empty()) {
        throw std::invalid_argument(std::string(call) +
                                    ": an empty separator would match everywhere");
    }
}

StreamRequest::StreamRequest(const char* name, Kind what, const std::vector<std::string>& texts)
    : StreamRequest(name, what, texts.empty() ? std::string() : texts.front()) {
    if (texts.size() > 1) more.assign(texts.begin() + 1, texts.end());
    for (const std::string& text : more) {
        longest_ = std::max(longest_, StreamRequest(name, what, text).longest_);
    }
}

Answer StreamRequest::judge(ByteView bytes, bool ended, std::size_t limit) {
    const std::size_t size = bytes.size();
    switch (kind) {
        case Kind::some:
            if (count == 0 || size != 0 || ended) return take(std::min(count, size));
            break;
        case Kind::exactly:
            if (size >= count) return take(count);
            if (ended) return incomplete();
            break;
        case Kind::all:
            if (size > count) return overrun(size, 0);
            if (ended) return take(size);
            break;
        case Kind::until:
        case Kind::line:
            return judge_separated(bytes, ended, limit);
    }
    return wait();
}

Answer StreamRequest::judge_separated(ByteView bytes, bool ended, std::size_t limit) {
    const bool line = kind == Kind::line;
    const Match match = find_first(bytes);
    if (match.end != nowhere) {
        if (match.begin <= limit) return take(match.end);
        return overrun(match.begin, line ? match.end : 0);
    }
    // The last bytes may be the beginning of a separator.
    if (bytes.size() >= longest_) searched_ = bytes.size() + 1 - longest_;
    if (searched_ > limit) return overrun(searched_, line ? bytes.size() : 0);
    if (!ended) return wait();
    return line ? take(bytes.size()) : incomplete();
}

/// Looks for a match that ends before the best one.
void StreamRequest::find(ByteView bytes, const std::string& text, Match& best) const {
    const ByteView part = bytes.from(0, best.end == nowhere ? nowhere : best.end - 1);
    if (part.size() < searched_ + text.size()) return;
    const void* const found =
        ::memmem(part.data() + searched_, part.size() - searched_, text.data(), text.size());
    if (!found) return;
    best.begin = static_cast<std::size_t>(static_cast<const char*>(found) - part.data());
    best.end = best.begin + text.size();
}

/// The match that ends first; `end` is nowhere if there is none.
StreamRequest::Match StreamRequest::find_first(ByteView bytes) const {
    Match best = {nowhere, nowhere};
    if (more.empty()) {
        find(bytes, separator, best);
        return best;
    }
    // In windows that grow: else a separator that is not there would be looked for in all that is
    // kept, again for each of many short pieces that end with another one.
    for (std::size_t window = 1024;; window *= 2) {
        const ByteView part = bytes.from(0, searched_ + window);
        find(part, separator, best);
        for (const std::string& text : more) find(part, text, best);
        if (best.end != nowhere || part.size() == bytes.size()) return best;
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
