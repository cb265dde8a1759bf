// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/inbox.hpp>
#include <reactor/report.hpp>

#include <exception>
#include <string>
#include <system_error>
#include <utility>

namespace reactor {
namespace detail {

namespace {

const char* const not_woken =
    "the event loop sleeps and cannot be woken: somebody closed its wake-up descriptor, or a "
    "sandbox forbids to write to it";

}  // namespace

void log_undelivered(const char* what) noexcept {
    try {
        log_to_standard_error(LogLevel::error, std::string(what) +
                                                   " cannot be delivered to its event loop\n" +
                                                   describe(std::current_exception()));
    } catch (...) {
        // No memory for the words either.
    }
}

// The hand-shake with a loop that goes to sleep, each side one store and then one load, both
// sequentially consistent: either the poster sees `sleeping_` and writes to the kernel, or the loop
// sees `has_posts_` and does not sleep. Neither can miss the other.

bool Inbox::post(Callback& callback, ContextMapPtr&& context, const char* label) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return false;
    const NodeRoom room = room_for(callback.size());
    Node* const node = nodes_.take(*core_, room);
    node->renew(NodeKind::soon, room);
    node->set(NodeFlag::posted);
    node->ops = callback.move_to(node->storage());
    node->context = context.release();
    node->label = label;
    posts_.add(node);
    // Set by an earlier post, it has been since then: whoever set it has seen to the rest.
    if (!has_posts()) has_posts_.store(true, std::memory_order_seq_cst);
    if (!notify_if_sleeping()) {
        // The callback will run when the loop comes round by itself: loud, since that may be never.
        // (The wake-up leaves errno alone, for the sake of signal handlers: the cause is not
        // known.)
        throw std::system_error(std::make_error_code(std::errc::io_error), not_woken);
    }
    return true;
}

void Inbox::wake() noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return;
    has_posts_.store(true, std::memory_order_seq_cst);
    if (!notify_if_sleeping()) log_to_standard_error(LogLevel::error, not_woken);
}

Inbox::~Inbox() { close(); }

bool Inbox::notify_if_sleeping() {
    // Only the first one after the loop fell asleep writes. The mutex is held, so that the
    // descriptor cannot be closed, and its number reused, in between.
    if (!sleeping_.load(std::memory_order_seq_cst)) return true;
    sleeping_.store(false, std::memory_order_relaxed);
    if (wakeup_->notify()) return true;
    // It sleeps on: the next post must try again, and fail as loudly. Should it have woken by
    // itself, that costs a write too many.
    sleeping_.store(true, std::memory_order_relaxed);
    return false;
}

bool Inbox::fall_asleep() noexcept {
    sleeping_.store(true, std::memory_order_seq_cst);
    if (!has_posts_.load(std::memory_order_seq_cst)) return true;
    sleeping_.store(false, std::memory_order_relaxed);
    return false;
}

std::size_t Inbox::count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return posts_.count;
}

NodeList Inbox::take(NodesByRoom& spare) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    nodes_.put_all(spare);
    const NodeList taken = posts_;
    posts_ = NodeList();
    has_posts_.store(false, std::memory_order_relaxed);
    return taken;
}

void Inbox::close() noexcept {
    Node* node;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        closed_ = true;
        sleeping_.store(false, std::memory_order_relaxed);
        wakeup_.reset();
        has_posts_.store(false, std::memory_order_relaxed);
        node = posts_.first;
        posts_ = NodeList();
    }
    // Without the mutex: what a destructor of a capture posts is refused.
    while (node) {
        Node* const following = node->next;
        node->drop_callable();
        nodes_.drop(node);
        node = following;
    }
}

}  // namespace detail
}  // namespace reactor
