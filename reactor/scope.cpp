// SPDX-License-Identifier: BSL-1.0
#include <reactor/scope.hpp>

namespace reactor {
namespace detail {

// ---- bound callables ------------------------------------------------------------------------

BoundBlock::BoundBlock(LoopCore& core) noexcept : core_(core) { core_.retain(); }

BoundBlock::~BoundBlock() { core_.forget(); }

void BoundBlock::let_go() noexcept {
    if (!core_.gone) core_.require_thread("the destructor of a callable made by Scope::bind()");
    if (--references_ == 0) delete this;
}

bool BoundBlock::may_run() const {
    core_.check_thread("a callable made by Scope::bind()");
    return !ended_;
}

void BoundBlock::end() noexcept {
    unlink();
    ended_ = true;
    if (running_ == 0) drop_callable();
}

BoundBlock::Call::Call(BoundBlock& block) noexcept : block_(block) {
    block_.keep();
    ++block_.running_;
}

BoundBlock::Call::~Call() {
    if (--block_.running_ == 0 && block_.ended_) block_.drop_callable();
    block_.let_go();
}

}  // namespace detail

// ---- the scope ------------------------------------------------------------------------------

Scope::Scope(EventLoop& loop) noexcept : core_(&loop.core()) { core_->retain(); }

Scope::~Scope() {
    close();
    core_->forget();
}

void Scope::close() noexcept {
    closed_ = true;
    clear();
}

void Scope::clear() noexcept {
    if (!core_->gone) core_->require_thread("Scope::clear or a Scope's destructor");
    // Always the first one: the destructor of a capture may cancel others of this scope, or, on a
    // scope that stays open, add some, which go as well.
    while (!callbacks_.alone()) {
        detail::Link* const link = callbacks_.next;
        detail::Node* const node = detail::node_of(link);
        // The one that runs stays in its node until it returns, perhaps longer than this scope.
        link->unlink();
        detail::LoopCore::cancel(node);
    }
    while (!bound_.alone()) static_cast<detail::BoundBlock*>(bound_.next)->end();
}

void Scope::adopt(detail::BoundBlock& block) noexcept {
    if (closed_) {
        block.end();
    } else {
        block.insert_after(bound_);
    }
}

Handle Scope::refused() const {
    if (core_->gone) return Handle();
    detail::Node* const node = core_->take(detail::NodeKind::soon, detail::NodeRoom::small);
    node->set(detail::NodeFlag::cancelled);
    const Handle handle = detail::HandleAccess::handle(node);
    core_->release(node);
    return handle;
}

TimerHandle Scope::refused_timer() const {
    if (core_->gone) return TimerHandle();
    detail::TimerNode* const node = core_->take_timer();
    node->set(detail::NodeFlag::cancelled);
    node->when = never();
    const TimerHandle handle = detail::HandleAccess::timer(node);
    core_->release(node);
    return handle;
}

void Scope::refuse_gone(const char* call) {
    throw StateError(std::string(call) +
                     ": the scope's event loop is gone: a scope must end before its loop");
}

}  // namespace reactor
