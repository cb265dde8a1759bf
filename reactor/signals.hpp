// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SIGNALS_HPP
#define REACTOR_SIGNALS_HPP

#include <reactor/event_loop.hpp>
#include <reactor/handle.hpp>

#include <map>
#include <utility>

namespace reactor {
namespace detail {

/// A new callback that may be queued any number of times, one at a time: the handler of a signal.
template <class F, class... A>
Handle make_signal_callback(LoopCore& core, F&& f, A&&... arguments) {
    Node* const node = core.make<BindMany<F, A...>>(NodeKind::soon, std::forward<F>(f),
                                                    std::forward<A>(arguments)...);
    node->set(detail::NodeFlag::repeating);
    core.set_context(node, nullptr);
    const Handle handle = HandleAccess::handle(node);
    core.release(node);
    return handle;
}

void put_signal_handler(EventLoop& loop, int signal, const Handle& handler);
/// The loop's signals and their callbacks.
std::map<int, Handle> signal_callbacks(EventLoop& loop);

}  // namespace detail

/// Calls f(arguments…) as a callback of this loop after `signal` has arrived at the process, so it
/// may do what any callback may; several arrivals may become one call. It runs in the iteration
/// after the one that is woken, in the context of now. Replaces the loop's handler of that signal;
/// one loop has a signal at a time.
///
/// While it is there, system calls that the signal interrupts are restarted (SA_RESTART), and a
/// handler function that the program had set before is called first thing after ours, inside the
/// signal. It needs no thread and shares nothing with other signals or loops.
///
/// remove_signal_handler() says whether there was one; it does not run again, also if the signal
/// has arrived already. The disposition from before is back then, unless somebody has replaced ours
/// meanwhile; close() does the same for all.
///
/// On the loop's thread. Throws std::invalid_argument for a number that is no signal, StateError
/// for one that cannot be caught or that another loop has, and on a closed loop. asyncio:
/// add_signal_handler.
template <class F, class... A>
void EventLoop::add_signal_handler(int signal, F&& f, A&&... arguments) {
    core_->check("add_signal_handler");
    detail::refuse_null(f, "add_signal_handler");
    detail::put_signal_handler(
        *this, signal,
        detail::make_signal_callback(*core_, std::forward<F>(f), std::forward<A>(arguments)...));
}

}  // namespace reactor

#endif
