// SPDX-License-Identifier: BSL-1.0
#include <net/detail/stream_request.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

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
    : StreamRequest(name, what, std::vector<std::string>(1, text)) {}

StreamRequest::StreamRequest(const char* name, Kind what, const std::vector<std::string>& texts)
    : call(name), kind(what), count(0), separators_(new Separators) {
    for (const std::string& text : texts) {
        separators_->longest = std::max(separators_->longest, text.size());
    }
    const bool any_empty = std::any_of(texts.begin(), texts.end(),
                                       [](const std::string& text) { return text.empty(); });
    if (texts.empty() || any_empty) {
        throw std::invalid_argument(std::string(call) +
                                    ": an empty separator would match everywhere");
    }
    separators_->first = texts.front();
    separators_->more.assign(texts.begin() + 1, texts.end());
}

Answer StreamRequest::judge_otherwise(ByteView bytes, bool ended, std::size_t limit) {
    const std::size_t size = bytes.size();
    switch (kind) {
        case Kind::some:
            break;  // judge() answers that
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
    if (bytes.size() >= separators_->longest)
        separators_->searched = bytes.size() + 1 - separators_->longest;
    if (separators_->searched > limit)
        return overrun(separators_->searched, line ? bytes.size() : 0);
    if (!ended) return wait();
    return line ? take(bytes.size()) : incomplete();
}

/// Looks for a match that ends before the best one.
void StreamRequest::find(ByteView bytes, const std::string& text, Match& best) const {
    const ByteView part = bytes.from(0, best.end == nowhere ? nowhere : best.end - 1);
    if (part.size() < separators_->searched + text.size()) return;
    const void* const found =
        ::memmem(part.data() + separators_->searched, part.size() - separators_->searched,
                 text.data(), text.size());
    if (!found) return;
    best.begin = static_cast<std::size_t>(static_cast<const char*>(found) - part.data());
    best.end = best.begin + text.size();
}

/// The match that ends first; `end` is nowhere if there is none.
StreamRequest::Match StreamRequest::find_first(ByteView bytes) const {
    Match best = {nowhere, nowhere};
    if (separators_->more.empty()) {
        find(bytes, separators_->first, best);
        return best;
    }
    // In windows that grow: else a separator that is not there would be looked for in all that is
    // kept, again for each of many short pieces that end with another one.
    for (std::size_t window = 1024;; window *= 2) {
        const ByteView part = bytes.from(0, separators_->searched + window);
        find(part, separators_->first, best);
        for (const std::string& text : separators_->more) find(part, text, best);
        if (best.end != nowhere || part.size() == bytes.size()) return best;
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
