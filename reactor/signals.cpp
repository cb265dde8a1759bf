// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/descriptor_watch.hpp>
#include <reactor/detail/thread_mark.hpp>
#include <reactor/signals.hpp>
#include <reactor/wakeup.hpp>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace reactor {
namespace detail {

class SignalHandlers;

namespace {

using SimpleHandler = void (*)(int);
using InformedHandler = void (*)(int, ::siginfo_t*, void*);

/// All that a signal handler can see. This array is the one exception to "no process-wide state":
/// the system has one disposition for each signal number of the process, and a handler is told
/// nothing but that number. Only lock-free atomics are touched inside the signal.
struct Slot {
    std::atomic<SignalHandlers*> owner{nullptr};  // of the loop that has the signal
    std::atomic<Wakeup*> wakeup{nullptr};  // null: ours no more, what comes is passed on only
    std::atomic<bool> pending{false};
    std::atomic<unsigned> inside{0};  // how many threads may be using `wakeup` right now
    std::atomic<SimpleHandler> simple{nullptr};
    std::atomic<InformedHandler> informed{nullptr};
    std::atomic<const void*> passing_on{nullptr};  // the thread that is calling one of these two
    struct ::sigaction before {};                  // the owner's
};

// Constants, so that they are there before anything runs: code that set them up before main() would
// wipe out what another file's static object has installed by then.
Slot slots[NSIG];

static_assert(ATOMIC_POINTER_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2 &&
                  ATOMIC_BOOL_LOCK_FREE == 2,
              "a signal handler must not meet a lock");

void pass_on(Slot& slot, int signal, ::siginfo_t* info, void* context) {
    // Somebody who has replaced our handler, and calls it after his own, may by now be the one whom
    // we call after ours.
    if (slot.passing_on.load() == thread_mark()) return;
    const InformedHandler informed = slot.informed.load();
    const SimpleHandler simple = slot.simple.load();
    if (!informed && !simple) return;
    slot.passing_on.store(thread_mark());
    if (informed) {
        informed(signal, info, context);
    } else {
        simple(signal);
    }
    slot.passing_on.store(nullptr);
}

extern "C" void reactor_signal_arrived(int signal, ::siginfo_t* info, void* context) {
    Slot& slot = slots[signal];
    slot.inside.fetch_add(1);
    if (Wakeup* const wakeup = slot.wakeup.load()) {
        slot.pending.store(true);
        if (!wakeup->notify()) {
            const int saved = errno;
            static const char text[] = "reactor: a signal arrived, and its loop cannot be woken\n";
            const ::ssize_t ignored = ::write(STDERR_FILENO, text, sizeof text - 1);
            static_cast<void>(ignored);
            errno = saved;
        }
    }
    slot.inside.fetch_sub(1);
    // Last, and outside of the section: it may never return.
    pass_on(slot, signal, info, context);
}

bool is_ours(const struct ::sigaction& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == &reactor_signal_arrived;
}

void check_number(const char* call, int signal) {
    if (signal > 0 && signal < NSIG && signal <= SIGRTMAX) return;
    throw std::invalid_argument(std::string(call) + ": " + std::to_string(signal) +
                                " is not a signal number: give one, such as SIGINT");
}

}  // namespace

// ---- one loop's signals ---------------------------------------------------------------------

/// The signals that a loop has, and their callbacks: a service of the loop. It has a wake-up of its
/// own, so that a full inbox or another loop cannot lose a signal.
class SignalHandlers final : public DescriptorHolder {
public:
    explicit SignalHandlers(EventLoop& loop) : loop_(loop) {}
    ~SignalHandlers() {
        while (!callbacks_.empty()) remove(callbacks_.begin()->first);
    }
    SignalHandlers(const SignalHandlers&) = delete;
    SignalHandlers& operator=(const SignalHandlers&) = delete;

    void add(int signal, const Handle& callback) {
        const auto found = callbacks_.find(signal);
        if (found != callbacks_.end()) {
            Handle replaced = callback;
            std::swap(replaced, found->second);
            replaced.cancel();
            return;
        }
        if (callbacks_.empty()) watch();
        try {
            callbacks_.emplace(signal, callback);
            take(signal);
        } catch (...) {
            callbacks_.erase(signal);
            if (callbacks_.empty()) stop_watching();
            throw;
        }
    }

    bool remove(int signal) noexcept {
        const auto found = callbacks_.find(signal);
        if (found == callbacks_.end()) return false;
        give_back(signal);
        Handle callback = std::move(found->second);
        callbacks_.erase(found);
        if (callbacks_.empty()) stop_watching();
        callback.cancel();  // also out of the batch that runs now
        return true;
    }

    // As DescriptorHolder. A handler may run at any moment, and notifies: not the file of another
    // part, and if possible not nobody.
    void number_taken(int) noexcept override {
        try {
            wakeup_.renew();
        } catch (...) {
            // There is none: each second somebody looks for one, see replace_wakeup().
        }
    }
    void number_lost(int number) noexcept override {
        watch_.stop();
        if (callbacks_.empty()) return;
        try {
            replace_wakeup(number, "was closed by somebody else");
            queue_callbacks();
        } catch (...) {
            no_memory();
        }
    }

    const std::map<int, Handle>& callbacks() const noexcept { return callbacks_; }

private:
    friend class DescriptorWatch<SignalHandlers>;

    void watch() {
        if (wakeup_.fd() < 0) wakeup_.renew();
        watches_of(loop_.core())
            .hold("add_signal_handler", wakeup_.fd(), *this, WatchTable::Hold::shared);
        watch_.start(loop_, NodeKind::reader, Options().label(own_label), wakeup_.fd(), *this);
        retry_.cancel();
    }
    void stop_watching() noexcept {
        watch_.stop();
        retry_.cancel();
    }

    /// Becomes the owner of a signal's slot and its handler.
    void take(int signal) {
        Slot& slot = slots[signal];
        SignalHandlers* nobody = nullptr;
        if (!slot.owner.compare_exchange_strong(nobody, this)) {
            throw StateError("add_signal_handler: another event loop handles signal " +
                             std::to_string(signal) + ": remove it there first");
        }
        struct ::sigaction ours;
        std::memset(&ours, 0, sizeof ours);
        if (::sigaction(signal, nullptr, &slot.before) == 0) {
            const bool informed = slot.before.sa_flags & SA_SIGINFO;
            const bool function = informed || (slot.before.sa_handler != SIG_DFL &&
                                               slot.before.sa_handler != SIG_IGN);
            const bool replaced = is_ours(slot.before);  // by itself: what it passed on to stays
            if (!replaced) {
                slot.informed.store(informed ? slot.before.sa_sigaction : nullptr);
                slot.simple.store(!informed && function ? slot.before.sa_handler : nullptr);
            }
            // As protected from other signals as the one before, which is called after it.
            ours.sa_mask = slot.before.sa_mask;
            ours.sa_sigaction = &reactor_signal_arrived;
            ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
            slot.pending.store(false);
            slot.wakeup.store(&wakeup_);
            if (::sigaction(signal, &ours, nullptr) == 0) return;
        }
        const int error = errno;
        release(slot);
        throw StateError("add_signal_handler: signal " + std::to_string(signal) +
                         " cannot be caught: " + std::system_category().message(error));
    }

    void give_back(int signal) noexcept {
        Slot& slot = slots[signal];
        struct ::sigaction now;
        if (::sigaction(signal, nullptr, &now) == 0 && is_ours(now)) {
            ::sigaction(signal, &slot.before, nullptr);
        }
        release(slot);
    }

    static void release(Slot& slot) noexcept {
        slot.wakeup.store(nullptr);
        // Another thread may be between reading it and having notified: a few instructions.
        while (slot.inside.load() != 0) std::this_thread::yield();
        slot.pending.store(false);
        slot.owner.store(nullptr);
    }

    LoopCore& watch_core() const noexcept { return loop_.core(); }
    /// The wake-up was notified.
    void watch_ready(unsigned) {
        if (!wakeup_.drain()) lose_wakeup("was closed by somebody else");
        queue_callbacks();
    }

    /// Queues the callbacks of what has arrived as new work (row SG-07).
    void queue_callbacks() noexcept {
        LoopCore& core = loop_.core();
        for (auto& entry : callbacks_) {
            if (!slots[entry.first].pending.exchange(false)) continue;
            Node* const node = HandleAccess::node(entry.second);
            if (node->is(detail::NodeFlag::queued)) continue;
            node->set(detail::NodeFlag::queued);
            node->add_reference();
            core.push(node);
        }
    }

    void watch_lost(unsigned, const WatchLoss& loss) noexcept {
        watch_.stop();
        try {
            switch (loss.kind) {
                case WatchLoss::closed:
                    lose_wakeup("was closed by somebody else");
                    break;
                case WatchLoss::taken:
                    lose_wakeup("was taken by add_reader(), remove_reader() or their kin");
                    break;
                case WatchLoss::refused:
                    watch_later();
                    break;
            }
            queue_callbacks();  // of those whom the old one would have told
        } catch (...) {
            no_memory();
        }
    }
    static void no_memory() noexcept {
        log_to_standard_error(LogLevel::error, "no memory to watch for signals");
    }

    /// The number is somebody else's now, whose file may be always ready, or never.
    void lose_wakeup(const char* why) {
        const int number = wakeup_.fd();
        watches_of(loop_.core()).let_go(number, *this);
        number_taken(number);
        replace_wakeup(number, why);
    }

    void replace_wakeup(int number, const char* why) {
        Report told("The signals' wake-up descriptor " + std::to_string(number) + ' ' + why);
        told.details.emplace_back("remedy",
                                  "find who closes a descriptor that is not its own, or twice");
        watch_.stop();
        try {
            watch();
        } catch (...) {
            told.message +=
                ", and there is none to replace it: until there is one, which is tried "
                "each second, no signal reaches this loop";
            told.exception = std::current_exception();
            watch_later();
        }
        loop_.core().report(told);
    }

    /// Each second until watch() has done it: nothing more has to be armed where memory is short.
    void watch_later() {
        retry_.cancel();
        retry_ = loop_.call_every(Options().label(own_label), std::chrono::seconds(1),
                                  &SignalHandlers::watch_again, this);
    }

    void watch_again() {
        try {
            watch();
        } catch (...) {
            // No descriptor, no memory, or the new number is one that somebody has lost without
            // having heard of it. All of that passes; to give up would be to be deaf.
        }
        queue_callbacks();
    }

    EventLoop& loop_;
    Wakeup wakeup_;
    DescriptorWatch<SignalHandlers> watch_;
    TimerHandle retry_;  // while it cannot be watched
    std::map<int, Handle> callbacks_;
};

void put_signal_handler(EventLoop& loop, int signal, const Handle& handler) {
    check_number("add_signal_handler", signal);
    loop.service<SignalHandlers>().add(signal, handler);
}

std::map<int, Handle> signal_callbacks(EventLoop& loop) {
    const SignalHandlers* const handlers = loop.service_if_made<SignalHandlers>();
    return handlers ? handlers->callbacks() : std::map<int, Handle>();
}

}  // namespace detail

bool EventLoop::remove_signal_handler(int signal) {
    core_->check_thread("remove_signal_handler");
    detail::check_number("remove_signal_handler", signal);
    detail::SignalHandlers* const handlers = service_if_made<detail::SignalHandlers>();
    return handlers && handlers->remove(signal);
}

}  // namespace reactor
