// SPDX-License-Identifier: BSL-1.0
#include <net/detail/listening_socket.hpp>
#include <net/detail/pending_operations.hpp>
#include <net/detail/socket_state.hpp>
#include <net/detail/transport_service.hpp>
#include <net/listener.hpp>
#include <reactor/detail/descriptor_watch.hpp>
#include <reactor/detail/loop_state.hpp>

#include <cerrno>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

namespace reactor {
namespace net {

using reactor::detail::PromiseAccess;
using reactor::detail::StateOwner;
using reactor::detail::watches_of;
using reactor::detail::WatchLoss;
using reactor::detail::WatchTable;

namespace detail {

namespace {

struct AcceptOperation final
    : reactor::detail::Pooled<AcceptOperation, reactor::detail::OperationState<Socket>> {
    using Pooled::Pooled;
    void abandon() noexcept override;
    void explain(reactor::detail::WhyPending& why) const override { why.what = "Listener::accept"; }

    ListenerState* owner = nullptr;
    TimerHandle limit;
};

}  // namespace

/// What a Listener is made of; owned by it, at an address that does not change.
class ListenerState final : public reactor::detail::DescriptorHolder {
public:
    explicit ListenerState(EventLoop& loop) : core(loop.core()) { core.retain(); }
    ~ListenerState() {
        close();
        core.forget();
    }
    ListenerState(const ListenerState&) = delete;
    ListenerState& operator=(const ListenerState&) = delete;

    Promise<Socket> accept(const Deadline& deadline, const Here& here);
    void close() noexcept;
    void take(ListeningSocket& socket);
    // As DescriptorHolder.
    void number_taken(int) noexcept override { socket_.let_go(); }
    void number_lost(int) noexcept override { watch_lost(0, {WatchLoss::closed, EBADF}); }
    /// The pending accept was cancelled.
    void forget() noexcept { detach(); }

    reactor::detail::LoopCore& core;
    bool is_open() const noexcept { return socket_.is_open(); }
    int descriptor() const noexcept { return socket_.descriptor(); }
    const Endpoint& local() const noexcept { return socket_.local(); }

private:
    using Watch = reactor::detail::DescriptorWatch<ListenerState>;
    friend Watch;

    bool advance(AcceptOperation& accept);
    Socket wrap(int descriptor, const Endpoint& peer);
    reactor::detail::LoopCore& watch_core() const noexcept { return core; }
    void watch_ready(unsigned);
    void watch_lost(unsigned, const WatchLoss& loss) noexcept;
    void late();
    StateOwner<AcceptOperation> detach() noexcept;

    ListeningSocket socket_;
    AcceptOperation* accepting_ = nullptr;
    Watch watch_;
    // Whether a client may well be waiting: asking at once saves an iteration then, else it costs a
    // call that says EAGAIN.
    bool ask_first_ = true;
};

namespace {

void AcceptOperation::abandon() noexcept { owner->forget(); }

}  // namespace

void ListenerState::take(ListeningSocket& socket) {
    watches_of(core).hold("listen", socket.descriptor(), *this, WatchTable::Hold::exclusive);
    socket_ = std::move(socket);
}

void ListenerState::close() noexcept {
    core.require_thread("Listener::close");
    AcceptOperation* const accepting = accepting_;
    accepting_ = nullptr;
    watch_.stop();
    watches_of(core).let_go(descriptor(), *this);
    if (is_open()) {
        if (!core.closed.load(std::memory_order_relaxed)) {
            core.loop->forget_descriptor(descriptor());
        }
        socket_.close();
    }
    if (!accepting) return;
    // Last: on a closed loop this destroys what its callbacks captured, perhaps this object.
    accepting->limit.cancel();
    const StateOwner<AcceptOperation> owned(accepting);
    cancel_operation(*owned, "the listener was closed");
}

Promise<Socket> ListenerState::accept(const Deadline& deadline, const Here& here) {
    core.check("accept");
    if (!is_open()) throw StateError("accept: the listener is closed");
    if (accepting_) throw StateError("accept: another accept of this listener is pending");
    detail::refuse_blocking(core, descriptor(), "accept");
    StateOwner<AcceptOperation> accept(reactor::detail::make_state<AcceptOperation>(core, here));
    const Promise<Socket> promise = PromiseAccess::share<Promise<Socket>>(&*accept);
    if (ask_first_ && advance(*accept)) return promise;

    try {
        watch_.start(*core.loop, reactor::detail::NodeKind::reader,
                     detail::watch_options("net::Listener accepts"), descriptor(), *this, 0,
                     Watch::Number::ours);
    } catch (const std::system_error& error) {
        accept->fail(std::make_exception_ptr(detail::watch_error(error, "accept on", local())));
        return promise;
    }
    const TimePoint when = deadline.at(*core.loop);
    if (when != never()) accept->limit = core.loop->call_at(when, &ListenerState::late, this);
    accept->owner = this;
    accept->keep();
    accepting_ = &*accept;
    return promise;
}

/// True: it is done.
bool ListenerState::advance(AcceptOperation& accept) {
    Endpoint peer;
    const int client = socket_.accept(peer);
    const int code = client < 0 ? errno : 0;
    if (detail::would_block(code) || accept_error_concerns_one_client(code)) {
        // If there are more, the listener is readable still.
        ask_first_ = false;
        return false;
    }
    try {
        if (code != 0) throw detail::socket_error(code, "accept on", local());
        accept.set(wrap(client, peer));
    } catch (const std::system_error&) {
        ask_first_ = true;  // the next accept says at once whether it is over
        accept.fail(std::current_exception());
    }
    return true;
}

Socket ListenerState::wrap(int descriptor, const Endpoint& peer) {
    try {
        std::unique_ptr<SocketState> state(new SocketState(*core.loop));
        state->assign(descriptor, static_cast<const ::sockaddr*>(peer.data())->sa_family, peer);
        return SocketAccess::wrap(std::move(state));
    } catch (...) {
        ::close(descriptor);
        throw;
    }
}

/// The loop has let go of the socket.
void ListenerState::watch_lost(unsigned, const WatchLoss& loss) noexcept {
    watch_.stop();
    std::exception_ptr error;
    if (accepting_) error = lost_watch_error(loss, descriptor(), "accept on", local());
    if (loss.kind == WatchLoss::closed) {
        watches_of(core).let_go(descriptor(), *this);
        socket_.let_go();
    }
    if (!accepting_) return;
    // Last: a promise that nobody holds may be reported, and the handler do anything.
    const StateOwner<AcceptOperation> accept = detach();
    accept->fail(std::move(error));
}

void ListenerState::watch_ready(unsigned) {
    if (!accepting_) {
        watch_.stop();
    } else if (advance(*accepting_)) {
        detach();
    }
}

void ListenerState::late() {
    const StateOwner<AcceptOperation> accept = detach();
    accept->fail(std::make_exception_ptr(TimeoutError("accept on " + local().str())));
}

StateOwner<AcceptOperation> ListenerState::detach() noexcept {
    StateOwner<AcceptOperation> accept(accepting_);
    accepting_ = nullptr;
    watch_.stop();
    accept->limit.cancel();
    return accept;
}

}  // namespace detail

using detail::ListenerState;

namespace {

void check_loop(EventLoop& loop) {
    loop.core().check("Listener");
    if (loop.service<detail::TransportService>().calls.simulated()) {
        throw StateError(
            "Listener: this loop has a network in memory, where a Server listens: a Listener's "
            "Sockets are the system's");
    }
}

detail::ListeningOptions in_detail(const ListenerOptions& options) {
    detail::ListeningOptions same;
    same.backlog = options.backlog();
    same.reuse_address = options.reuse_address();
    same.reuse_port = options.reuse_port();
    same.v6_only = options.v6_only();
    same.permissions = options.permissions();
    return same;
}

}  // namespace

Listener::Listener() noexcept = default;
Listener::Listener(EventLoop& loop, const Endpoint& at, ListenerOptions options) {
    check_loop(loop);
    state_.reset(new ListenerState(loop));
    detail::ListeningSocket socket = detail::ListeningSocket::open(loop, at, in_detail(options));
    socket.listen();
    state_->take(socket);
}
Listener::Listener(Listener&&) noexcept = default;
Listener& Listener::operator=(Listener&&) noexcept = default;
Listener::~Listener() = default;

Listener Listener::adopt(EventLoop& loop, int descriptor) {
    check_loop(loop);
    Listener made;
    made.state_.reset(new ListenerState(loop));
    detail::ListeningSocket adopted = detail::ListeningSocket::adopt(loop, descriptor);
    try {
        made.state_->take(adopted);
    } catch (...) {
        adopted.let_go();  // the caller's still
        throw;
    }
    return made;
}

ListenerState& Listener::state(const char* call) const {
    if (!state_) {
        throw StateError(std::string(call) + ": the Listener is empty: make one of a loop");
    }
    return *state_;
}

Promise<Socket> Listener::accept(Deadline deadline, Here here) {
    return state("accept").accept(deadline, here);
}

void Listener::close() noexcept {
    if (state_) state_->close();
}

bool Listener::is_open() const noexcept { return state_ && state_->is_open(); }

int Listener::native_handle() const noexcept { return state_ ? state_->descriptor() : -1; }

EventLoop& Listener::loop() const {
    EventLoop* const loop = state("loop").core.loop;
    if (!loop) throw StateError("loop: the event loop of this Listener is gone");
    return *loop;
}

const Endpoint& Listener::local_endpoint() const { return state("local_endpoint").local(); }

}  // namespace net
}  // namespace reactor
