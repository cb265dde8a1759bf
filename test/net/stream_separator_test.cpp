// SPDX-License-Identifier: BSL-1.0
#include <net/stream.hpp>

#include "streamed.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

using namespace streamed;

namespace {

/// What the documentation says that a read does, in the slowest and shortest way: looks at all that
/// has come after each byte.
struct Model {
    std::string kept;
    std::size_t limit;

    /// "pending" as long as it waits.
    std::string read_until(const std::vector<std::string>& separators, bool ended, bool line) {
        std::size_t longest = 0;
        for (const std::string& text : separators) longest = std::max(longest, text.size());
        for (std::size_t end = 1; end <= kept.size(); ++end) {
            for (const std::string& text : separators) {
                if (end < text.size()) continue;
                const std::size_t begin = end - text.size();
                if (kept.compare(begin, text.size(), text) != 0) continue;
                if (begin <= limit) return take(end);
                if (line) kept.erase(0, end);
                return "overrun " + std::to_string(begin);
            }
        }
        if (kept.size() >= limit + longest) {
            const std::string said = "overrun " + std::to_string(kept.size() + 1 - longest);
            if (line) kept.clear();
            return said;
        }
        if (!ended) return "pending";
        if (line) return take(kept.size());
        return "incomplete " + take(kept.size()) + " of 0";
    }
    std::string read_exactly(std::size_t count, bool ended) {
        if (kept.size() >= count) return take(count);
        if (!ended) return "pending";
        return "incomplete " + take(kept.size()) + " of " + std::to_string(count);
    }
    std::string read(std::size_t most, bool ended) {
        if (kept.empty() && !ended) return "pending";
        return take(std::min(most, kept.size()));
    }
    std::string take(std::size_t count) {
        const std::string taken = kept.substr(0, count);
        kept.erase(0, count);
        return shown(taken);
    }
};

/// One read of a random kind, on a stream and on the model.
struct Step {
    Step(Random& random) : kind(random.below(5)), count(random.below(30)) {
        const std::vector<std::string> pool = {"\n", "\r\n", "ab", "aab", "\r", "aaa\n"};
        do {
            separators.push_back(pool[random.below(pool.size())]);
        } while (random.below(3) == 0);
    }

    Promise<std::string> of(Stream& stream) const {
        switch (kind) {
            case 0:
                return stream.read(count + 1);
            case 1:
                return stream.read_exactly(count);
            case 2:
                return stream.read_line();
            case 3:
                return stream.read_until(separators.front());
            default:
                return stream.read_until(separators);
        }
    }
    std::string of(Model& model, bool ended) const {
        switch (kind) {
            case 0:
                return model.read(count + 1, ended);
            case 1:
                return model.read_exactly(count, ended);
            case 2:
                return model.read_until({"\n"}, ended, true);
            case 3:
                return model.read_until({separators.front()}, ended, false);
            default:
                return model.read_until(separators, ended, false);
        }
    }

    std::size_t kind;
    std::size_t count;
    std::vector<std::string> separators;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(stream_separator)

REACTOR_LOOP_TEST(S_06_a_separator_beyond_the_limit) {
    StreamPair ends(loop);
    ends.stream.set_limit(3);
    ends.feed("some dataAA");
    BOOST_TEST(outcome(ends.stream.read_until("AAA")) == "overrun 9");
    ends.stream.set_limit(100);
    const Promise<std::string> waiting = ends.stream.read_until("AAA");
    BOOST_TEST(outcome(waiting) == "pending");
    BOOST_TEST(waiting.cancel());
    ends.feed("A");
    ends.stream.set_limit(3);
    BOOST_TEST(outcome(ends.stream.read_until("AAA")) == "overrun 9");
    BOOST_TEST(outcome(ends.stream.read()) == "'some dataAAA'");
}

REACTOR_LOOP_TEST(S_07_a_separator_in_pieces) {
    StreamPair ends(loop);
    const Promise<std::string> read = ends.stream.read_until("aaa");
    ends.feed("QWEaa");
    ends.feed("XYaa");
    BOOST_TEST(outcome(read) == "pending");
    ends.feed("a");
    BOOST_TEST(outcome(read) == "'QWEaaXYaaa'");
}

REACTOR_LOOP_TEST(S_08_the_end_before_the_separator) {
    StreamPair ends(loop);
    ends.feed("some dataAA");
    BOOST_CHECK_THROW(ends.stream.read_until(""), std::invalid_argument);
    BOOST_CHECK_THROW(ends.stream.read_until({"A", ""}), std::invalid_argument);
    const Promise<std::string> read = ends.stream.read_until("AAA");
    ends.feed_end();
    BOOST_TEST(outcome(read) == "incomplete 'some dataAA' of 0");
    BOOST_TEST(ends.stream.at_eof());
}

REACTOR_LOOP_TEST(S_09_of_several_separators_the_match_that_ends_first_wins) {
    StreamPair ends(loop);
    BOOST_CHECK_THROW(ends.stream.read_until(std::vector<std::string>()), std::invalid_argument);
    ends.feed("ABCDEFG");
    BOOST_TEST(outcome(ends.stream.read_until({"DEF", "BCDE"})) == "'ABCDE'");
    BOOST_TEST(outcome(ends.stream.read()) == "'FG'");
    ends.feed("mac\runix\nmac\r");
    for (const char* const line : {"'mac\r'", "'unix\n'", "'mac\r'"}) {
        BOOST_TEST(outcome(ends.stream.read_until({"\r", "\n"})) == line);
    }
}

// Behind the window that is searched first.
REACTOR_LOOP_TEST(S_09_several_separators_far_away) {
    StreamPair ends(loop);
    const std::string start(5000, '.');
    ends.feed(start + "BCDE");
    ends.feed("F");
    BOOST_TEST(outcome(ends.stream.read_until({"XYZ", "CDEF", "EF"})) == shown(start + "BCDEF"));
}

REACTOR_LOOP_TEST(random_reads_of_random_pieces_do_what_the_model_does) {
    const std::uint32_t seed = 20240611;
    BOOST_TEST_MESSAGE("seed " << seed);
    Random random(seed);
    const std::string letters = "aaab\r\n";
    for (int round = 0; round < 60; ++round) {
        StreamPair ends(loop);
        Model model{std::string(), 1 + random.below(40)};
        ends.stream.set_limit(model.limit);
        bool ended = false;
        for (int step = 0; step < 60; ++step) {
            const Step read(random);
            const Promise<std::string> promise = read.of(ends.stream);
            std::string wanted = read.of(model, ended);
            while (wanted == "pending") {
                BOOST_REQUIRE(outcome(promise) == "pending");
                ended = step > 50;
                if (ended) {
                    ends.feed_end();
                } else {
                    std::string piece;
                    do {
                        piece += letters[random.below(letters.size())];
                    } while (random.below(6) != 0);
                    ends.feed(piece);
                    model.kept += piece;
                }
                wanted = read.of(model, ended);
            }
            const std::string got = outcome(promise);
            BOOST_REQUIRE_MESSAGE(got == wanted, "seed " << seed << ", round " << round << ", step "
                                                         << step << ": got " << got << ", wanted "
                                                         << wanted);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
