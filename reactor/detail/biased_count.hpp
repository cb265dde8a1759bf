// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_BIASED_COUNT_HPP
#define REACTOR_DETAIL_BIASED_COUNT_HPP

#include <atomic>
#include <cstdint>

namespace reactor {
namespace detail {

/// A reference count of two halves: the loop's thread counts in a plain integer, all others in an
/// atomic one. A copy on the loop's thread costs an increment; a plain atomic count would be half
/// of what a promise costs. The object lives as long as local + shared > 0.
///
/// A reference that the loop's thread made and another thread drops turns the shared half negative.
/// Nobody but the loop's thread may look at the local half, so the object is handed to it once
/// (`queued`), to add up the two halves. From then on (`merged`), and when the local half has come
/// to 0, the shared half is the whole count; so it is from the start for an object made while the
/// loop does not run, since then there is no telling which thread will be the loop's, until bias().
class BiasedCount {
public:
    explicit BiasedCount(bool biased) noexcept
        : local_(biased ? 1 : 0), shared_(biased ? 0 : one | merged) {}

    /// `here`: on the loop's thread.
    void add(bool here) noexcept { add(here, 1); }
    void add(bool here, std::uint32_t several) noexcept {
        if (here && local_ != 0) {
            local_ += several;
        } else {
            shared_.fetch_add(one * static_cast<std::int32_t>(several), std::memory_order_relaxed);
        }
    }

    /// On the loop's thread while the loop runs, if no other one has ever been that, by who has a
    /// reference of an object that will live long: this thread counts in its own half from now on.
    void bias() noexcept {
        if (local_ != 0) return;
        // The reference changes halves: nobody else's can be the last one meanwhile.
        local_ = 1;
        shared_.fetch_sub(one | merged, std::memory_order_acq_rel);
    }

    /// On the loop's thread. True: that was the last reference, which stays the caller's, so that
    /// nobody else's will be the last again: destroy the object.
    bool drop_here() noexcept {
        if (local_ > 1) {
            --local_;
            return false;
        }
        // Nobody else ever had a reference, or all gave it back: nobody is left to race with.
        if (local_ == 1 && shared_.load(std::memory_order_acquire) == 0) return true;
        return drop_shared();
    }

    /// On another thread. True: hand the object to the loop's thread, which will call add_up().
    bool drop_elsewhere() noexcept {
        std::int32_t seen = shared_.load(std::memory_order_relaxed);
        std::int32_t wanted;
        bool hand_over;
        do {
            wanted = seen - one;
            const std::int32_t left = count(wanted);
            hand_over = !(seen & queued) && ((wanted & merged) ? left == 0 : left < 0);
            if (hand_over) wanted |= queued;
        } while (!shared_.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel,
                                                std::memory_order_relaxed));
        return hand_over;
    }

    /// For an object that was handed over, by the loop's thread or, once the loop is gone, by the
    /// one that would have handed it over: adds up the two halves, for good. True: no reference is
    /// left but one that the caller has now: destroy the object.
    bool add_up() noexcept {
        // `queued` is set, so nobody else comes here, and the local half is ours alone.
        const std::int32_t local = static_cast<std::int32_t>(local_);
        local_ = 0;
        std::int32_t seen = shared_.load(std::memory_order_acquire);
        std::int32_t wanted;
        do {
            wanted = ((seen & ~queued) + local * one) | merged;
        } while (!shared_.compare_exchange_weak(seen, wanted, std::memory_order_acq_rel,
                                                std::memory_order_acquire));
        return hold(count(wanted) == 0);
    }

    /// On the loop's thread: how many references there are. One: the caller's, and nobody can make
    /// another. More: others may be dropping theirs right now.
    std::int32_t total() const noexcept {
        const std::int32_t shared = shared_.load(std::memory_order_acquire);
        return static_cast<std::int32_t>(local_) + count(shared);
    }

private:
    // The shared half keeps its two flags beside the count, so that one operation sees all three.
    enum : std::int32_t { merged = 1, queued = 2, one = 4 };

    /// drop_here() where the shared half counts.
    bool drop_shared() noexcept {
        if (local_ == 1) {
            local_ = 0;
            return hold(is_last(shared_.fetch_or(merged, std::memory_order_acq_rel)));
        }
        return hold(is_last(shared_.fetch_sub(one, std::memory_order_acq_rel) - one));
    }
    /// After the last one has gone, and nobody is left who could race.
    bool hold(bool was_last) noexcept {
        if (was_last) shared_.fetch_add(one, std::memory_order_relaxed);
        return was_last;
    }

    static std::int32_t count(std::int32_t value) noexcept {
        return (value - (value & (merged | queued))) / one;
    }
    static bool is_last(std::int32_t value) noexcept {
        return count(value) == 0 && !(value & queued);
    }

    std::uint32_t local_;
    std::atomic<std::int32_t> shared_;
};

}  // namespace detail
}  // namespace reactor

#endif
