// SPDX-License-Identifier: BSL-1.0
#include <net/detail/listening_socket.hpp>

#include <net/detail/transport_service.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>

#include <cerrno>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

using boost::system::error_code;

void check_permissions(int permissions) {
    if (permissions < -1 || permissions > 0777) {
        throw std::invalid_argument("listen: the permissions " + std::to_string(permissions) +
                                    " (decimal) are none: 0 to 0777, as chmod has them");
    }
}

bool is_path(const Endpoint& at) {
    return at.family() == Endpoint::Family::local && !at.is_abstract() && !at.address().empty();
}

int option_of(int descriptor, int name) {
    int value = 0;
    ::socklen_t size = sizeof value;
    if (::getsockopt(descriptor, SOL_SOCKET, name, &value, &size) != 0) {
        throw std::system_error(errno, std::system_category(),
                                "adopt: descriptor " + std::to_string(descriptor));
    }
    return value;
}

void set_flags(int descriptor) {
    const int status = ::fcntl(descriptor, F_GETFL);
    if (status < 0 || ::fcntl(descriptor, F_SETFL, status | O_NONBLOCK) != 0 ||
        ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) {
        throw std::system_error(errno, std::system_category(),
                                "adopt: descriptor " + std::to_string(descriptor));
    }
}

std::shared_ptr<boost::asio::io_context> shared_context(EventLoop& loop) {
    return loop.service<SocketService>().context;
}

}  // namespace

// ---- made, and gone -------------------------------------------------------------------------

ListeningSocket::ListeningSocket() noexcept : options_() {}

ListeningSocket::ListeningSocket(EventLoop& loop, const Endpoint& at,
                                 const ListeningOptions& options)
    : options_(options), local_(at), calls_(loop.service<TransportService>().calls) {
    if (calls_.simulated()) return;
    context_ = shared_context(loop);
    acceptor_.reset(new AsioAcceptor(*context_));
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept : options_() {
    *this = std::move(other);
}

ListeningSocket& ListeningSocket::operator=(ListeningSocket&& other) noexcept {
    if (this == &other) return *this;
    close();
    options_ = other.options_;
    local_ = other.local_;
    calls_ = other.calls_;
    acceptor_ = std::move(other.acceptor_);
    context_ = std::move(other.context_);
    file_ = std::move(other.file_);
    descriptor_ = other.descriptor_;
    open_ = other.open_;
    listens_ = other.listens_;
    other.descriptor_ = -1;
    other.open_ = other.listens_ = false;
    return *this;
}

ListeningSocket::~ListeningSocket() { close(); }

void ListeningSocket::close() noexcept {
    file_.remove();  // while its socket is open: see there
    if (acceptor_) {
        error_code ignored;  // the descriptor is gone whatever it says
        acceptor_->close(ignored);
        acceptor_.reset();
    } else if (descriptor_ >= 0) {
        calls_.close(descriptor_);
    }
    descriptor_ = -1;
    open_ = listens_ = false;
}

void ListeningSocket::let_go() noexcept {
    file_ = UnixSocketFile();
    if (acceptor_) {
        error_code ignored;
        acceptor_->release(ignored);
        acceptor_.reset();
    }
    descriptor_ = -1;
    open_ = listens_ = false;
}

// ---- opened here ----------------------------------------------------------------------------

ListeningSocket ListeningSocket::open(EventLoop& loop, const Endpoint& at,
                                      const ListeningOptions& options) {
    check_permissions(options.permissions);
    ListeningSocket made(loop, at, options);
    if (made.acceptor_) {
        made.prepare();
        made.bind();
    }
    made.open_ = true;
    return made;
}

void ListeningSocket::prepare() {
    namespace asio = boost::asio;
    error_code error;
    acceptor_->open(to_asio(local_).protocol(), error);
    if (error) fail(error.value());
    descriptor_ = acceptor_->native_handle();
    if (local_.is_ip()) {
        acceptor_->set_option(asio::socket_base::reuse_address(options_.reuse_address), error);
        // Linux hands it down to the accepted sockets: one call here instead of one for each.
        if (!error) acceptor_->set_option(asio::ip::tcp::no_delay(true), error);
        if (error) fail(error.value());
        const int on = options_.reuse_port ? 1 : 0;
        if (on && ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) {
            fail(errno);
        }
    }
    if (local_.family() == Endpoint::Family::ipv6) {
        acceptor_->set_option(asio::ip::v6_only(options_.v6_only), error);
        if (error) fail(error.value());
    }
    // The file is made with no more than these, less what the umask takes: it is never open wider,
    // not for a moment.
    if (is_path(local_) && options_.permissions >= 0 &&
        ::fchmod(descriptor_, static_cast<::mode_t>(options_.permissions)) != 0) {
        fail(errno);
    }
}

void ListeningSocket::bind() {
    const StreamProtocol::endpoint endpoint = to_asio(local_);
    error_code error;
    acceptor_->bind(endpoint, error);
    if (is_path(local_)) {
        const std::string path = local_.address();
        if (error.value() == EADDRINUSE) {
            const StaleSocketRemoval removal(path);
            if (removal.made_way()) acceptor_->bind(endpoint, error);
        }
        if (error) fail(error.value());
        try {
            file_ = UnixSocketFile(path, options_.permissions);
        } catch (const std::system_error& refused) {
            fail(refused.code().value());
        }
    }
    if (error) fail(error.value());
    local_ = from_asio(acceptor_->local_endpoint());
}

void ListeningSocket::listen() {
    if (!open_) fail(EBADF);
    if (listens_) return;
    if (acceptor_) {
        error_code error;
        acceptor_->listen(options_.backlog, error);
        if (error) fail(error.value());
    } else {
        descriptor_ = calls_.simulated()->listen(local_, options_.backlog);
        if (descriptor_ < 0) fail(errno);
        local_ = calls_.simulated()->local_endpoint(descriptor_);
    }
    listens_ = true;
}

void ListeningSocket::fail(int code) const { throw socket_error(code, "listen on", local_); }

// ---- opened by others -----------------------------------------------------------------------

ListeningSocket ListeningSocket::adopt(EventLoop& loop, int descriptor) {
    // What is no socket at all is no listening one either: std::invalid_argument, not ENOTSOCK.
    int listens = 0;
    ::socklen_t size = sizeof listens;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 &&
        errno != ENOTSOCK) {
        throw std::system_error(errno, std::system_category(),
                                "adopt: descriptor " + std::to_string(descriptor));
    }
    loop.service<TransportService>().watches.require_free("adopt", descriptor);
    if (!listens || option_of(descriptor, SO_TYPE) != SOCK_STREAM) {
        throw std::invalid_argument("adopt: descriptor " + std::to_string(descriptor) +
                                    " is no stream socket that listens");
    }
    ::sockaddr_storage address;
    size = sizeof address;
    if (::getsockname(descriptor, static_cast<::sockaddr*>(static_cast<void*>(&address)), &size) !=
        0) {
        throw std::system_error(errno, std::system_category(),
                                "adopt: descriptor " + std::to_string(descriptor));
    }
    ListeningSocket made(loop, Endpoint::from_sockaddr(&address, size), ListeningOptions());
    if (!made.acceptor_) {
        throw std::invalid_argument("adopt: descriptor " + std::to_string(descriptor) +
                                    " belongs to the system, and this loop to a network in memory");
    }
    set_flags(descriptor);
    if (made.local_.is_ip()) {
        const int on = 1;  // as open() has it; a protocol that does not know it can do without
        ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    error_code error;
    made.acceptor_->assign(
        StreamProtocol(option_of(descriptor, SO_DOMAIN), option_of(descriptor, SO_PROTOCOL)),
        descriptor, error);
    if (error) throw socket_error(error, "listen on", made.local_);
    made.descriptor_ = descriptor;
    made.open_ = made.listens_ = true;
    return made;
}

// ---- clients --------------------------------------------------------------------------------

int ListeningSocket::accept(Endpoint& peer) noexcept {
    if (SimulatedNetwork* const simulated = calls_.simulated()) {
        return simulated->accept(descriptor_, peer);
    }
    ::sockaddr_storage address;
    ::socklen_t size;
    int client;
    do {
        size = sizeof address;
        // Asio's accept would go on by itself after ECONNABORTED, waiting in a poll of its own.
        client = ::accept4(descriptor_, static_cast<::sockaddr*>(static_cast<void*>(&address)),
                           &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (client < 0 && errno == EINTR);
    if (client < 0) return -1;
    try {
        // The families are those of Endpoint: open() and adopt() see to that.
        peer = Endpoint::from_sockaddr(&address, size);
        return client;
    } catch (const std::exception&) {
        // Unless somebody has put another socket in the place of ours (dup2).
        ::close(client);
        errno = EPROTO;
        return -1;
    }
}

bool accept_error_concerns_one_client(int code) noexcept {
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

}  // namespace detail
}  // namespace net
}  // namespace reactor
