// SPDX-License-Identifier: BSL-1.0
#include <net/detail/transport_state.hpp>
#include <net/transport.hpp>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace reactor {
namespace net {

using detail::TimeLimits;
using detail::TransportAccess;
using detail::TransportState;

// ---- references -----------------------------------------------------------------------------

Transport::Transport(TransportState* state) noexcept : state_(state) {
    if (state_) state_->add_reference();
}

Transport::Transport(const Transport& other) noexcept : Transport(other.state_) {}

Transport::~Transport() {
    if (state_) state_->release();
}

TransportState& Transport::state(const char* call) const {
    if (!state_) {
        throw StateError(std::string(call) +
                         ": the Transport is empty: make_transport() makes one");
    }
    state_->core().check_thread(call);
    return *state_;
}

// ---- writing --------------------------------------------------------------------------------

void Transport::write(ByteView bytes) const { state("write").write(bytes, nullptr); }

void Transport::write(std::string&& bytes) const { state("write").write(bytes, &bytes); }

void Transport::write(const std::shared_ptr<const std::string>& bytes) const {
    TransportState& transport = state("write");
    if (!bytes) throw std::invalid_argument("Transport::write: the pointer to the bytes is null");
    transport.write(*bytes, nullptr, &bytes);
}

void Transport::write_lines(const std::vector<ByteView>& pieces) const {
    state("write_lines").write_lines(pieces);
}

Promise<std::uint64_t> Transport::send_file(int file, std::uint64_t offset, std::uint64_t count,
                                            Here here) const {
    return state("send_file").send_file(file, offset, count, here);
}

void Transport::write_eof() const { state("write_eof").write_eof(); }

bool Transport::can_write_eof() const noexcept { return state_ && state_->can_write(); }

std::size_t Transport::write_buffer_size() const noexcept { return state_ ? state_->unsent() : 0; }

void Transport::set_write_limits(WriteLimits limits) const {
    TransportState& transport = state("set_write_limits");
    if (limits.low > limits.high || limits.high > limits.hard) {
        throw std::invalid_argument("set_write_limits: low <= high <= hard does not hold");
    }
    transport.set_limits(limits);
}

WriteLimits Transport::write_limits() const noexcept {
    return state_ ? state_->limits() : WriteLimits();
}

bool Transport::write_paused() const noexcept { return state_ && state_->write_paused(); }

// ---- reading and ending ---------------------------------------------------------------------

void Transport::pause_reading() const { state("pause_reading").pause_reading(); }

void Transport::resume_reading() const { state("resume_reading").resume_reading(); }

bool Transport::is_reading() const noexcept { return state_ && state_->is_reading(); }

void Transport::close() const noexcept {
    if (!state_) return;
    state_->core().require_thread("Transport::close");
    state_->close(false);
}

void Transport::close_unread() const noexcept {
    if (!state_) return;
    state_->core().require_thread("Transport::close_unread");
    state_->close(true);
}

void Transport::abort() const noexcept {
    if (!state_) return;
    state_->core().require_thread("Transport::abort");
    state_->abort();
}

bool Transport::is_closing() const noexcept { return state_ && state_->is_closing(); }

void Transport::set_idle_timeout(Duration length) const {
    state("set_idle_timeout").set_time_limit(&TimeLimits::idle, length);
}

void Transport::set_read_timeout(Duration length) const {
    state("set_read_timeout").set_time_limit(&TimeLimits::read, length);
}

void Transport::set_write_timeout(Duration length) const {
    state("set_write_timeout").set_time_limit(&TimeLimits::write, length);
}

// ---- what it is -----------------------------------------------------------------------------

Endpoint Transport::local_endpoint() const { return state("local_endpoint").local(); }

Endpoint Transport::remote_endpoint() const { return state("remote_endpoint").remote(); }

int Transport::native_handle() const noexcept { return state_ ? state_->descriptor() : -1; }

Protocol* Transport::protocol() const noexcept { return state_ ? state_->protocol() : nullptr; }

void Transport::set_protocol(std::unique_ptr<Protocol> protocol) const {
    TransportState& transport = state("set_protocol");
    if (!protocol) throw std::invalid_argument("set_protocol: the protocol is a null pointer");
    transport.set_protocol(std::move(protocol));
}

EventLoop& Transport::loop() const {
    EventLoop* const loop = state("loop").core().loop;
    if (!loop) throw StateError("loop: the event loop of this Transport is gone");
    return *loop;
}

// ---- made from a descriptor -----------------------------------------------------------------

namespace {

[[noreturn]] void throw_errno() {
    throw std::system_error(errno, std::system_category(), "make_transport");
}

using NameCall = int (*)(int, ::sockaddr*, ::socklen_t*);

Endpoint name_of(int descriptor, NameCall call) {
    ::sockaddr_storage address;
    ::socklen_t size = sizeof address;
    if (call(descriptor, static_cast<::sockaddr*>(static_cast<void*>(&address)), &size) != 0) {
        throw_errno();
    }
    return Endpoint::from_sockaddr(&address, size);
}

Endpoint local_name(const detail::SocketCalls& calls, int descriptor) {
    auto* const network = calls.network_of(descriptor);
    if (!network) return name_of(descriptor, &::getsockname);
    const Endpoint name = network->local_endpoint(descriptor);
    if (name.empty()) throw_errno();
    return name;
}

Endpoint remote_name(const detail::SocketCalls& calls, int descriptor) {
    auto* const network = calls.network_of(descriptor);
    if (!network) return name_of(descriptor, &::getpeername);
    const Endpoint name = network->remote_endpoint(descriptor);
    if (name.empty()) throw_errno();
    return name;
}

void require_stream_socket(int descriptor) {
    int type = 0;
    ::socklen_t size = sizeof type;
    const bool asked = ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
    if (!asked && errno != ENOTSOCK) throw_errno();
    if (!asked || type != SOCK_STREAM) {
        throw std::invalid_argument("make_transport: descriptor " + std::to_string(descriptor) +
                                    " is no stream socket");
    }
}

void prepare(int descriptor, bool is_tcp) {
    const int status = ::fcntl(descriptor, F_GETFL);
    if (status < 0 || ::fcntl(descriptor, F_SETFL, status | O_NONBLOCK) != 0 ||
        ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) {
        throw_errno();
    }
    const int on = 1;
    // It fails if the peer is gone again, which reading will tell.
    if (is_tcp) ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Endpoint detail::TransportState::local() {
    const Extras* const made = extras_if_made();
    if (made && made->local) return *made->local;
    if (descriptor() < 0 || pipe_) return Endpoint();
    const Endpoint name = local_name(service_->calls, descriptor());
    extras().local.reset(new Endpoint(name));
    return name;
}

Promise<Transport> make_transport(EventLoop& loop, int descriptor,
                                  std::unique_ptr<Protocol> protocol, Here here) {
    loop.core().check("make_transport");
    if (!protocol) throw std::invalid_argument("make_transport: the protocol is a null pointer");
    const detail::SocketCalls& calls = loop.service<detail::TransportService>().calls;
    const bool simulated = calls.simulates(descriptor);
    if (!simulated) require_stream_socket(descriptor);
    const Endpoint remote = remote_name(calls, descriptor);
    TransportState* const state = TransportState::make(
        loop, descriptor, remote, std::move(protocol), TransportState::Origin::given);
    const Transport transport = TransportAccess::share(state);
    state->release();
    try {
        if (!simulated) prepare(descriptor, remote.is_ip());
        const Promise<Transport> promise = loop.create_promise<Transport>(here);
        // Behind connection_made(), in the same batch.
        state->begin();
        loop.call_soon(
            [](const Promise<Transport>& made, const Transport& value) {
                if (!made.done()) made.set_result(value);
            },
            promise, transport);
        return promise;
    } catch (...) {
        state->disown();
        throw;
    }
}

}  // namespace net
}  // namespace reactor
