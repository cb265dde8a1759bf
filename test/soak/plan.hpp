// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SOAK_PLAN_HPP
#define REACTOR_TEST_SOAK_PLAN_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <test/soak/content.hpp>
#include <test/soak/random.hpp>

namespace soak {

/// The longest transfer, and the size of the file that some of them come from.
constexpr std::size_t most_bytes = 512 * 1024;
constexpr std::uint64_t file_key = 77;

/// How a connection is meant to end, if nothing happens to it.
enum class Ending {
    server_closes,  ///< once both have sent everything
    client_closes,  ///< the same
    half_close,     ///< the client ends its half, and gets the answer after that
    refusal         ///< the server answers in the middle of the upload, and closes unread
};

/// What somebody does to it at some point.
enum class Strike {
    none,
    client_resets,
    client_closes,
    client_cancels,
    server_resets,
    server_closes
};

/// Everything about one connection, which both sides know from its number: what goes which way, and
/// what is to happen. A function of the soak's seed and the number. A value.
struct Plan {
    Plan(std::uint64_t seed, std::uint64_t number) : id(number), random(mixed(seed) ^ number) {
        site = static_cast<std::size_t>(random.below(4));
        streams = random.one_in(2);
        by_name = random.one_in(8);
        up = random.length(most_bytes);
        down = 1 + random.length(most_bytes - 1);
        ending = static_cast<Ending>(random.below(4));
        at_once = random.one_in(2);
        upward = Content(2 * id + 1000);
        downward = Content(2 * id + 1001);
        from_file = random.one_in(4);
        if (from_file) downward = Content(file_key, random.below(most_bytes - down + 1));
        if (ending == Ending::refusal) {
            at_once = false;
            up += 1;
            refuse_at = static_cast<std::size_t>(random.below(up));
        }
        slow = random.one_in(8);
        if (random.one_in(4)) {
            strike = static_cast<Strike>(1 + random.below(5));
            strike_after = random.up_to(std::chrono::milliseconds(random.one_in(2) ? 20 : 1));
        }
    }

    std::uint64_t id;
    Random random;  // for what each side draws on its way
    std::size_t site;
    bool streams;  // the client is a task with a stream, else a protocol
    bool by_name;  // the client looks a name up
    std::size_t up, down;
    Ending ending;
    bool at_once;  // the server answers without waiting for the end of the upload
    Content upward, downward;
    bool from_file;  // the answer is a part of the file
    std::size_t refuse_at = 0;
    bool slow;  // the client reads with pauses
    Strike strike = Strike::none;
    std::chrono::microseconds strike_after{0};
};

}  // namespace soak

#endif
