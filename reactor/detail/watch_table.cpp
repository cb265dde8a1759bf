// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/watch_table.hpp>
#include <reactor/error.hpp>
#include <reactor/handle.hpp>
#include <reactor/report.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace reactor {
namespace detail {

namespace {

constexpr std::uint64_t wakeup_token = ~std::uint64_t(0);

unsigned index_of(NodeKind kind) noexcept {
    return kind == NodeKind::reader ? 0 : kind == NodeKind::writer ? 1 : 2;
}

constexpr unsigned bits[3] = {Interest::read, Interest::write, Interest::urgent};

// What of an owned descriptor stays registered without being wanted. Readers pause between two
// messages; a writer that pauses would be told at once that there is room.
constexpr unsigned lingering = Interest::read;

// So often an interest may fire that nobody wants before it is taken out. To take it out and put it
// back costs two system calls. A chain of promises that reads, answers and reads again is back
// after about three iterations; of whoever pauses for longer, four wake-ups are all it costs.
constexpr std::uint8_t vain_limit = 4;

// So many changes between two waits need no memory, nor do so many as there have been before.
constexpr std::size_t usual_changes = 16;

/// Makes a table that is as long as the largest number long enough for `fd`. By an eighth more,
/// since most of what a large one has beyond its need is never used: over a loop's life each entry
/// is moved nine times at most. std::vector would double.
template <class T>
void lengthen(std::vector<T>& table, int fd) {
    const std::size_t size = static_cast<std::size_t>(fd) + 1;
    if (size <= table.size()) return;
    const std::size_t roomy = size + size / 8 + 8;
    table.reserve(roomy);
    table.resize(roomy);
}

}  // namespace

unsigned WatchTable::Watch::due() const noexcept {
    return wanted | (owned && vain < vain_limit ? registered & lingering : 0u);
}

namespace {

/// What a selector refuses, with the name of the user's call and without a second copy of what the
/// code says.
[[noreturn]] void refuse(const char* call, int fd, const std::system_error& why) {
    if (why.code() == std::errc::bad_file_descriptor) {
        throw std::system_error(why.code(), std::string(call) + ": descriptor " +
                                                std::to_string(fd) +
                                                " is not open: give the number of an open one");
    }
    std::string text = why.what();
    const std::string tail = ": " + why.code().message();
    const std::size_t rest = text.size() - std::min(text.size(), tail.size());
    if (text.compare(rest, std::string::npos, tail) == 0) text.resize(rest);
    throw std::system_error(why.code(), std::string(call) + ": " + text);
}

/// What a selector says of a number that was closed, and perhaps opened again for another file.
bool tells_of_closing(int code) noexcept {
    return code == EBADF || code == ENOENT || code == EPERM || code == EEXIST;
}

std::unique_ptr<Selector> not_null(std::unique_ptr<Selector> selector) {
    if (selector) return selector;
    throw std::invalid_argument("EventLoop: the selector is null: give one, or use the default");
}

}  // namespace

constexpr Duration WatchTable::deaf_wait;

WatchTable::WatchTable(LoopCore& core, std::unique_ptr<Selector> selector, int wakeup_fd)
    : core_(core),
      selector_(not_null(std::move(selector))),
      name_(selector_->name()),
      wakeup_fd_(wakeup_fd),
      process_(::getpid()) {
    dirty_.reserve(usual_changes);
    flushing_.reserve(usual_changes);
    selector_->add(wakeup_fd, Interest::read, wakeup_token);
}

WatchTable::~WatchTable() = default;

WatchTable::Watch* WatchTable::find(int fd) noexcept {
    return fd >= 0 && static_cast<std::size_t>(fd) < watches_.size()
               ? &watches_[static_cast<std::size_t>(fd)]
               : nullptr;
}

std::uint64_t WatchTable::token(int fd, const Watch& watch) const noexcept {
    return static_cast<std::uint64_t>(watch.generation) << 32 | static_cast<unsigned>(fd);
}

void WatchTable::add(const char* call, int fd, Node* node, const Options* options) {
    if (fd < 0) {
        throw std::invalid_argument(std::string(call) + ": " + std::to_string(fd) +
                                    " is no descriptor: give the number of an open one");
    }
    if (!find(fd)) grow(call, fd);
    Watch& watch = *find(fd);
    const bool owned = options && options->owns_descriptor();
    const unsigned slot = index_of(node->kind());
    const unsigned bit = bits[slot];
    if (slot != reader_slot) lengthen(others_[slot - 1], fd);
    note_origin(fd, slot, options);
    if (!owned) {
        // A descriptor of somebody who does not own it, even if others do: nothing may linger of an
        // interest that was taken back, since nobody will say when the descriptor is closed.
        if (watch.registered != 0 && watch.wanted == 0) deregister(fd, watch);
        watch.owned = false;
    }
    if (watch.registered == 0) {
        ++watch.generation;
        watch.owned = owned;
        watch.woke_stale = false;
        try {
            selector_->add(fd, bit, token(fd, watch));
        } catch (const std::system_error& why) {
            refuse(call, fd, why);
        }
        watch.registered = static_cast<std::uint8_t>(bit);
    }
    if (bit & lingering) watch.vain = 0;
    if (!(watch.registered & bit)) mark_dirty(fd, watch);

    node->key = static_cast<std::uint32_t>(fd);
    node->set(NodeFlag::repeating);
    node->add_reference();
    Node* const before = node_at(static_cast<std::size_t>(fd), slot);
    put(fd, watch, slot, node);
    ++count_;
    if (before) {
        --count_;
        LoopCore::cancel(before);
        core_.release(before);
    }
    if (core_.measured) core_.watch_registered(*node);
}

void WatchTable::grow(const char* call, int fd) {
    // The table is as long as the largest number: one that is not open must not make it long.
    if (::fcntl(fd, F_GETFD) < 0) {
        refuse(call, fd, std::system_error(errno, std::system_category()));
    }
    lengthen(watches_, fd);
}

void WatchTable::put(int fd, Watch& watch, unsigned slot, Node* node) noexcept {
    (slot == reader_slot ? watch.reader : others_[slot - 1][static_cast<std::size_t>(fd)]) = node;
    const unsigned others = watch.wanted & ~bits[slot];
    watch.wanted = static_cast<std::uint8_t>(node ? others | bits[slot] : others);
}

void WatchTable::note_origin(int fd, unsigned slot, const Options* options) {
    const std::size_t index = static_cast<std::size_t>(fd);
    const bool known = core_.debug || (options && options->here().line() != 0);
    if (index >= origins_.size()) {
        if (!known) return;
        lengthen(origins_, fd);
    }
    Origin& origin = origins_[index].of[slot];
    origin = Origin();
    if (options) {
        origin.file = options->here().file();
        origin.line = options->here().line();
    }
    if (core_.debug) origin.time = core_.clock->now();
}

bool WatchTable::remove(int fd, NodeKind kind) noexcept {
    Watch* const watch = find(fd);
    Node* const node = watch ? node_at(static_cast<std::size_t>(fd), index_of(kind)) : nullptr;
    return node && LoopCore::cancel(node);
}

void WatchTable::hold(const char* call, int fd, DescriptorHolder& holder, Hold how) {
    if (!find(fd)) grow(call, fd);
    Watch& watch = *find(fd);
    if (watch.holder != &holder) {
        if (watch.holder || watch.registered != 0 || watch.wanted != 0) displace(fd, watch);
        watch.holder = &holder;
    }
    watch.exclusive = how != Hold::shared;
    watch.listed = how == Hold::listed;
}

void WatchTable::share(int fd, const DescriptorHolder& holder) noexcept {
    Watch* const watch = find(fd);
    if (watch && watch->holder == &holder) watch->exclusive = false;
}

void WatchTable::let_go(int fd, const DescriptorHolder& holder) noexcept {
    share(fd, holder);
    Watch* const watch = find(fd);
    if (watch && watch->holder == &holder) {
        watch->holder = nullptr;
        watch->listed = false;
    }
    for (Displaced& loser : displaced_) {
        if (loser.holder == &holder) loser.holder = nullptr;
    }
}

/// The number was closed behind the back of those who have it here, and who watch it no more. A
/// holder knows at once; he, and others whose watch it was, are told in flush(): what they do then
/// is not done inside of the new holder's call.
void WatchTable::displace(int fd, Watch& watch) {
    displaced_.reserve(displaced_.size() + 1);
    // What the selector was told of that file says nothing of the one that has the number now.
    if (watch.registered != 0) deregister(fd, watch);
    Displaced loser = {fd, watch.holder, {nullptr, nullptr, nullptr}};
    for (unsigned i = 0; i < slots; ++i) {
        Node* const node = node_at(static_cast<std::size_t>(fd), i);
        if (!node) continue;
        put(fd, watch, i, nullptr);
        --count_;
        if (watch.exclusive) {
            core_.release(node);  // he has another reference
        } else {
            loser.nodes[i] = node;
        }
    }
    watch.holder = nullptr;
    watch.listed = false;
    if (loser.holder || loser.nodes[0] || loser.nodes[1] || loser.nodes[2]) {
        displaced_.push_back(loser);
    }
    if (loser.holder) loser.holder->number_taken(fd);
}

void WatchTable::tell_displaced() {
    // Who loses a number while others are told, is told in the next iteration.
    for (std::size_t left = displaced_.size(); left != 0 && !displaced_.empty(); --left) {
        const Displaced loser = displaced_.front();
        displaced_.erase(displaced_.begin());
        tell(loser);
    }
}

void WatchTable::tell(const Displaced& loser) noexcept {
    bool told = loser.holder != nullptr;
    // Without `lost_`: what this calls may end a watch of the one who has the number now.
    if (loser.holder) loser.holder->number_lost(loser.fd);
    const int lost_before = lost_;
    const int refusal_before = refusal_;
    lost_ = loser.fd;
    refusal_ = 0;
    for (Node* const node : loser.nodes) {
        if (!node) continue;
        told |= LoopCore::cancel(node);  // not if its owner has ended it meanwhile
        core_.release(node);
    }
    lost_ = lost_before;
    refusal_ = refusal_before;
    if (!told) return;
    report_lost(loser.fd,
                loser.holder ? "its number is that of another file now"
                             : "a socket or transport of this loop has its number now",
                true);
}

void WatchTable::refuse_reserved(const char* call, int fd) {
    throw StateError(std::string(call) + ": descriptor " + std::to_string(fd) +
                     " belongs to a transport or a listening socket of this loop: use its methods");
}

void WatchTable::forget(Node& node, bool for_good) noexcept {
    const int fd = static_cast<int>(node.key);
    Watch* const watch = find(fd);
    const unsigned slot = index_of(node.kind());
    if (!watch || node_at(static_cast<std::size_t>(fd), slot) != &node) return;
    put(fd, *watch, slot, nullptr);
    --count_;
    if (for_good) watch->vain = vain_limit;
    interest_lost(fd, *watch);
    core_.release(&node);  // the caller holds another one
}

bool WatchTable::forget_all(int fd) noexcept {
    Watch* const watch = find(fd);
    if (!watch) return false;
    // Those that are there now: what goes with their captures may open another file, which gets the
    // number, and watch that.
    Node* nodes[slots];
    for (unsigned i = 0; i < slots; ++i) {
        nodes[i] = node_at(static_cast<std::size_t>(fd), i);
        if (nodes[i]) nodes[i]->add_reference();
    }
    bool any = false;
    for (Node* const node : nodes) {
        if (!node) continue;
        any |= LoopCore::cancel(node);
        core_.release(node);
    }
    // The captures' destructors may have registered anew: then it is watched again. Or they have
    // closed the loop.
    Watch* const now = find(fd);
    if (now && now->registered != 0 && now->wanted == 0) deregister(fd, *now);
    return any;
}

void WatchTable::interest_lost(int fd, Watch& watch) noexcept {
    if (watch.registered == 0) return;
    if (!watch.owned && watch.wanted == 0) {
        deregister(fd, watch);
        return;
    }
    // An owner who is between two reads wants the interest again in a moment: events that come
    // meanwhile will show that it must go.
    if (watch.registered & ~watch.due()) mark_dirty(fd, watch);
}

void WatchTable::deregister(int fd, Watch& watch) noexcept {
    watch.registered = 0;
    ++watch.generation;
    // In a forked child the epoll set is still the parent's: a removal here would be one there.
    if (::getpid() == process_) selector_->remove(fd);
}

void WatchTable::mark_dirty(int fd, Watch& watch) noexcept {
    if (watch.dirty) return;
    watch.dirty = true;
    try {
        dirty_.push_back(fd);
    } catch (...) {
        unnoted_ = true;  // and dirty_ is full, so flush() looks
    }
}

void WatchTable::tell_changes() {
    // update() may report, and the handler may change interests: those wait for the next flush.
    flushing_.swap(dirty_);
    for (std::size_t i = 0; i < flushing_.size(); ++i) {  // which may grow, and so move
        const int fd = flushing_[i];
        watches_[static_cast<std::size_t>(fd)].dirty = false;
        update(fd);
    }
    flushing_.clear();
    if (!unnoted_) return;
    unnoted_ = false;
    for (std::size_t i = 0; i < watches_.size(); ++i) {
        if (!watches_[i].dirty) continue;
        watches_[i].dirty = false;
        update(static_cast<int>(i));
    }
}

void WatchTable::update(int fd) {
    Watch& watch = watches_[static_cast<std::size_t>(fd)];
    const unsigned due = watch.due();
    if (due == watch.registered) return;
    if (due == 0) {
        deregister(fd, watch);
        return;
    }
    try {
        if (watch.registered != 0) {
            selector_->modify(fd, due, token(fd, watch));
        } else {
            selector_->add(fd, due, token(fd, watch));  // in a selector made anew
        }
        watch.registered = static_cast<std::uint8_t>(due);
    } catch (const std::system_error& error) {
        lost_descriptor(fd, error.what(), error.code().value());
    } catch (const std::exception& error) {
        lost_descriptor(fd, error.what(), ENOMEM);
    }
}

bool WatchTable::dispatch() {
    bool woken = false;
    // Only nodes are queued here; no user code runs but the handler of a report.
    for (const SelectorEvent& event : events_) {
        // The usual one first: a reader has something to read.
        const std::size_t fd = event.token & 0xffffffffu;
        if (event.ready == Interest::read && fd < watches_.size()) {
            const Watch& watch = watches_[fd];
            if (watch.generation == event.token >> 32 && watch.registered != 0 && watch.reader) {
                queue(watch.reader);
                continue;
            }
        }
        if (event.token == wakeup_token) {
            woken = true;
        } else {
            dispatch(event);
        }
    }
    events_.clear();
    return woken;
}

void WatchTable::dispatch(const SelectorEvent& event) {
    const int fd = static_cast<int>(event.token & 0xffffffffu);
    Watch* const watch = find(fd);
    if (!watch || watch->registered == 0 ||
        watch->generation != static_cast<std::uint32_t>(event.token >> 32)) {
        stale_event(fd);
        return;
    }
    if (event.ready & SelectorEvent::invalid) {
        lost_descriptor(fd, "it was closed", EBADF);
        return;
    }
    for (unsigned i = 0; i < slots; ++i) {
        if (event.ready & watch->wanted & bits[i]) queue(node_at(static_cast<std::size_t>(fd), i));
    }
    // Something fired that nobody waits for any more: its registration costs a wake-up.
    if (event.ready & watch->registered & ~watch->wanted) {
        if (watch->vain < vain_limit) ++watch->vain;
        if (watch->registered & ~watch->due()) mark_dirty(fd, *watch);
    }
}

void WatchTable::stale_event(int fd) {
    // One is the tail of a registration that has just gone. If it comes again, the kernel holds on
    // to it: the number was closed while a duplicate keeps the file open, and only a new epoll set
    // gets rid of it.
    Watch* const watch = find(fd);
    if (watch && !watch->woke_stale) {
        watch->woke_stale = true;
        return;
    }
    rebuild();
}

void WatchTable::lost_descriptor(int fd, const char* why, int code) noexcept {
    const bool closed = tells_of_closing(code);
    // Out of the selector first: an owner who is told may watch another file of the same number at
    // once, for which nothing may be taken as registered.
    Watch* const watch = find(fd);
    if (watch && watch->registered != 0) deregister(fd, *watch);
    const int lost_before = lost_;
    const int refusal_before = refusal_;
    lost_ = fd;
    refusal_ = closed ? 0 : code;
    forget_all(fd);
    lost_ = lost_before;
    refusal_ = refusal_before;
    report_lost(fd, why, closed);
}

void WatchTable::report_lost(int fd, const char* why, bool closed) noexcept {
    try {
        Report report("Descriptor " + std::to_string(fd) + " cannot be watched any more: " + why);
        report.details.emplace_back(
            "remedy", closed ? "call remove_reader() and remove_writer() before closing it or "
                               "giving it away"
                             : "watch fewer descriptors, or give the system more room for it");
        core_.report(report);
    } catch (...) {
        log_to_standard_error(LogLevel::error, why);  // out of memory
    }
}

void WatchTable::replace_wakeup(int fd) noexcept {
    // All of it, since the old number may be in the selector for somebody else's file by now.
    wakeup_fd_ = fd;
    rebuild();
}

void WatchTable::rebuild() noexcept {
    try {
        selector_->reset();
        told_ = false;
    } catch (...) {
        if (told_) return;  // without descriptors it fails at each event, and one report is enough
        told_ = true;
        report_failure(
            "A descriptor was closed while the loop watched it, and the selector cannot be rebuilt "
            "without it: the loop may spin");
        return;
    }
    // The new one knows of nobody. Noted for all before the first of them is told to it: who hears
    // that it refuses him may change any watch.
    for (std::size_t i = 0; i < watches_.size(); ++i) {
        Watch& watch = watches_[i];
        watch.woke_stale = false;
        if (watch.registered == 0) continue;
        watch.registered = 0;
        if (watch.wanted != 0) mark_dirty(static_cast<int>(i), watch);
    }
    watch_wakeup();
    tell_changes();
}

void WatchTable::watch_wakeup() noexcept {
    const bool was_deaf = deaf_;
    deaf_ = false;
    if (wakeup_fd_ < 0) return;
    try {
        selector_->add(wakeup_fd_, Interest::read, wakeup_token);
    } catch (...) {
        deaf_ = true;
        if (was_deaf) return;
        report_failure(
            "The loop's wake-up descriptor cannot be watched any more: what other threads post "
            "waits up to a second, until it can");
    }
}

/// Of what is being handled just now.
void WatchTable::report_failure(const char* text) noexcept {
    try {
        core_.report(Report(text, std::current_exception()));
    } catch (...) {
        log_to_standard_error(LogLevel::error, text);  // out of memory
    }
}

void WatchTable::close() noexcept {
    selector_.reset();
    dirty_.clear();
    unnoted_ = false;
    events_.clear();
    count_ = 0;
    std::vector<Displaced> displaced;
    displaced.swap(displaced_);
    // Out of the table first, without need of memory: what the captures' destructors ask for finds
    // that nothing is watched. The ready queue, which uses the same links, is empty by now.
    NodeList nodes;
    for (std::size_t fd = 0; fd < watches_.size(); ++fd) {
        for (unsigned slot = 0; slot < slots; ++slot) {
            if (Node* const node = node_at(fd, slot)) nodes.add(node);
        }
        Watch kept;
        if (watches_[fd].listed) {
            kept.holder = watches_[fd].holder;
            kept.listed = true;
        }
        watches_[fd] = kept;
    }
    for (std::vector<Node*>& table : others_) table.clear();
    const auto drop = [this](Node* node) {
        node->drop_callable();
        core_.release(node);
    };
    for (const Displaced& loser : displaced) {
        for (Node* const node : loser.nodes) {
            if (node) drop(node);
        }
    }
    while (Node* const node = nodes.first) {
        nodes.first = node->next;
        node->next = nullptr;
        drop(node);
    }
}

}  // namespace detail
}  // namespace reactor
