// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CONTEXT_HPP
#define REACTOR_CONTEXT_HPP

#include <reactor/detail/context_map.hpp>
#include <reactor/detail/invoke.hpp>
#include <reactor/error.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace reactor {

template <class T>
class ContextVar;

/// A set of context variables and their values, which a Handle runs in. A counted reference: copies
/// name the same context, copy() makes a new one. Belongs to one thread (counted without atomics);
/// a post to another thread carries a copy of the values. Python: contextvars.Context.
class Context {
public:
    /// A new, empty context.
    Context() : cell_(new detail::ContextCell) {}

    /// A new context with the same values; later changes of one do not show in the other.
    Context copy() const { return Context(cell_->map); }

    /// Calls f(arguments…) with this as the thread's current context, and returns what it returns;
    /// what f sets stays in this context, also when it throws. Throws StateError if the context is
    /// already entered. Python: Context.run.
    template <class F, class... A>
    detail::InvokeResult<F, A...> run(F&& f, A&&... arguments) {
        const detail::ContextEntry entry(*cell_);
        return detail::invoke(std::forward<F>(f), std::forward<A>(arguments)...);
    }

    /// The value of `variable` in this context, null if it has none: defaults do not count.
    template <class T>
    const T* get(const ContextVar<T>& variable) const {
        return variable.find(cell_->map.get());
    }
    template <class T>
    bool contains(const ContextVar<T>& variable) const {
        return get(variable) != nullptr;
    }
    /// How many variables have a value here.
    std::size_t size() const noexcept { return cell_->map ? cell_->map->size() : 0; }

    friend bool operator==(const Context& a, const Context& b) noexcept {
        return a.cell_ == b.cell_;
    }
    friend bool operator!=(const Context& a, const Context& b) noexcept { return !(a == b); }

private:
    friend Context copy_context();
    friend class Options;
    explicit Context(detail::ContextMapPtr map) : cell_(new detail::ContextCell(std::move(map))) {}

    detail::ContextCellPtr cell_;
};

/// A copy of the calling thread's current context. Python: contextvars.copy_context.
inline Context copy_context() { return Context(detail::current_context().map); }

/// A variable whose value belongs to the current context instead of the thread: what a callback
/// sets is seen by the callbacks it schedules and by nobody else. Usually a namespace-scope object;
/// any thread may use it, each sees its own context's value. T must be copyable (a post to another
/// thread copies the values). Python: contextvars.ContextVar.
template <class T>
class ContextVar {
public:
    class Token;

    /// `name` is for messages.
    explicit ContextVar(std::string name) : name_(std::move(name)), id_(detail::new_context_id()) {}
    ContextVar(std::string name, T default_value)
        : name_(std::move(name)),
          id_(detail::new_context_id()),
          default_(new T(std::move(default_value))) {}

    ContextVar(const ContextVar&) = delete;
    ContextVar& operator=(const ContextVar&) = delete;

    const std::string& name() const noexcept { return name_; }

    /// The value in the current context, else the default, else LookupError. The reference is good
    /// until the variable is set or the context changes.
    const T& get() const {
        if (const T* value = find(detail::current_context().map.get())) return *value;
        if (default_) return *default_;
        throw LookupError("context variable " + name_ +
                          " has no value here and no default: set() it, or give get() a fallback");
    }

    /// The value in the current context, else `fallback`, which wins over the default.
    T get(T fallback) const {
        const T* value = find(detail::current_context().map.get());
        return value ? *value : std::move(fallback);
    }

    /// Gives it a value in the current context; the token undoes that.
    Token set(T value) {
        detail::ContextMapPtr& map = detail::current_context().map;
        Token before(id_, map ? map->find(id_) : nullptr);
        detail::set_context_value(map, id_, detail::ContextValuePtr(new Value(std::move(value))));
        return before;
    }

    /// Back to what it was before the set() that gave the token: a value, or none. Throws
    /// std::invalid_argument for another variable's token, StateError for one used before.
    void reset(Token& token) {
        if (token.id_ != id_) {
            throw std::invalid_argument("context variable " + name_ +
                                        ": the token belongs to another variable");
        }
        if (token.used_) throw StateError("context variable " + name_ + ": the token was used");
        token.used_ = true;
        detail::set_context_value(detail::current_context().map, id_, std::move(token.old_));
    }
    void reset(Token&& token) { reset(token); }

    /// Undoes one set(). Belongs to the thread that made it.
    class Token {
    public:
        /// Whether the variable had a value before.
        bool had_value() const noexcept { return old_ != nullptr; }

    private:
        friend class ContextVar;
        Token(std::uint64_t id, detail::ContextValuePtr old) : id_(id), old_(std::move(old)) {}

        std::uint64_t id_;
        detail::ContextValuePtr old_;
        bool used_ = false;
    };

private:
    friend class Context;

    struct Value final : detail::ContextValue {
        explicit Value(T v) : value(std::move(v)) {}
        detail::ContextValue* clone() const override { return new Value(value); }
        T value;
    };

    const T* find(const detail::ContextMap* map) const noexcept {
        const detail::ContextValue* value = map ? map->find(id_).get() : nullptr;
        return value ? &static_cast<const Value*>(value)->value : nullptr;
    }

    std::string name_;
    std::uint64_t id_;
    std::unique_ptr<T> default_;
};

}  // namespace reactor

#endif
