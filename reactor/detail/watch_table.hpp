// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_WATCH_TABLE_HPP
#define REACTOR_DETAIL_WATCH_TABLE_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/descriptor_holder.hpp>
#include <reactor/detail/loop_core.hpp>
#include <reactor/detail/node.hpp>
#include <reactor/detail/node_list.hpp>
#include <reactor/selector.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace reactor {

class Options;

namespace detail {

/// Who waits for which descriptor, and what the selector has been told of it. Owned by the loop,
/// used on its thread.
///
/// Wanted and registered interest are kept apart: changes reach the selector as their net effect,
/// in flush(), just before the wait. Not so the first registration: the call throws what the system
/// says. Nor the last removal from a descriptor that the loop's user does not own: a number that is
/// closed and reused must not fold to nothing. For an owned one a read interest that is no longer
/// wanted stays registered until a few events have shown that it costs something.
///
/// A registration has a generation, which its events carry: an event that was under way for an
/// earlier owner of the same number reaches nobody.
class WatchTable {
public:
    WatchTable(LoopCore& core, std::unique_ptr<Selector> selector, int wakeup_fd);
    WatchTable(const WatchTable&) = delete;
    WatchTable& operator=(const WatchTable&) = delete;
    ~WatchTable();

    /// Registers a node (reader, writer or urgent) with a reference of its own; replaces, and
    /// cancels, the one of that kind. `options` may be null. Strong guarantee.
    void add(const char* call, int fd, Node* node, const Options* options);
    /// Cancels the node of that kind; whether there was one.
    bool remove(int fd, NodeKind kind) noexcept;
    /// A node was cancelled, or its owner pauses: takes it out if it is still the registered one.
    /// An interest that is not to come back, `for_good`, does not linger.
    void forget(Node& node, bool for_good = false) noexcept;
    /// Cancels all nodes of a descriptor and deregisters it at once; whether there was any.
    bool forget_all(int fd) noexcept;

    /// Who else may watch a descriptor that somebody holds. `exclusive`: nobody; for the loop's
    /// users require_free() throws StateError. `listed`: the same, and the holder is found by the
    /// number as long as he has it, after the loop's end too.
    enum class Hold : unsigned char { shared, exclusive, listed };
    /// A new holder begins with a number that nobody watches: whoever has had it before has lost
    /// it, and its holder knows so when this returns. Throws std::system_error for a number that is
    /// not open, if it is larger than all before.
    void hold(const char* call, int fd, DescriptorHolder& holder, Hold how);
    /// Others may watch it now. No effect by anybody but its holder.
    void share(int fd, const DescriptorHolder& holder) noexcept;
    /// The same, and holds it no more. He has nothing to be told then either.
    void let_go(int fd, const DescriptorHolder& holder) noexcept;
    /// Who is listed with that number; null if nobody is.
    DescriptorHolder* listed(int fd) const noexcept {
        const auto index = static_cast<std::size_t>(fd);
        return fd >= 0 && index < watches_.size() && watches_[index].listed ? watches_[index].holder
                                                                            : nullptr;
    }
    /// Calls visit(DescriptorHolder&) for each who is; what it calls may change that.
    template <class F>
    void for_each_listed(F visit) const {
        for (std::size_t i = 0; i < watches_.size(); ++i) {
            if (watches_[i].listed) visit(*watches_[i].holder);
        }
    }
    bool reserved(int fd) const noexcept {
        return fd >= 0 && static_cast<std::size_t>(fd) < watches_.size() &&
               watches_[static_cast<std::size_t>(fd)].exclusive;
    }
    void require_free(const char* call, int fd) const {
        if (reserved(fd)) refuse_reserved(call, fd);
    }

    /// Whether the callbacks of this descriptor are dropped just now because it is lost.
    bool losing(int fd) const noexcept { return fd == lost_; }
    /// While it is: what the selector has refused, as an errno. The descriptor is still its owner's
    /// then; 0: it was closed behind our back.
    int refusal() const noexcept { return refusal_; }

    /// Tells the selector what has changed since the last wait.
    void flush() {
        if (deaf_) watch_wakeup();
        if (!displaced_.empty()) tell_displaced();
        if (!dirty_.empty()) tell_changes();
    }
    /// Whether a report that flush() has made left something for the next one: not to sleep on.
    bool has_changes() const noexcept { return !dirty_.empty() || !displaced_.empty(); }
    /// Waits for something to be ready.
    void wait(Duration timeout) {
        selector_->wait(deaf_ && timeout > deaf_wait ? deaf_wait : timeout, events_);
    }
    /// Whether the wait found something.
    bool found_any() const noexcept { return !events_.empty(); }
    /// Queues the callbacks of what the wait found. True if the loop's wake-up was among it.
    bool dispatch();
    /// The loop's wake-up has a new descriptor: registers everything anew. -1: it has none.
    void replace_wakeup(int fd) noexcept;

    /// Drops all nodes and closes the selector; nothing is watched any more, and the table has but
    /// those who are listed.
    void close() noexcept;

    std::size_t count() const noexcept { return count_; }
    const char* selector_name() const noexcept { return name_; }

    /// Where and when a callback was registered, as far as that is known.
    struct Origin {
        const char* file = "";
        unsigned line = 0;         // 0: not known
        TimePoint time = never();  // never(): not known
    };

    /// Calls visit(fd, const Node&, const Origin&) for each registered callback.
    template <class F>
    void for_each(F visit) const {
        for (std::size_t fd = 0; fd < watches_.size(); ++fd) {
            for (unsigned i = 0; i < slots; ++i) {
                const Node* const node = node_at(fd, i);
                if (node) visit(static_cast<int>(fd), *node, origin(fd, i));
            }
        }
    }

private:
    // How often a loop that cannot watch its wake-up tries again, and looks for posts.
    static constexpr Duration deaf_wait = std::chrono::seconds(1);

    // By kind of node.
    enum : unsigned { reader_slot, writer_slot, urgent_slot, slots };

    // What there is of each descriptor up to the largest one, so what every idle connection costs:
    // 24 bytes.
    struct Watch {
        Node* reader = nullptr;
        DescriptorHolder* holder = nullptr;
        std::uint32_t generation = 0;
        std::uint8_t registered = 0;
        std::uint8_t wanted = 0;  // the bits of the nodes that are there
        std::uint8_t vain = 0;    // events for a lingering interest since it was wanted last
        bool exclusive : 1;       // only `holder` may watch it
        bool listed : 1;          // `holder` is found here
        bool owned : 1;
        bool dirty : 1;       // in dirty_
        bool woke_stale : 1;  // a stale event came; a second one rebuilds the selector

        Watch() noexcept
            : exclusive(false), listed(false), owned(false), dirty(false), woke_stale(false) {}
        /// What should be registered: what is wanted, and what may linger.
        unsigned due() const noexcept;
    };
    static_assert(sizeof(void*) != 8 || sizeof(Watch) == 24, "each descriptor has one");

    /// A number's watches and holder, when it went to another one.
    struct Displaced {
        int fd;
        DescriptorHolder* holder;  // null: there is none, or he has let go since
        Node* nodes[slots];        // not those of an exclusive holder, who knows them
    };

    struct Origins {
        Origin of[slots];
    };

    Origin origin(std::size_t fd, unsigned slot) const noexcept {
        return fd < origins_.size() ? origins_[fd].of[slot] : Origin();
    }
    void note_origin(int fd, unsigned slot, const Options* options);

    Watch* find(int fd) noexcept;
    /// Few descriptors are waited for to be writable, and hardly any is urgent: those are kept
    /// apart, in tables as long as the largest of them.
    Node* node_at(std::size_t fd, unsigned slot) const noexcept {
        if (slot == reader_slot) return watches_[fd].reader;
        const std::vector<Node*>& others = others_[slot - 1];
        return fd < others.size() ? others[fd] : nullptr;
    }
    /// Puts it there, or null; for a node that is no reader there is room already.
    void put(int fd, Watch& watch, unsigned slot, Node* node) noexcept;
    std::uint64_t token(int fd, const Watch& watch) const noexcept;
    void mark_dirty(int fd, Watch& watch) noexcept;
    void interest_lost(int fd, Watch& watch) noexcept;
    void deregister(int fd, Watch& watch) noexcept;
    void tell_changes();
    void update(int fd);
    void queue(Node* node) noexcept {
        if (node->is(NodeFlag::queued)) return;
        node->set(NodeFlag::queued);
        node->add_reference();
        core_.push(node);
    }
    void dispatch(const SelectorEvent& event);
    void stale_event(int fd);
    void displace(int fd, Watch& watch);
    void tell_displaced();
    void tell(const Displaced& loser) noexcept;
    void report_lost(int fd, const char* why, bool closed) noexcept;
    void lost_descriptor(int fd, const char* why, int code) noexcept;
    void rebuild() noexcept;
    void watch_wakeup() noexcept;
    void report_failure(const char* text) noexcept;
    void grow(const char* call, int fd);
    [[noreturn]] static void refuse_reserved(const char* call, int fd);

    LoopCore& core_;
    std::unique_ptr<Selector> selector_;
    const char* name_;
    int wakeup_fd_;
    std::vector<Watch> watches_;            // by descriptor
    std::vector<Node*> others_[slots - 1];  // the same: writers, urgent readers
    // Beside the table, which every event goes through, and empty unless there is something to
    // tell.
    std::vector<Origins> origins_;
    std::vector<int> dirty_;            // what is to be told to the selector; never without room
    std::vector<int> flushing_;         // the same, being told
    std::vector<Displaced> displaced_;  // whom flush() has yet to tell
    std::vector<SelectorEvent> events_;
    std::size_t count_ = 0;
    int lost_ = -1;
    int refusal_ = 0;
    bool told_ = false;     // that the selector cannot be rebuilt: the next event tries again
    bool deaf_ = false;     // the selector does not watch the wake-up
    bool unnoted_ = false;  // not all that are marked dirty are in dirty_: there was no memory
    long process_;          // whose registrations these are: a forked child must not take them out
};

}  // namespace detail
}  // namespace reactor

#endif
