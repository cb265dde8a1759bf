// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_LISTENING_WATCH_HPP
#define REACTOR_NET_DETAIL_LISTENING_WATCH_HPP

#include <net/detail/socket_service.hpp>
#include <net/detail/transport_service.hpp>
#include <reactor/detail/loop_core.hpp>
#include <reactor/detail/stored.hpp>
#include <reactor/event_loop.hpp>

#include <cstddef>

namespace reactor {
namespace net {
namespace detail {

/// The loop's watch of a listening socket, whose descriptor is its owner's while it watches: for
/// the loop's users it is taken. Calls the owner's readable(index), and unwatched(index, refusal)
/// if the loop lets go of the descriptor by itself: its selector has refused it, for which
/// `refusal` is the errno, or somebody has closed it (0), and its number may be that of something
/// else by now. Moves; the owner stays where it is. On the loop's thread.
template <class Owner>
class ListeningWatch {
public:
    ListeningWatch() noexcept = default;
    ListeningWatch(ListeningWatch&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
    ListeningWatch& operator=(ListeningWatch&&) = delete;
    ~ListeningWatch() { stop(); }

    /// Throws what EventLoop::add_reader() does; it does not watch then.
    void start(EventLoop& loop, const char* label, int descriptor, Owner& owner,
               std::size_t index = 0) {
        stop();
        TransportService& service = loop.service<TransportService>();
        service.watches.require_free("add_reader", descriptor);
        reactor::detail::LoopCore& core = loop.core();
        const Options options = watch_options(label);
        node_ = core.fill<Ready>(core.take(reactor::detail::NodeKind::reader), loop, descriptor,
                                 owner, index);
        try {
            core.set_context(node_, &options);
            service.watches.add("add_reader", descriptor, node_, &options);
            service.watches.reserve("add_reader", descriptor);
        } catch (...) {
            stop();
            throw;
        }
    }

    /// Again: no effect. Works on a closed loop too.
    void stop() noexcept {
        reactor::detail::Node* const node = node_;
        node_ = nullptr;
        if (!node) return;
        if (node->ops) {
            Ready& ready = reactor::detail::Stored<Ready>::get(node->storage);
            ready.unreserve();
            ready.owner = nullptr;
        }
        reactor::detail::LoopCore& core = *node->core;
        reactor::detail::LoopCore::cancel(node);
        core.release(node);
    }

private:
    struct Ready {
        Ready(EventLoop& loop, int number, Owner& o, std::size_t i) noexcept
            : core(loop.core()),
              service(loop.service<TransportService>()),
              descriptor(number),
              owner(&o),
              index(i) {}
        Ready(const Ready&) = delete;
        Ready& operator=(const Ready&) = delete;
        ~Ready() {
            // What goes when the loop closes has not been lost.
            if (!owner || core.closed.load(std::memory_order_relaxed)) return;
            unreserve();
            owner->unwatched(index, service.watches.refusal());
        }
        void operator()() const { owner->readable(index); }

        void unreserve() const noexcept {
            if (core.closed.load(std::memory_order_relaxed)) return;
            // A transport may have got the number of a descriptor that was closed behind our back.
            if (!service.find(descriptor)) service.watches.unreserve(descriptor);
        }

        reactor::detail::LoopCore& core;
        TransportService& service;  // not after the loop's end
        const int descriptor;
        Owner* owner;
        const std::size_t index;
    };

    reactor::detail::Node* node_ = nullptr;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
