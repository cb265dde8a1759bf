// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/births.hpp>
#include <reactor/detail/promise_state.hpp>

#include <cxxabi.h>

#include <stdexcept>
#include <vector>

namespace reactor {
namespace detail {

namespace {

// What `hollow` can count to.
constexpr std::uint8_t most_sweep_shift = 15;

/// Kills the nodes of a list that nobody else can reach any more. What the captures' destructors do
/// to the promise meets a whole list. `pending`: whose callbacks they were, if it was pending then;
/// completed meanwhile, by one of those destructors, it owes those that are left the reference that
/// each of them gives back.
void drop_nodes(Node* node, PromiseState* pending = nullptr) noexcept {
    while (node) {
        Node* const following = node->next;
        LoopCore& core = *node->core;
        node->next = nullptr;
        node->set(NodeFlag::cancelled);
        if (pending && node->ops && pending->done()) pending->keep();
        node->drop_callable();
        core.release(node);
        node = following;
    }
}

}  // namespace

void PromiseState::note_birth() noexcept { dated = Births::note(*this); }

void PromiseState::forget_birth() noexcept {
    dated = false;
    core->births->forget(*this);
}

void PromiseState::refuse_second(const char* call) {
    throw InvalidStateError(std::string(call) +
                            ": the promise is done already: its outcome cannot change; ask "
                            "done() first, or use set_result_unless_cancelled()");
}

/// `given`: so many references are the caller's, who does not use them any more.
void PromiseState::settle(PromiseStatus outcome, std::uint32_t given) noexcept {
    status = outcome;
    // Whose callable a Scope has destroyed goes now.
    if (hollow != 0) remove(0);
    if (core->closed.load(std::memory_order_relaxed)) {
        settle_on_closed_loop();
        if (given != 0) drop(this);
        return;
    }
    unlink();
    Node* const begin = first;
    if (!begin) {
        if (given != 0) drop(this);
        return;
    }
    Node* const end = last;
    first = last = nullptr;
    // From here on each node owns a reference, which its callable gives back.
    std::uint32_t callbacks = 1;
    for (const Node* node = begin; node != end; node = node->next) ++callbacks;
    if (callbacks != given) count.add(core->on_thread(), callbacks - given);
    core->append(begin, end, callbacks);
}

void PromiseState::settle_on_closed_loop() noexcept {
    for (Node* node = first; node; node = node->next) keep();
    // Still listed: close() goes through the list now and will come to this one. Dropping its
    // callbacks here could break and settle the promises behind it, and so on, as deep as the
    // chain is long.
    if (linked) return;
    Node* const node = first;
    first = last = nullptr;
    drop_nodes(node);
}

void PromiseState::fail(std::exception_ptr e) noexcept {
    error = std::move(e);
    retrieved = false;
    settle(PromiseStatus::error);
}

void PromiseState::end_cancelled(std::exception_ptr e) noexcept {
    error = std::move(e);
    settle(PromiseStatus::cancelled);
}

void PromiseState::fail_cancelled(std::exception_ptr e) noexcept {
    error = std::move(e);
    cancellation = true;
    settle(PromiseStatus::error);
}

void PromiseState::fail_like(PromiseState& from) noexcept {
    if (from.status == PromiseStatus::cancelled || from.cancellation) {
        end_cancelled(from.error);
    } else {
        from.retrieved = true;
        fail(from.error);
    }
}

void PromiseState::fail_by_current_exception() {
    if (done()) throw;
    try {
        throw;
    } catch (const CancelledError& e) {
        end_cancelled(e.message().empty() ? nullptr : std::current_exception());
    } catch (const LoopExit&) {
        // The loop is left with it, so it has been heard.
        fail(std::current_exception());
        retrieved = true;
        throw;
#ifdef __GLIBCXX__
    } catch (const abi::__forced_unwind&) {
        throw;
#endif
    } catch (...) {
        fail(std::current_exception());
    }
}

namespace {

/// The promises that passed a request for cancellation on, from the one that was asked first down
/// to the last. All of them are kept: what one step does may drop the next.
class CancelPath {
public:
    explicit CancelPath(const std::string& message) noexcept : message_(message) {}
    CancelPath(const CancelPath&) = delete;
    CancelPath& operator=(const CancelPath&) = delete;
    ~CancelPath() {
        for (const Place& place : places_) drop(place.state);
    }

    /// `state` has named `below` in its stead.
    PromiseState* push(PromiseState* state, PromiseState* below) {
        places_.push_back(Place{state, below == state, 0, false});  // may throw: not kept yet
        state->keep();
        return below == state ? state->cancel_next(places_.back().at) : below;
    }

    /// Asks `state`, and whom it names, down to one that answers: whether that took the request.
    bool ask(PromiseState* state) {
        bool took = false;
        while (state && !state->dying) {
            state->keep();
            const StateOwner<PromiseState> kept(state);
            PromiseState* const below = state->cancel_step(message_, took);
            if (!below) return took;
            state = push(state, below);
        }
        return false;
    }

    /// Tells those above of the answer, up to one that has somebody else to ask: who that is. Null
    /// at the end, with the answer of all in `took`.
    PromiseState* answer(bool& took) {
        while (!places_.empty()) {
            Place& last = places_.back();
            if (last.several) {
                last.took = last.took || took;
                if (PromiseState* const next = last.state->cancel_next(last.at)) return next;
                took = last.took;
                if (took) last.state->cancel_taken(message_);
            } else if (!took) {
                // The nearest one above the refusal remembers it; those above that were heard
                // through it.
                last.state->cancel_refused(message_);
                took = true;
            }
            PromiseState* const told = last.state;
            places_.pop_back();
            drop(told);
        }
        return nullptr;
    }

private:
    struct Place {
        PromiseState* state;
        bool several;    // whether it named itself, and so all that it waits for
        std::size_t at;  // which of them comes next
        bool took;       // whether one of them took the request
    };

    const std::string& message_;
    std::vector<Place> places_;
};

}  // namespace

bool PromiseState::cancel(const std::string& message) {
    if (dying) return false;
    // Who cancels has given it up, and must not hear of a failure that came just before. asyncio's
    // Future.cancel() does the same.
    if (status == PromiseStatus::error) retrieved = true;
    bool took = false;
    PromiseState* const below = cancel_step(message, took);
    if (!below) return took;
    CancelPath path(message);
    PromiseState* to_ask = path.push(this, below);
    do {
        took = path.ask(to_ask);
        to_ask = path.answer(took);
    } while (to_ask);
    return took;
}

PromiseState* PromiseState::cancel_step(const std::string& message, bool& took) {
    took = cancel_now(message);
    return nullptr;
}

void PromiseState::cancel_refused(const std::string& message) { cancel_now(message); }

PromiseState* PromiseState::cancel_next(std::size_t&) noexcept { return nullptr; }

void PromiseState::cancel_taken(const std::string&) {}

bool PromiseState::cancel_now(const std::string& message) {
    if (done()) return false;
    end_cancelled(message.empty() ? nullptr : std::make_exception_ptr(CancelledError(message)));
    return true;
}

std::exception_ptr PromiseState::failure(const char* call) {
    switch (status) {
        case PromiseStatus::pending:
            throw InvalidStateError(std::string(call) +
                                    ": the promise is not done: use add_done_callback(), then() "
                                    "or run_until_complete()");
        case PromiseStatus::value:
            return nullptr;
        case PromiseStatus::error:
            retrieved = true;
            return error;
        case PromiseStatus::cancelled:
            return error ? error : std::make_exception_ptr(CancelledError());
    }
    return nullptr;
}

void PromiseState::throw_outcome(const char* call) {
    if (status == PromiseStatus::value) refuse_taken(call);
    std::rethrow_exception(failure(call));
}

void PromiseState::refuse_taken(const char* call) {
    throw InvalidStateError(std::string(call) +
                            ": the value was moved out by take() or by a continuation: take it "
                            "once, or read it by result()");
}

void PromiseState::attach_otherwise(Node* node) noexcept {
    // Each Scope that came and went on a promise that lives long would leave a node behind.
    if (to_be_swept()) remove(0);
    if (done()) {
        keep();
        core->push(node);
        return;
    }
    node->next = nullptr;
    (last ? last->next : first) = node;
    last = node;
}

std::size_t PromiseState::remove(std::uint32_t key) noexcept {
    Node* gone = nullptr;
    Node** gone_tail = &gone;
    Node** link = &first;
    std::size_t removed = 0;
    std::size_t left = 0;
    last = nullptr;
    while (Node* const node = *link) {
        const bool empty = !node->ops;
        if (empty || (key != 0 && node->key == key)) {
            *link = node->next;
            node->next = nullptr;
            *gone_tail = node;
            gone_tail = &node->next;
            if (!empty) ++removed;
        } else {
            last = node;
            link = &node->next;
            ++left;
        }
    }
    hollow = 0;
    sweep_shift = 0;
    while (sweep_shift < most_sweep_shift && (left >> sweep_shift) > 1) ++sweep_shift;
    if (!gone) return removed;
    keep();
    const StateOwner<PromiseState> kept(this);
    drop_nodes(gone, done() ? nullptr : this);
    return removed;
}

void PromiseState::withdraw(Node* node) noexcept {
    keep();
    const StateOwner<PromiseState> kept(this);
    node->add_reference();  // what goes with the callable may end this promise, and the node
    node->set(NodeFlag::cancelled);
    node->drop_callable();
    core->release(node);
    if (to_be_swept()) remove(0);
}

void PromiseState::drop_callbacks() noexcept {
    Node* const node = first;
    first = last = nullptr;
    drop_nodes(node, done() ? nullptr : this);
}

std::string PromiseState::made_at() const {
    // Without a line, "file" is empty, or `function` says which call of the library's made it.
    return line != 0 ? std::string(file) + ":" + std::to_string(line) : std::string();
}

std::string PromiseState::describe() const {
    const std::string place = made_at();
    return place.empty() ? "promise" : "promise made at " + place;
}

void break_promise(PromiseState& state, std::int32_t links) noexcept {
    if (state.done() || state.count.total() <= links) return;
    state.fail(std::make_exception_ptr(
        BrokenPromise("the promise that this one waits for was dropped while it was pending")));
    // close() abandons everything that is pending: nothing went wrong then.
    if (state.core->closed.load(std::memory_order_relaxed)) state.retrieved = true;
}

void check_can_follow(const PromiseState* source, const PromiseState& state) {
    if (!source) {
        throw StateError("then: the function returned an empty promise: return one that is made");
    }
    if (source == &state) {
        throw StateError(
            "then: the function returned its own result: a promise cannot wait for itself, return "
            "another one");
    }
    if (source->core != state.core) {
        throw std::invalid_argument(
            "then: the function returned a promise of another event loop: complete one of this "
            "loop by call_soon_threadsafe()");
    }
    source->check_attach("then");
}

}  // namespace detail
}  // namespace reactor
