// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_STORED_HPP
#define REACTOR_DETAIL_STORED_HPP

#include <cstddef>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace reactor {
namespace detail {

/// How many bytes of callable and bound arguments are kept in place; a bigger one costs one
/// allocation. 48 is a Scope's link (16) beside a std::function (32), or six pointers.
constexpr std::size_t callable_capacity = 48;

/// Up to so many bytes there is room in a node of one cache line: an object and one more pointer.
constexpr std::size_t small_callable = 16;

template <class B>
using FitsInPlace = std::integral_constant<bool, (sizeof(B) <= callable_capacity &&
                                                  alignof(B) <= alignof(std::max_align_t))>;

/// What can be done with a callable of which only the storage is known.
struct CallableOps {
    void (*invoke)(void* storage);
    void (*destroy)(void* storage);      // null: nothing to destroy
    void (*move)(void* to, void* from);  // and destroys `from`; null: it may not be moved
    std::size_t size;                    // of what lies in the storage
    const char* name;                    // of its type, as the compiler prints it
};

template <class F>
constexpr const char* callable_name() noexcept {
#if defined(__GNUC__)
    return __PRETTY_FUNCTION__;
#else
    return "callable";
#endif
}

/// What the user wrote in what callable_name() gives: without the library's own wrappers. Any other
/// text as it is; empty for null.
std::string callable_text(const char* pretty_function);

/// How a callable of type B lies in a storage: itself, or behind a pointer.
template <class B, bool in_place = FitsInPlace<B>::value>
struct Stored {
    static constexpr std::size_t size = sizeof(B);

    static B& get(void* storage) noexcept { return *static_cast<B*>(storage); }
    static void invoke(void* storage) { get(storage)(); }
    static void destroy(void* storage) { get(storage).~B(); }
    static void move(void* to, void* from) {
        ::new (to) B(std::move(get(from)));
        get(from).~B();
    }
    template <class... A>
    static const CallableOps* make(void* storage, A&&... a) {
        ::new (storage) B(std::forward<A>(a)...);
        // A constant: with anything less each registration would ask whether it has been made.
        static constexpr CallableOps ops = {
            &invoke, std::is_trivially_destructible<B>::value ? nullptr : &destroy,
            mover(std::is_nothrow_move_constructible<B>()), sizeof(B), callable_name<B>()};
        return &ops;
    }

private:
    using Mover = void (*)(void*, void*);
    static constexpr Mover mover(std::true_type) { return &move; }
    static constexpr Mover mover(std::false_type) { return nullptr; }
};

template <class B>
struct Stored<B, false> {
    static constexpr std::size_t size = sizeof(B*);

    static B*& pointer(void* storage) noexcept { return *static_cast<B**>(storage); }
    static B& get(void* storage) noexcept { return *pointer(storage); }
    static void invoke(void* storage) { get(storage)(); }
    static void destroy(void* storage) { delete pointer(storage); }
    static void move(void* to, void* from) { ::new (to) B*(pointer(from)); }
    template <class... A>
    static const CallableOps* make(void* storage, A&&... a) {
        ::new (storage) B*(new B(std::forward<A>(a)...));
        static constexpr CallableOps ops = {&invoke, &destroy, &move, sizeof(B*),
                                            callable_name<B>()};
        return &ops;
    }
};

}  // namespace detail
}  // namespace reactor

#endif
