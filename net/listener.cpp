// SPDX-License-Identifier: BSL-1.0
#include <net/detail/socket_state.hpp>
#include <net/listener.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include <cerrno>
#include <cstddef>
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

// What accept4() says of the client that it would have given, or of its network: the next one may
// be fine. accept(2) asks for this list to be treated like EAGAIN (nodejs/node#45242,
// hickory-dns/hickory-dns#3726 are listeners that did not).
bool concerns_one_client(int code) noexcept {
    switch (code) {
        case ECONNABORTED:
        case EPROTO:
        case EINTR:
        case EPERM:  // a firewall's refusal
        case ENETDOWN:
        case ENETUNREACH:
        case ENOPROTOOPT:
        case EHOSTDOWN:
        case EHOSTUNREACH:
        case ENONET:
        case EOPNOTSUPP:
            return true;
        default:
            return false;
    }
}

}  // namespace

/// What a Listener is made of; owned by it, at an address that does not change.
class ListenerState {
public:
    ListenerState(EventLoop& loop, const Endpoint& at, const ListenerOptions& options)
        : core(loop.core()), context_(shared_context(loop)), acceptor_(*context_), local_(at) {
        open(options);
        core.retain();
    }
    ~ListenerState() {
        close();
        core.forget();
    }
    ListenerState(const ListenerState&) = delete;
    ListenerState& operator=(const ListenerState&) = delete;

    Promise<Socket> accept(const Deadline& deadline, const Here& here);
    void close() noexcept;
    /// The pending accept was cancelled.
    void forget() noexcept { detach(); }

    reactor::detail::LoopCore& core;
    bool is_open() const noexcept { return acceptor_.is_open(); }
    int descriptor() noexcept { return is_open() ? acceptor_.native_handle() : -1; }
    const Endpoint& local() const noexcept { return local_; }

private:
    static std::shared_ptr<boost::asio::io_context> shared_context(EventLoop& loop) {
        loop.core().check("Listener");
        return loop.service<SocketService>().context;
    }
    void open(const ListenerOptions& options);
    bool advance(AcceptOperation& accept);
    Socket wrap(int descriptor, const ::sockaddr_storage& peer, std::size_t size);
    void readable();
    void late();
    StateOwner<AcceptOperation> detach() noexcept;

    std::shared_ptr<boost::asio::io_context> context_;  // outlives acceptor_
    AsioAcceptor acceptor_;
    Endpoint local_;
    AcceptOperation* accepting_ = nullptr;
    Handle watch_;
    // Whether a client may well be waiting: asking at once saves an iteration then, else it costs a
    // call that says EAGAIN.
    bool ask_first_ = true;
};

namespace {

void AcceptOperation::abandon() noexcept { owner->forget(); }

}  // namespace

void ListenerState::open(const ListenerOptions& options) {
    namespace asio = boost::asio;
    const StreamProtocol::endpoint endpoint = detail::to_asio(local_);
    boost::system::error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error && local_.is_ip()) {
        acceptor_.set_option(asio::socket_base::reuse_address(options.reuse_address()), error);
        // Linux hands it down to the accepted sockets: one call here instead of one for each.
        if (!error) acceptor_.set_option(asio::ip::tcp::no_delay(true), error);
    }
    if (!error && local_.family() == Endpoint::Family::ipv6) {
        acceptor_.set_option(asio::ip::v6_only(options.v6_only()), error);
    }
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(options.backlog(), error);
    if (error) throw detail::socket_error(error, "listen on", local_);
    local_ = detail::from_asio(acceptor_.local_endpoint());
}

void ListenerState::close() noexcept {
    core.require_thread("Listener::close");
    AcceptOperation* const accepting = accepting_;
    accepting_ = nullptr;
    watch_.cancel();
    if (is_open()) {
        if (!core.closed.load(std::memory_order_relaxed)) {
            core.loop->forget_descriptor(acceptor_.native_handle());
        }
        boost::system::error_code ignored;  // the descriptor is gone whatever it says
        acceptor_.close(ignored);
    }
    if (!accepting) return;
    // Last: on a closed loop this destroys what its callbacks captured, perhaps this object.
    accepting->limit.cancel();
    const StateOwner<AcceptOperation> owned(accepting);
    try {
        owned->cancel_now("the listener was closed");
    } catch (...) {
        owned->end_cancelled(nullptr);  // no memory for the message
    }
}

Promise<Socket> ListenerState::accept(const Deadline& deadline, const Here& here) {
    core.check("accept");
    if (!is_open()) throw StateError("accept: the listener is closed");
    if (accepting_) throw StateError("accept: another accept of this listener is pending");
    StateOwner<AcceptOperation> accept(reactor::detail::make_state<AcceptOperation>(core, here));
    const Promise<Socket> promise = PromiseAccess::share<Promise<Socket>>(&*accept);
    if (ask_first_ && advance(*accept)) return promise;

    try {
        watch_ = core.loop->add_reader(detail::watch_options("net::Listener accepts"),
                                       acceptor_.native_handle(), &ListenerState::readable, this);
    } catch (const std::system_error& error) {
        accept->fail(std::make_exception_ptr(detail::watch_error(error, "accept on", local_)));
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
    ::sockaddr_storage address;
    ::socklen_t size = sizeof address;
    // Asio's accept would go on by itself after ECONNABORTED, waiting in a poll of its own.
    const int descriptor =
        ::accept4(acceptor_.native_handle(), static_cast<::sockaddr*>(static_cast<void*>(&address)),
                  &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    const int code = descriptor < 0 ? errno : 0;
    if (detail::would_block(code) || concerns_one_client(code)) {
        // If there are more, the listener is readable still.
        ask_first_ = false;
        return false;
    }
    try {
        if (code != 0) throw detail::socket_error(code, "accept on", local_);
        accept.set(wrap(descriptor, address, size));
    } catch (const std::system_error&) {
        ask_first_ = true;  // the next accept says at once whether it is over
        accept.fail(std::current_exception());
    }
    return true;
}

Socket ListenerState::wrap(int descriptor, const ::sockaddr_storage& peer, std::size_t size) {
    try {
        std::unique_ptr<SocketState> state(new SocketState(*core.loop));
        state->assign(descriptor, peer.ss_family, Endpoint::from_sockaddr(&peer, size));
        return SocketAccess::wrap(std::move(state));
    } catch (...) {
        ::close(descriptor);
        throw;
    }
}

void ListenerState::readable() {
    if (!accepting_) {
        watch_.cancel();
    } else if (advance(*accepting_)) {
        detach();
    }
}

void ListenerState::late() {
    const StateOwner<AcceptOperation> accept = detach();
    accept->fail(std::make_exception_ptr(TimeoutError("accept on " + local_.str())));
}

StateOwner<AcceptOperation> ListenerState::detach() noexcept {
    StateOwner<AcceptOperation> accept(accepting_);
    accepting_ = nullptr;
    watch_.cancel();
    accept->limit.cancel();
    return accept;
}

}  // namespace detail

using detail::ListenerState;

Listener::Listener() noexcept = default;
Listener::Listener(EventLoop& loop, const Endpoint& at, ListenerOptions options)
    : state_(new ListenerState(loop, at, options)) {}
Listener::Listener(Listener&&) noexcept = default;
Listener& Listener::operator=(Listener&&) noexcept = default;
Listener::~Listener() = default;

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
