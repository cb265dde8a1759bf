// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TESTING_SELECTOR_HPP
#define REACTOR_TESTING_SELECTOR_HPP

#include <reactor/selector.hpp>
#include <reactor/testing_clock.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace reactor {
namespace testing {

/// Descriptors that a test has made up, such as those of a network in memory: no kernel knows what
/// becomes of them, and all of it happens in virtual time. Owned by whoever gives them to a
/// VirtualSelector, used on its loop's thread. Their numbers are those of real descriptors, which
/// stand for them and keep others from having the same.
class VirtualDescriptors {
public:
    struct Watch {
        int fd;
        unsigned interest;
        std::uint64_t token;
    };

    virtual bool owns(int fd) const noexcept = 0;
    /// Lets happen what is due by `now`, then adds an event for each of `watched` (in the order of
    /// their numbers) that is ready. The same run has to give the same events in the same order.
    virtual void look(TimePoint now, const std::vector<Watch>& watched,
                      std::vector<SelectorEvent>& ready) = 0;
    /// When something is to happen next; never() if nothing is.
    virtual TimePoint next_change() const noexcept = 0;

protected:
    VirtualDescriptors() = default;
    VirtualDescriptors(const VirtualDescriptors&) = default;
    VirtualDescriptors& operator=(const VirtualDescriptors&) = default;
    ~VirtualDescriptors() = default;
};

/// A selector that watches real descriptors through another one, and lets virtual time pass instead
/// of sleeping: when nothing is ready it moves the clock by the time-out, or to what happens before
/// that to virtual descriptors. Owned by its loop, used on the loop's thread.
class VirtualSelector : public Selector {
public:
    /// `clock` is the loop's, and outlives it.
    VirtualSelector(std::unique_ptr<Selector> watching, VirtualClock& clock);

    const char* name() const noexcept override;
    void add(int fd, unsigned interest, std::uint64_t token) override;
    void modify(int fd, unsigned interest, std::uint64_t token) override;
    void remove(int fd) noexcept override;
    void reset() override;
    int fd() const noexcept override;

    /// Looks without blocking. Throws StateError for a wait without limit in which nothing is
    /// ready: a broken test ends with a sentence instead of hanging.
    void wait(Duration timeout, std::vector<SelectorEvent>& ready) override;

    /// For tests in which another thread or process has work to do: how long, in real time, a wait
    /// in which nothing is ready may last before virtual time passes, or the test is broken.
    /// Default: zero. It does not hold up what is to happen to virtual descriptors.
    void set_patience(Duration real_time) noexcept { patience_ = real_time; }
    Duration patience() const noexcept { return patience_; }

    /// Watches these, too, from the next add() on; null: none any more. Throws StateError if there
    /// are others already.
    void set_virtual_descriptors(VirtualDescriptors* descriptors);

    /// How many waits there were, and how many events the last one found.
    std::size_t waits() const noexcept { return waits_; }
    std::size_t last_found() const noexcept { return last_found_; }

private:
    using Watches = std::vector<VirtualDescriptors::Watch>;

    Watches::iterator place(int fd) noexcept;
    bool is_virtual(int fd) const noexcept { return virtual_ && virtual_->owns(fd); }
    bool watches_virtually(int fd) noexcept;
    void look(std::vector<SelectorEvent>& ready);
    bool find(Duration timeout, std::vector<SelectorEvent>& ready);

    std::unique_ptr<Selector> watching_;
    VirtualClock& clock_;
    VirtualDescriptors* virtual_ = nullptr;
    Watches watched_;  // of virtual_, by number
    Duration patience_ = Duration::zero();
    std::size_t waits_ = 0;
    std::size_t last_found_ = 0;
};

/// A selector that asks no kernel: each wait finds what the test has written down for it, and what
/// it is told and asked is recorded. Owned by its loop; the test keeps a reference.
class ScriptedSelector : public Selector {
public:
    struct Change {
        enum Kind { added, modified, removed };

        Kind kind;
        int fd;
        unsigned interest;  ///< 0 where removed

        friend bool operator==(const Change& a, const Change& b) noexcept {
            return a.kind == b.kind && a.fd == b.fd && a.interest == b.interest;
        }
    };
    using Ready = std::vector<std::pair<int, unsigned>>;  ///< descriptors and their ready bits

    /// A wait that finds nothing moves `clock`, the loop's, by its time-out.
    explicit ScriptedSelector(VirtualClock& clock) : clock_(clock) {}

    /// The next wait without a line of its own finds these. A descriptor that was removed meanwhile
    /// is reported with the token it had: a stale event.
    void play(Ready found);
    /// The next wait without a line of its own throws std::system_error with this errno.
    void play_error(int error);
    /// The next add() or modify() throws it.
    void refuse_next_change(int error) noexcept { refusal_ = error; }

    const std::vector<Duration>& timeouts() const noexcept { return timeouts_; }
    const std::vector<Change>& changes() const noexcept { return changes_; }

    const char* name() const noexcept override;
    void add(int fd, unsigned interest, std::uint64_t token) override;
    void modify(int fd, unsigned interest, std::uint64_t token) override;
    void remove(int fd) noexcept override;
    void reset() override;
    /// Throws StateError for a wait without limit that nothing was written down for.
    void wait(Duration timeout, std::vector<SelectorEvent>& ready) override;

private:
    struct Line {
        Ready ready;
        int error;
    };

    void change(Change::Kind kind, int fd, unsigned interest, std::uint64_t token);

    VirtualClock& clock_;
    std::map<int, std::uint64_t> tokens_;
    std::deque<Line> lines_;
    std::vector<Duration> timeouts_;
    std::vector<Change> changes_;
    int refusal_ = 0;
};

}  // namespace testing
}  // namespace reactor

#endif
