// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SOAK_CONTENT_HPP
#define REACTOR_TEST_SOAK_CONTENT_HPP

#include <net/byte_view.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

#include <test/soak/random.hpp>

namespace soak {

/// The bytes of one direction of a connection: a function of a key and the offset, so that each can
/// be checked by itself, and a lost, doubled or swapped one shows. A value.
class Content {
public:
    Content() noexcept = default;
    explicit Content(std::uint64_t key, std::uint64_t first = 0) noexcept
        : key_(key), first_(first) {}

    /// Where it begins in the file of the same key.
    std::uint64_t first() const noexcept { return first_; }

    std::string bytes(std::uint64_t offset, std::size_t count) const {
        std::string text(count, '\0');
        Cursor at(*this, offset);
        for (char& byte : text) byte = at.next();
        return text;
    }
    /// The first of `bytes`, which come from `offset` on, that is wrong; their size if none is.
    std::size_t first_fault(std::uint64_t offset, reactor::net::ByteView bytes) const noexcept {
        Cursor at(*this, offset);
        std::size_t i = 0;
        while (i < bytes.size() && bytes.data()[i] == at.next()) ++i;
        return i;
    }

private:
    class Cursor {
    public:
        Cursor(const Content& content, std::uint64_t offset) noexcept
            : key_(content.key_), at_(content.first_ + offset), word_(word()) {}
        char next() noexcept {
            if (at_ % 8 == 0) word_ = word();
            return static_cast<char>(word_ >> (at_++ % 8 * 8));
        }

    private:
        std::uint64_t word() const noexcept { return mixed(key_ ^ mixed(at_ / 8)); }

        std::uint64_t key_;
        std::uint64_t at_;
        std::uint64_t word_;
    };

    std::uint64_t key_ = 0;
    std::uint64_t first_ = 0;
};

}  // namespace soak

#endif
