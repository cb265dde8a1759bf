// SPDX-License-Identifier: BSL-1.0
#include <net/detail/datagram_descriptor.hpp>

#include <net/detail/datagram_batch.hpp>
#include <net/detail/datagram_gathering.hpp>
#include <net/detail/socket_service.hpp>
#include <net/detail/transport_service.hpp>

#include <boost/asio/ip/v6_only.hpp>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

using boost::system::error_code;

bool is_path(const Endpoint& at) {
    return at.family() == Endpoint::Family::local && !at.is_abstract() && !at.address().empty();
}

const ::sockaddr* system_address(const Endpoint& endpoint) noexcept {
    return static_cast<const ::sockaddr*>(endpoint.data());
}

Endpoint unnamed() {
    const ::sa_family_t family = AF_UNIX;
    return Endpoint::from_sockaddr(&family, sizeof family);
}

[[noreturn]] void fail_adopting(int descriptor) {
    const int code = errno;
    throw std::system_error(code, std::system_category(),
                            "adopt: descriptor " + std::to_string(descriptor));
}

int option_of(int descriptor, int name) {
    int value = 0;
    ::socklen_t size = sizeof value;
    if (::getsockopt(descriptor, SOL_SOCKET, name, &value, &size) != 0) fail_adopting(descriptor);
    return value;
}

template <class Call>
::ssize_t uninterrupted(Call call) noexcept {
    ::ssize_t result;
    do {
        result = call();
    } while (result < 0 && errno == EINTR);
    return result;
}

}  // namespace

// ---- made, and gone -------------------------------------------------------------------------

DatagramDescriptor::DatagramDescriptor() noexcept = default;

DatagramDescriptor::DatagramDescriptor(EventLoop& loop)
    : context_(loop.service<SocketService>().context), socket_(new AsioDatagramSocket(*context_)) {}

DatagramDescriptor::DatagramDescriptor(DatagramDescriptor&& other) noexcept {
    *this = std::move(other);
}

DatagramDescriptor& DatagramDescriptor::operator=(DatagramDescriptor&& other) noexcept {
    if (this == &other) return *this;
    close();
    socket_ = std::move(other.socket_);
    context_ = std::move(other.context_);
    file_ = std::move(other.file_);
    peer_ = other.peer_;
    connected_ = other.connected_;
    ip_ = other.ip_;
    other.connected_ = false;
    return *this;
}

DatagramDescriptor::~DatagramDescriptor() { close(); }

void DatagramDescriptor::close() noexcept {
    connected_ = false;
    if (!socket_) return;
    file_.remove();      // while its socket is open: see there
    error_code ignored;  // the descriptor is gone whatever it says
    socket_->close(ignored);
    socket_.reset();
}

int DatagramDescriptor::release() noexcept {
    file_ = UnixSocketFile();  // it stays
    error_code error;
    const int descriptor = socket_->release(error);  // fails, with -1, if the number is lost
    socket_.reset();
    connected_ = false;
    return descriptor;
}

void DatagramDescriptor::lose_number() noexcept {
    if (!socket_) return;
    file_ = UnixSocketFile();
    error_code ignored;
    socket_->release(ignored);
}

void DatagramDescriptor::check_loop(const EventLoop& loop, const char* call) {
    loop.core().check(call);
    if (socket_calls(loop).simulated()) {
        throw StateError(std::string(call) +
                         ": this loop has a network in memory, which has streams and no datagrams");
    }
}

// ---- opened here ----------------------------------------------------------------------------

DatagramDescriptor DatagramDescriptor::bound(EventLoop& loop, const Endpoint& local,
                                             const DatagramOptions& options) {
    if (local.empty()) {
        throw std::invalid_argument(
            "DatagramSocket: the address is empty: give one, or only a family");
    }
    if (options.permissions() < -1 || options.permissions() > 0777) {
        throw std::invalid_argument("DatagramSocket: the permissions " +
                                    std::to_string(options.permissions()) +
                                    " (decimal) are none: 0 to 0777, as chmod has them");
    }
    DatagramDescriptor made(loop);
    int code = made.open(system_address(local)->sa_family, options);
    if (code == 0) code = made.bind(local, options);
    if (code != 0) throw socket_error(code, "bind", local);
    return made;
}

DatagramDescriptor DatagramDescriptor::unbound(EventLoop& loop, Endpoint::Family family,
                                               const DatagramOptions& options) {
    int number = AF_UNSPEC;
    const char* name = "";
    switch (family) {
        case Endpoint::Family::none:
            throw std::invalid_argument(
                "DatagramSocket: no family: ipv4, ipv6 or local, or an address");
        case Endpoint::Family::ipv4:
            number = AF_INET;
            name = "an IPv4";
            break;
        case Endpoint::Family::ipv6:
            number = AF_INET6;
            name = "an IPv6";
            break;
        case Endpoint::Family::local:
            number = AF_UNIX;
            name = "a Unix";
            break;
    }
    DatagramDescriptor made(loop);
    if (const int code = made.open(number, options)) {
        throw std::system_error(code, std::system_category(),
                                std::string("open ") + name + " datagram socket");
    }
    return made;
}

/// 0 or the error, here and below.
int DatagramDescriptor::open(int family, const DatagramOptions& options) {
    error_code error;
    socket_->open(AsioDatagramProtocol(family), error);
    if (error) return error.value();
    ip_ = family != AF_UNIX;
    if (!ip_) return 0;
    if (options.reuse_address()) {
        socket_->set_option(boost::asio::socket_base::reuse_address(true), error);
        if (error) return error.value();
    }
    const int on = 1;
    if (options.reuse_port() &&
        ::setsockopt(number(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) {
        return errno;
    }
    if (family == AF_INET6) {
        socket_->set_option(boost::asio::ip::v6_only(options.v6_only()), error);
    }
    return error.value();
}

int DatagramDescriptor::bind(const Endpoint& local, const DatagramOptions& options) {
    const AsioDatagramProtocol::endpoint endpoint(local.data(), local.size());
    error_code error;
    if (!is_path(local)) {
        socket_->bind(endpoint, error);
        return error.value();
    }
    // The file is made with no more than these: it is never open wider, not for a moment.
    if (options.permissions() >= 0 &&
        ::fchmod(number(), static_cast<::mode_t>(options.permissions())) != 0) {
        return errno;
    }
    const std::string path = local.address();
    socket_->bind(endpoint, error);
    if (error.value() == EADDRINUSE) {
        const StaleSocketRemoval removal(path);
        if (removal.made_way()) socket_->bind(endpoint, error);
    }
    if (error) return error.value();
    try {
        file_ = UnixSocketFile(path, options.permissions());
    } catch (const std::system_error& refused) {
        return refused.code().value();
    }
    return 0;
}

// ---- opened by others -----------------------------------------------------------------------

DatagramDescriptor DatagramDescriptor::adopt(EventLoop& loop, int descriptor) {
    if (option_of(descriptor, SO_TYPE) != SOCK_DGRAM) {
        throw std::invalid_argument("adopt: descriptor " + std::to_string(descriptor) +
                                    " is no datagram socket");
    }
    const int family = option_of(descriptor, SO_DOMAIN);
    if (family != AF_INET && family != AF_INET6 && family != AF_UNIX) {
        throw std::invalid_argument("adopt: descriptor " + std::to_string(descriptor) +
                                    " is a datagram socket of a family other than IP and Unix");
    }
    ::sockaddr_storage address;
    ::socklen_t size = sizeof address;
    const bool connected =
        ::getpeername(descriptor, static_cast<::sockaddr*>(static_cast<void*>(&address)), &size) ==
        0;
    if (!connected && errno != ENOTCONN) fail_adopting(descriptor);
    const int status = ::fcntl(descriptor, F_GETFL);
    if (status < 0 || ::fcntl(descriptor, F_SETFL, status | O_NONBLOCK) != 0 ||
        ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) {
        fail_adopting(descriptor);
    }
    DatagramDescriptor made(loop);
    if (connected) made.peer_ = Endpoint::from_sockaddr(&address, size);
    made.connected_ = connected;
    made.ip_ = family != AF_UNIX;
    error_code error;
    made.socket_->assign(AsioDatagramProtocol(family, option_of(descriptor, SO_PROTOCOL)),
                         descriptor, error);
    if (error) {
        throw std::system_error(error.value(), std::system_category(),
                                "adopt: descriptor " + std::to_string(descriptor));
    }
    return made;
}

// ---- addresses ------------------------------------------------------------------------------

void DatagramDescriptor::connect(const Endpoint& remote) {
    // Of datagrams this never waits: it only notes the address.
    if (::connect(number(), system_address(remote), static_cast<::socklen_t>(remote.size())) != 0) {
        const int code = errno;
        throw socket_error(code, "connect to", remote);
    }
    ::sockaddr_storage address;
    ::socklen_t size = sizeof address;
    const bool known =
        ::getpeername(number(), static_cast<::sockaddr*>(static_cast<void*>(&address)), &size) == 0;
    peer_ = known ? Endpoint::from_sockaddr(&address, size) : remote;
    connected_ = true;
}

Endpoint DatagramDescriptor::local() const {
    error_code error;
    const AsioDatagramProtocol::endpoint local = socket_->local_endpoint(error);
    if (error) {
        throw std::system_error(error.value(), std::system_category(),
                                "local endpoint of descriptor " + std::to_string(number()));
    }
    return Endpoint::from_sockaddr(local.data(), local.size());
}

Endpoint DatagramDescriptor::address() const {
    try {
        return socket_ ? local() : Endpoint();
    } catch (const std::system_error&) {
        return Endpoint();
    }
}

Endpoint DatagramDescriptor::sender(const ::sockaddr_storage& from, ::socklen_t size) noexcept {
    // Of a Unix socket without a name the system gives no address at all.
    return size == 0 ? unnamed() : Endpoint::from_sockaddr(&from, size);
}

std::system_error DatagramDescriptor::send_error(int code, std::size_t size,
                                                 const Endpoint& to) const {
    // The size is what is wrong with it.
    const std::string step =
        code == EMSGSIZE ? "send " + std::to_string(size) + " bytes to" : "send to";
    return socket_error(code, step, to.empty() ? peer_ : to);
}

// ---- datagrams ------------------------------------------------------------------------------

int DatagramDescriptor::receive(char* room, std::size_t size, Arrival& arrival) noexcept {
    // Asio's receive_from does not tell whether a datagram was cut.
    ::sockaddr_storage from;
    ::iovec piece = {room, size};
    ::msghdr message = ::msghdr();
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_name = &from;
    const ::ssize_t got = uninterrupted([&] {
        message.msg_namelen = sizeof from;
        return ::recvmsg(number(), &message, MSG_TRUNC);
    });
    if (got < 0) return -1;
    arrival.full_size = static_cast<std::size_t>(got);
    arrival.size = arrival.full_size < size ? arrival.full_size : size;
    arrival.from = sender(from, message.msg_namelen);
    return 0;
}

::ssize_t DatagramDescriptor::next_size() noexcept {
    return uninterrupted([&] { return ::recv(number(), nullptr, 0, MSG_PEEK | MSG_TRUNC); });
}

int DatagramDescriptor::receive(DatagramBatch& batch) noexcept {
    return static_cast<int>(uninterrupted(
        [&] { return ::recvmmsg(number(), batch.messages(), batch.count(), MSG_TRUNC, nullptr); }));
}

void DatagramDescriptor::drop_notes() noexcept {
    if (!ip_) return;         // a Unix socket has no such queue: a datagram would come
    constexpr int most = 64;  // of one event: more may come as fast as they go
    ::msghdr message = ::msghdr();
    for (int i = 0; i < most; ++i) {
        if (uninterrupted([&] { return ::recvmsg(number(), &message, MSG_ERRQUEUE); }) < 0) return;
    }
}

::ssize_t DatagramDescriptor::send(ByteView bytes, const Endpoint& to) noexcept {
    const ::sockaddr* const address = to.empty() ? nullptr : system_address(to);
    return uninterrupted([&] {
        return ::sendto(number(), bytes.data(), bytes.size(), MSG_NOSIGNAL, address,
                        static_cast<::socklen_t>(to.size()));
    });
}

int DatagramDescriptor::send(const std::deque<OutgoingDatagram>& queue) noexcept {
    constexpr std::size_t most = 64;
    ::mmsghdr messages[most];
    ::iovec pieces[most];
    const std::size_t count = std::min(most, queue.size());
    for (std::size_t i = 0; i < count; ++i) {
        const OutgoingDatagram& one = queue[i];
        pieces[i] = {const_cast<char*>(one.bytes.data()), one.bytes.size()};
        ::msghdr& message = messages[i].msg_hdr;
        message = ::msghdr();
        message.msg_iov = &pieces[i];
        message.msg_iovlen = 1;
        if (!one.to.empty()) {
            message.msg_name = const_cast<void*>(one.to.data());
            message.msg_namelen = static_cast<::socklen_t>(one.to.size());
        }
    }
    return static_cast<int>(uninterrupted([&] {
        return ::sendmmsg(number(), messages, static_cast<unsigned>(count), MSG_NOSIGNAL);
    }));
}

int DatagramDescriptor::send(DatagramGathering& gathering, unsigned from) noexcept {
    return static_cast<int>(uninterrupted([&] {
        return ::sendmmsg(number(), gathering.messages(from), gathering.count() - from,
                          MSG_NOSIGNAL);
    }));
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
