// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_DESCRIPTOR_WATCH_HPP
#define REACTOR_DETAIL_DESCRIPTOR_WATCH_HPP

#include <reactor/detail/loop_state.hpp>
#include <reactor/detail/node.hpp>
#include <reactor/detail/stored.hpp>
#include <reactor/event_loop.hpp>

#include <cerrno>
#include <system_error>

namespace reactor {
namespace detail {

/// How a watch has ended that its owner has not stopped.
struct WatchLoss {
    enum Kind {
        refused,  ///< by the selector, for which `code` is the errno; the descriptor is its owner's
        closed,   ///< by somebody else: the number may be that of something else by now
        taken     ///< by add_reader(), remove_reader() or their kin, called for the same number
    };

    Kind kind;
    int code;
};

/// A watch of a descriptor by one of the library's own parts, which waits for nothing else and so
/// must hear of it if the loop lets go of the descriptor by itself. Calls the owner's
/// watch_ready(index), and watch_lost(index, const WatchLoss&) from inside of the loop or of the
/// user's call: that must not throw, and stops this. Moves; the owner stays where it is. Owned by
/// it, used on the loop's thread.
template <class Owner>
class DescriptorWatch {
public:
    /// Whose the descriptor's number is. `ours`: the owner holds it, see WatchTable::hold(), and
    /// the loop's users are refused.
    enum class Number { everybodys, ours };

    DescriptorWatch() noexcept = default;
    DescriptorWatch(DescriptorWatch&& other) noexcept : node_(other.node_) {
        other.node_ = nullptr;
    }
    DescriptorWatch& operator=(DescriptorWatch&&) = delete;
    ~DescriptorWatch() { stop(); }

    /// As a NodeKind::reader or a writer. Throws what EventLoop::add_reader() does; it does not
    /// watch then. `index` is for the owner.
    void start(EventLoop& loop, NodeKind kind, const Options& options, int descriptor, Owner& owner,
               unsigned index = 0, Number number = Number::everybodys) {
        stop();
        const char* const call = kind == NodeKind::writer ? "add_writer" : "add_reader";
        LoopState& state = static_cast<LoopState&>(loop.core());
        state.check(call);
        if (descriptor < 0) {  // the owner has lost it
            throw std::system_error(EBADF, std::system_category(), call);
        }
        if (number == Number::everybodys) state.watches.require_free(call, descriptor);
        node_ = state.make<Ready>(kind, state, owner, descriptor, index);
        try {
            state.set_context(node_, &options);
            state.watches.add(call, descriptor, node_, &options);
        } catch (...) {
            stop();
            throw;
        }
    }

    /// Again: no effect. Works on a closed loop too.
    void stop() noexcept {
        Node* const node = node_;
        node_ = nullptr;
        if (!node) return;
        if (node->ops) Stored<Ready>::get(node->storage()).owner = nullptr;
        LoopCore& core = *node->core;
        LoopCore::cancel(node);
        core.release(node);
    }

    /// Between start() and stop().
    explicit operator bool() const noexcept { return node_ != nullptr; }

private:
    struct Ready {
        Ready(LoopState& s, Owner& o, int number, unsigned i) noexcept
            : state(s), owner(&o), descriptor(number), index(i) {}
        Ready(const Ready&) = delete;
        Ready& operator=(const Ready&) = delete;
        ~Ready() {
            // What goes when the loop closes has not been lost.
            if (!owner || state.closed.load(std::memory_order_relaxed)) return;
            owner->watch_lost(index, loss());
        }
        void operator()() const { owner->watch_ready(index); }

        WatchLoss loss() const noexcept {
            if (!state.watches.losing(descriptor)) return {WatchLoss::taken, 0};
            const int refusal = state.watches.refusal();
            if (refusal != 0) return {WatchLoss::refused, refusal};
            return {WatchLoss::closed, EBADF};
        }

        LoopState& state;
        Owner* owner;
        const int descriptor;
        const unsigned index;
    };
    static_assert(FitsInPlace<Ready>::value, "each read of a Socket makes one");

    Node* node_ = nullptr;
};

}  // namespace detail
}  // namespace reactor

#endif
