// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CALLBACK_HPP
#define REACTOR_CALLBACK_HPP

#include <reactor/detail/invoke.hpp>
#include <reactor/detail/stored.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace reactor {

/// A move-only callable without arguments or result, kept in place up to 48 bytes: what is handed
/// from one thread to another, or stored to be called later. A value: its owner is who holds it;
/// it may be made on one thread and called and destroyed on another.
class Callback {
public:
    Callback() noexcept = default;

    /// A callable and its arguments, bound as std::thread binds them (decayed copies, std::ref,
    /// member functions, move-only arguments); the call moves them out, so it is made once.
    /// Throws std::invalid_argument for a null function pointer or an empty std::function.
    template <class F, class... A,
              class = typename std::enable_if<
                  !std::is_same<typename std::decay<F>::type, Callback>::value>::type>
    explicit Callback(F&& f, A&&... arguments) {
        detail::refuse_null(f, "Callback");
        using B = detail::BindOnce<F, A...>;
        // In place only if it can be moved without throwing: moving a Callback never throws.
        constexpr bool in_place =
            detail::FitsInPlace<B>::value && std::is_nothrow_move_constructible<B>::value;
        ops_ = detail::Stored<B, in_place>::make(storage_, std::forward<F>(f),
                                                 std::forward<A>(arguments)...);
    }

    Callback(Callback&& other) noexcept { take(other); }
    Callback& operator=(Callback&& other) noexcept {
        if (this != &other) {
            reset();
            take(other);
        }
        return *this;
    }
    ~Callback() { reset(); }

    explicit operator bool() const noexcept { return ops_ != nullptr; }

    /// Calls it; what it throws comes out. Undefined when empty.
    void operator()() { ops_->invoke(storage_); }

    /// Destroys the callable and what it captured; empty afterwards.
    void reset() noexcept {
        if (const detail::CallableOps* was = ops_) {
            ops_ = nullptr;
            if (was->destroy) was->destroy(storage_);
        }
    }

    /// The type of what it calls, as the compiler prints it, for messages; empty when empty.
    std::string name() const;

    /// The bytes that the callable takes in a storage; 0 when empty. For the library's own queues.
    std::size_t size() const noexcept { return ops_ ? ops_->size : 0; }
    /// Moves the callable to `storage`, of at least size() bytes and aligned for anything; empty
    /// afterwards. For the same.
    const detail::CallableOps* move_to(void* storage) noexcept {
        const detail::CallableOps* const was = ops_;
        ops_ = nullptr;
        if (was) was->move(storage, storage_);
        return was;
    }

private:
    void take(Callback& other) noexcept { ops_ = other.move_to(storage_); }

    const detail::CallableOps* ops_ = nullptr;
    alignas(std::max_align_t) unsigned char storage_[detail::callable_capacity];
};

}  // namespace reactor

#endif
