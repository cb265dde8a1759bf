// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_SCOPED_HPP
#define REACTOR_DETAIL_SCOPED_HPP

#include <reactor/detail/node.hpp>
#include <reactor/detail/stored.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace reactor {
namespace detail {

/// A place in a Scope's list; takes itself out when it is destroyed. Alone it points to itself.
struct Link {
    Link() noexcept : previous(this), next(this) {}
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    ~Link() { unlink(); }

    bool alone() const noexcept { return next == this; }
    void insert_after(Link& at) noexcept {
        previous = &at;
        next = at.next;
        at.next->previous = this;
        at.next = this;
    }
    void unlink() noexcept {
        previous->next = next;
        next->previous = previous;
        previous = next = this;
    }

    Link* previous;
    Link* next;
};

template <class B>
class BesideLink {
public:
    template <class... A>
    explicit BesideLink(A&&... a) : callable_(std::forward<A>(a)...) {}
    B& get() noexcept { return callable_; }

private:
    B callable_;
};

template <class B>
class BehindLink {
public:
    template <class... A>
    explicit BehindLink(A&&... a) : callable_(new B(std::forward<A>(a)...)) {}
    B& get() noexcept { return *callable_; }

private:
    std::unique_ptr<B> callable_;
};

/// A callable tied to a Scope. The link is in the callable and not in the node, so that only scoped
/// registrations have one; it comes first and always lies in the node's storage, so that the node
/// is found from it. Destroying the callable takes it out of the scope, hence running, cancelling
/// and scopes need no book-keeping of each other.
template <class B>
class Scoped {
public:
    template <class... A>
    explicit Scoped(Link& scope, A&&... construct) : callable_(std::forward<A>(construct)...) {
        link_.insert_after(scope);
    }
    Scoped(const Scoped&) = delete;
    Scoped& operator=(const Scoped&) = delete;

    void operator()() { callable_.get()(); }

private:
    static constexpr bool fits =
        sizeof(Link) + sizeof(B) <= callable_capacity && alignof(B) <= alignof(Link);

    Link link_;
    typename std::conditional<fits, BesideLink<B>, BehindLink<B>>::type callable_;
};

inline Node* node_of(Link* link) noexcept { return Node::of_storage(link); }

/// What the copies of one bound callable share: Scope::bind(). Counted on the loop's thread.
class BoundBlock : public Link {
public:
    explicit BoundBlock(LoopCore& core) noexcept;

    void keep() noexcept { ++references_; }
    void let_go() noexcept;
    /// The scope is gone or cleared: the callable goes now, or at its return if it runs.
    void end() noexcept;

    /// While it lives, the callable runs: it may end its scope, and drop every copy of itself.
    class Call {
    public:
        explicit Call(BoundBlock& block) noexcept;
        ~Call();
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;

    private:
        BoundBlock& block_;
    };

    /// Throws StateError on another thread than the loop's; false once it is inert.
    bool may_run() const;

protected:
    virtual ~BoundBlock();
    virtual void drop_callable() noexcept = 0;

private:
    LoopCore& core_;
    std::size_t references_ = 1;
    std::size_t running_ = 0;
    bool ended_ = false;
};

template <class F>
class BoundCallable final : public BoundBlock {
public:
    template <class... A>
    explicit BoundCallable(LoopCore& core, A&&... construct)
        : BoundBlock(core), callable_(new F(std::forward<A>(construct)...)) {}
    F& callable() noexcept { return *callable_; }

private:
    void drop_callable() noexcept override { callable_.reset(); }

    std::unique_ptr<F> callable_;
};

}  // namespace detail
}  // namespace reactor

#endif
