// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_CONTINUATION_HPP
#define REACTOR_DETAIL_CONTINUATION_HPP

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace reactor {
namespace detail {

struct Delivery;
struct TaskCore;

/// The state that a task goes on with, and its catch clauses, until the promise is done. A member
/// of the task, filled by each await(): a step allocates nothing. 64 bytes are a state and three
/// clauses as pointers to member functions, or a lambda with eight captured pointers.
class Continuation {
public:
    static constexpr std::size_t capacity = 64;
    template <class K>
    using Fits = std::integral_constant<bool, sizeof(K) <= capacity &&
                                                  alignof(K) <= alignof(std::max_align_t)>;

    Continuation() noexcept = default;
    Continuation(const Continuation&) = delete;
    Continuation& operator=(const Continuation&) = delete;
    ~Continuation() { clear(); }

    template <class K, class... A>
    void put(A&&... arguments) {
        static_assert(
            Fits<K>::value,
            "await: the states and clauses are too big to be kept in the task (64 bytes): "
            "name member functions, or capture less");
        clear();
        ::new (static_cast<void*>(storage_)) K(std::forward<A>(arguments)...);
        static const Operations operations = {&resume_as<K>, &destroy_as<K>};
        operations_ = &operations;
    }

    explicit operator bool() const noexcept { return operations_ != nullptr; }

    /// Calls what was put, which is moved out before: the state it runs puts the next one here.
    void resume(TaskCore& task, Delivery& delivery) { operations_->resume(*this, task, delivery); }

    void clear() noexcept {
        if (const Operations* was = operations_) {
            operations_ = nullptr;
            was->destroy(storage_);
        }
    }

private:
    struct Operations {
        void (*resume)(Continuation&, TaskCore&, Delivery&);
        void (*destroy)(void*);
    };

    template <class K>
    static void resume_as(Continuation& self, TaskCore& task, Delivery& delivery) {
        K& kept = *static_cast<K*>(static_cast<void*>(self.storage_));
        K mine(std::move(kept));
        self.operations_ = nullptr;
        kept.~K();
        mine(task, delivery);
    }
    template <class K>
    static void destroy_as(void* storage) {
        static_cast<K*>(storage)->~K();
    }

    const Operations* operations_ = nullptr;
    alignas(std::max_align_t) unsigned char storage_[capacity];
};

}  // namespace detail
}  // namespace reactor

#endif
