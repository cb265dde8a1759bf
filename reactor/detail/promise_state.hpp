// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_PROMISE_STATE_HPP
#define REACTOR_DETAIL_PROMISE_STATE_HPP

#include <reactor/detail/biased_count.hpp>
#include <reactor/detail/loop_core.hpp>
#include <reactor/error.hpp>
#include <reactor/here.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace reactor {
namespace detail {

struct PromiseState;
struct TaskCore;

enum class PromiseStatus : std::uint8_t { pending, value, error, cancelled };

/// What a pending promise says to whoever asks why its loop goes on (inspect.hpp).
struct WhyPending {
    std::string what;                   // how it was made: "sleep"; empty: create_promise()
    PromiseState* waits_for = nullptr;  // not owned
    std::size_t of = 0;                 // not 0: it waits for several, and was made of so many;
    const void* crowd = nullptr;        // which several, since others may wait for the same,
    std::size_t (*pending)(const void* crowd) = nullptr;  // and how many of those are pending
    bool is_job = false;                                  // `what` is what a thread calls
    bool running = false;                                 // of a job
};

/// What the Promise objects of one promise share, but for the value.
///
/// Who keeps whom: a pending promise owns its callbacks (nodes), they own what they captured, and
/// nothing owns back. Completion hands the nodes to the ready queue; from then on each owns a
/// reference of the promise. So who can still complete a promise keeps everything behind it.
///
/// Copied and dropped on any thread; everything else, destruction included, on the loop's.
struct PromiseState {
    PromiseState(LoopCore& c, const Here& here) noexcept
        : PromiseState(c, here, !c.closed.load(std::memory_order_relaxed)) {}
    PromiseState(const PromiseState&) = delete;
    PromiseState& operator=(const PromiseState&) = delete;

    bool done() const noexcept { return status != PromiseStatus::pending; }
    void keep() noexcept { count.add(core->on_thread()); }
    bool unique() const noexcept { return count.total() == 1; }

    // ---- completion ----

    /// Throws InvalidStateError, naming `call`, if it is done already.
    void require_pending(const char* call) const {
        if (done()) refuse_second(call);
    }
    /// Makes it done and hands its callbacks to the ready queue; on a closed loop they are dropped.
    void settle(PromiseStatus outcome) noexcept { settle(outcome, 0); }
    /// The same by whoever gives his reference back with that: the first callback takes it over.
    void settle_and_drop(PromiseStatus outcome) noexcept { settle(outcome, 1); }
    void fail(std::exception_ptr e) noexcept;
    /// Ends cancelled; `e` holds the CancelledError if that has a message, else null.
    void end_cancelled(std::exception_ptr e) noexcept;
    /// Fails with a CancelledError as a mere error (rows G-06, G-07): what follows it is cancelled,
    /// and nobody is told if it goes unread.
    void fail_cancelled(std::exception_ptr e) noexcept;
    /// Ends as `from` did, which has no value.
    void fail_like(PromiseState& from) noexcept;
    /// Inside a handler: ends by the exception that is handled, CancelledError as cancelled. What
    /// must go on is thrown again: LoopExit, a thread's cancellation, and any error if the promise
    /// is done already, so that the loop reports it.
    void fail_by_current_exception();

    /// Asks for cancellation: false if it is done. Walks down the promises that wait for each other
    /// in a loop, so that neither long chains nor deep gathers need stack.
    bool cancel(const std::string& message);
    /// One step of cancel(). Either cancels (or asks the work behind the promise to end) and says
    /// in `took` whether it did; or names the promise to ask in its stead, which is pending; or
    /// names itself, if several are to be asked: cancel_next() names them.
    virtual PromiseState* cancel_step(const std::string& message, bool& took);
    /// The promise named by cancel_step() did not take the request: cancels this one, or remembers.
    virtual void cancel_refused(const std::string& message);
    /// The next of several to ask, pending, null if that were all; `at` begins with 0 and is for
    /// the callee to count with.
    virtual PromiseState* cancel_next(std::size_t& at) noexcept;
    /// One of several took the request.
    virtual void cancel_taken(const std::string& message);
    bool cancel_now(const std::string& message);

    // ---- outcome ----

    /// What result() would throw, null for a value; the error counts as read. Throws
    /// InvalidStateError, naming `call`, while pending.
    std::exception_ptr failure(const char* call);
    /// Whoever waited for the outcome was cancelled just when it came, and is told of that instead:
    /// it counts as read, and so do the outcomes of promises that its value consists of.
    virtual void overrule() noexcept { retrieved = true; }
    /// Throws what failure() gives, and InvalidStateError if the value was taken.
    void check_value(const char* call) {
        if (status != PromiseStatus::value || taken) throw_outcome(call);
    }
    [[noreturn]] static void refuse_taken(const char* call);

    // ---- callbacks ----

    /// Takes over a node with one reference, of a callable that gives back one reference of the
    /// promise when it is destroyed and the promise is done; queues it at once if done.
    void attach(Node* node) noexcept {
        if (hollow != 0 || done()) {
            attach_otherwise(node);
            return;
        }
        node->next = nullptr;
        (last ? last->next : first) = node;
        last = node;
    }
    /// Takes out the callbacks with this key, and those that are empty; counts the former.
    std::size_t remove(std::uint32_t key) noexcept;
    /// Ends one callback of a pending promise, of which its owner has kept the node. It costs the
    /// same however many wait: the node stays, empty, until there are enough of them.
    void withdraw(Node* node) noexcept;
    /// Whether any callback waits.
    bool awaited() noexcept {
        if (hollow != 0) remove(0);
        return first != nullptr;
    }
    void drop_callbacks() noexcept;
    /// Throws StateError on a closed loop and on a wrong thread.
    void check_attach(const char* call) const { core->check(call); }

    /// Part of a sentence that names it: "promise made at file:line".
    virtual std::string describe() const;
    /// Where it was made, as "file:line"; empty if that is not known.
    std::string made_at() const;
    /// What it is and waits for, while it is pending. Runs no code of a user's.
    virtual void explain(WhyPending&) const {}
    /// The task whose outcome this is; null for a plain promise.
    virtual TaskCore* as_task() noexcept { return nullptr; }

    // ---- destruction ----

    /// Called once, pending or not, before the callbacks go: when the last reference goes, or when
    /// close() gives up a pending promise, which may be held, asked and even completed after that.
    virtual void before_dispose() noexcept {}
    /// Destroys the object and gives its memory back.
    virtual void destroy() noexcept = 0;
    void last_words() noexcept {
        if (!spoke) {
            spoke = true;
            before_dispose();
        }
    }
    void dispose() noexcept;
    void unlink() noexcept {
        if (!linked) return;
        linked = false;
        if (dated) forget_birth();
        (previous ? previous->next : core->pending) = next;
        if (next) next->previous = previous;
    }

    LoopCore* core;
    BiasedCount count;
    PromiseStatus status : 2;
    bool retrieved : 1;     // false: holds an error that nobody read
    bool taken : 1;         // the value was moved out
    bool is_task : 1;       // sets its own outcome
    bool cancellation : 1;  // the error is a CancelledError
    bool linked : 1;        // in the loop's list of pending promises
    bool spoke : 1;         // before_dispose() was called
    bool dying : 1;         // its last reference has gone: nothing can complete it any more
    bool dated : 1;         // the loop's `births` knows it
    // 1 << sweep_shift empty callbacks are as many as those that are not, or nearly: so taking them
    // out costs each of them the same.
    std::uint8_t sweep_shift : 4;
    std::uint8_t unused : 2;  // named, so that all of these are written at once
    std::uint16_t hollow;     // so many callbacks may be empty
    std::uint32_t line;       // where it was made
    const char* file;
    Node* first = nullptr;  // callbacks, in order of registration
    Node* last = nullptr;
    PromiseState* previous = nullptr;  // while it is `linked`
    PromiseState* next = nullptr;
    PromiseState* next_dead = nullptr;  // in `doomed` or `dropped`
    std::exception_ptr error;           // of `error`; of `cancelled` if there was a message

protected:
    virtual ~PromiseState() = default;

private:
    /// `open`: the loop is, else no close() is to come that would look for it.
    PromiseState(LoopCore& c, const Here& here, bool open) noexcept
        : core(&c),
          count(c.running.load(std::memory_order_relaxed)),
          status(PromiseStatus::pending),
          retrieved(true),
          taken(false),
          is_task(false),
          cancellation(false),
          linked(open),
          spoke(false),
          dying(false),
          dated(false),
          sweep_shift(0),
          unused(0),
          hollow(0),
          line(here.line()),
          file(here.file()) {
        c.retain();
        if (!open) return;
        next = c.pending;
        if (next) next->previous = this;
        c.pending = this;
        if (c.debug) note_birth();
    }

    void note_birth() noexcept;
    void forget_birth() noexcept;
    void attach_otherwise(Node* node) noexcept;
    void settle(PromiseStatus outcome, std::uint32_t given) noexcept;
    void settle_on_closed_loop() noexcept;
    void report_unread();
    bool to_be_swept() const noexcept { return (hollow >> sweep_shift) != 0; }
    [[noreturn]] static void refuse_second(const char* call);
    [[noreturn]] void throw_outcome(const char* call);
};

void dispose_in_turn(LoopCore& core, PromiseState* state) noexcept;
void drop_elsewhere(PromiseState* state) noexcept;

/// Gives a reference back. Any thread.
inline void drop(PromiseState* state) noexcept {
    LoopCore& core = *state->core;
    if (core.on_thread()) {
        if (state->count.drop_here()) dispose_in_turn(core, state);
    } else {
        drop_elsewhere(state);
    }
}

/// A reference of a state, which the scope gives back.
template <class S>
class StateOwner {
public:
    /// Takes a reference over.
    explicit StateOwner(S* state) noexcept : state_(state) {}
    StateOwner(StateOwner&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
    StateOwner(const StateOwner&) = delete;
    StateOwner& operator=(const StateOwner&) = delete;
    ~StateOwner() {
        if (state_) drop(state_);
    }

    S* operator->() const noexcept { return state_; }
    S& operator*() const noexcept { return *state_; }
    /// The reference is the caller's.
    S* release() noexcept {
        S* const state = state_;
        state_ = nullptr;
        return state;
    }

private:
    S* state_;
};

/// What `state` waits for was dropped while pending: it fails with BrokenPromise if anybody but the
/// callbacks that wait for it, which hold `links` references, could see that.
void break_promise(PromiseState& state, std::int32_t links) noexcept;

/// Throws unless `state` may wait for `source`: StateError for an empty one and for itself,
/// std::invalid_argument for one of another loop.
void check_can_follow(const PromiseState* source, const PromiseState& state);

}  // namespace detail
}  // namespace reactor

#endif
