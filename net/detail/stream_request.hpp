// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_STREAM_REQUEST_HPP
#define REACTOR_NET_DETAIL_STREAM_REQUEST_HPP

#include <net/byte_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

/// What one read of a stream wants, and whether the bytes at hand are that: knows nothing of
/// connections and promises. A value that moves.
struct StreamRequest {
    enum class Kind : std::uint8_t { some, exactly, until, line, all };

    /// What there is to do with the bytes at hand.
    struct Answer {
        enum class Outcome : std::uint8_t { wait, take, incomplete, overrun };

        Outcome outcome;
        std::size_t size;  // take: so many; overrun: so many were looked at
        std::size_t drop;  // overrun: so many go
    };

    StreamRequest(const char* name, Kind what, std::size_t bytes = 0)
        : call(name), kind(what), count(bytes) {}
    /// Throw std::invalid_argument for no separators, and for an empty one.
    StreamRequest(const char* name, Kind what, const std::string& text);
    StreamRequest(const char* name, Kind what, const std::vector<std::string>& texts);

    /// `bytes` are all that were kept, from the same one on in every call; `ended`: no more will
    /// come. A separator may begin at most `limit` bytes behind the first.
    Answer judge(ByteView bytes, bool ended, std::size_t limit) {
        if (kind != Kind::some) return judge_otherwise(bytes, ended, limit);
        const bool now = !bytes.empty() || count == 0 || ended;
        return Answer{now ? Answer::Outcome::take : Answer::Outcome::wait,
                      (std::min)(count, bytes.size()), 0};
    }

    const char* call;  // for messages
    Kind kind;
    std::size_t count;  // some, all: at most so many; exactly: so many

private:
    /// What a read() does without.
    struct Separators {
        std::string first;
        std::vector<std::string> more;
        std::size_t longest = 0;
        std::size_t searched = 0;  // none begins before it
    };

    struct Match {
        std::size_t begin;
        std::size_t end;
    };

    void find(ByteView bytes, const std::string& text, Match& best) const;
    Match find_first(ByteView bytes) const;
    Answer judge_otherwise(ByteView bytes, bool ended, std::size_t limit);
    Answer judge_separated(ByteView bytes, bool ended, std::size_t limit);

    std::unique_ptr<Separators> separators_;  // until, line
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
