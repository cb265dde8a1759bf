// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_CONTEXT_MAP_HPP
#define REACTOR_DETAIL_CONTEXT_MAP_HPP

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace reactor {
namespace detail {

/// A counted reference without atomics: what it counts never leaves its thread.
template <class T>
class Counted {
public:
    Counted() noexcept = default;
    Counted(std::nullptr_t) noexcept {}
    explicit Counted(T* object) noexcept : object_(object) { acquire(); }
    Counted(const Counted& other) noexcept : object_(other.object_) { acquire(); }
    Counted(Counted&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
    Counted& operator=(Counted other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Counted() {
        if (object_ && --object_->references == 0) delete object_;
    }

    T* get() const noexcept { return object_; }
    T& operator*() const noexcept { return *object_; }
    T* operator->() const noexcept { return object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }

    /// Gives the count away, to be given back to adopt(): for a raw pointer in a node.
    T* release() noexcept {
        T* object = object_;
        object_ = nullptr;
        return object;
    }
    static Counted adopt(T* object) noexcept {
        Counted counted;
        counted.object_ = object;
        return counted;
    }

    friend bool operator==(const Counted& a, const Counted& b) noexcept {
        return a.object_ == b.object_;
    }
    friend bool operator!=(const Counted& a, const Counted& b) noexcept { return !(a == b); }

private:
    void acquire() noexcept {
        if (object_) ++object_->references;
    }

    T* object_ = nullptr;
};

struct ContextValue {
    ContextValue() = default;
    ContextValue(const ContextValue&) = delete;
    ContextValue& operator=(const ContextValue&) = delete;
    virtual ~ContextValue();
    virtual ContextValue* clone() const = 0;

    std::uint32_t references = 0;
};
using ContextValuePtr = Counted<ContextValue>;

/// The values of a context, by variable. Shared by all who hold the same values and copied when one
/// of them changes: scheduling a callback costs a count, not a copy.
class ContextMap {
public:
    /// Null if the variable has no value here.
    ContextValuePtr find(std::uint64_t id) const noexcept;
    std::size_t size() const noexcept { return entries_.size(); }

    std::uint32_t references = 0;

private:
    friend void set_context_value(Counted<ContextMap>&, std::uint64_t, ContextValuePtr);
    friend Counted<ContextMap> clone_for_other_thread(const Counted<ContextMap>&);

    // Programs have a handful of variables: a short vector is searched faster than any tree.
    std::vector<std::pair<std::uint64_t, ContextValuePtr>> entries_;
};
using ContextMapPtr = Counted<ContextMap>;

/// Sets (or, with a null value, removes) a variable in `map`, which is copied first if shared.
/// A map without variables is a null map, so that nobody pays for contexts nobody uses.
void set_context_value(ContextMapPtr& map, std::uint64_t id, ContextValuePtr value);

/// Copies of all values, for another thread: shares no count with `map`.
ContextMapPtr clone_for_other_thread(const ContextMapPtr& map);

/// A place that holds a context: a Context's own, or one on the stack around a callback.
struct ContextCell {
    ContextCell() noexcept = default;
    explicit ContextCell(ContextMapPtr m) noexcept : map(std::move(m)) {}

    std::uint32_t references = 0;
    bool entered = false;
    ContextMapPtr map;
};
using ContextCellPtr = Counted<ContextCell>;

/// The calling thread's pointer to its current cell. A function in a source file, since gcc 12's
/// UBSan misreports an `extern thread_local` that a header shows.
ContextCell*& current_context_slot() noexcept;
inline ContextCell& current_context() noexcept { return *current_context_slot(); }

/// Makes a cell current for a while; throws StateError if it already is.
class ContextEntry {
public:
    explicit ContextEntry(ContextCell& cell);
    ~ContextEntry();
    ContextEntry(const ContextEntry&) = delete;
    ContextEntry& operator=(const ContextEntry&) = delete;

private:
    ContextCellPtr cell_;
    ContextCell* before_;
};

/// A number that no other variable of the process has.
std::uint64_t new_context_id() noexcept;

}  // namespace detail
}  // namespace reactor

#endif
