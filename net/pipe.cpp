// SPDX-License-Identifier: BSL-1.0
#include <net/detail/open_anew.hpp>
#include <net/detail/pipe_end.hpp>
#include <net/detail/stream_hand_over.hpp>
#include <net/detail/stream_receiver.hpp>
#include <net/detail/transport_service.hpp>
#include <net/detail/transport_state.hpp>
#include <net/pipe.hpp>

#include <cerrno>
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

using detail::PipeEnd;
using detail::TransportAccess;
using detail::TransportState;

namespace {

/// A descriptor that a program hands over, while it is looked at.
struct Given {
    const char* call;
    int descriptor;
    int flags;
    struct ::stat file;
};

[[noreturn]] void refuse(const Given& given, const std::string& why) {
    throw std::invalid_argument(std::string(given.call) + ": descriptor " +
                                std::to_string(given.descriptor) + ' ' + why);
}

[[noreturn]] void throw_errno(const Given& given) {
    const int code = errno;
    throw std::system_error(
        code, std::system_category(),
        std::string(given.call) + ": descriptor " + std::to_string(given.descriptor));
}

void look_at(Given& given, PipeEnd::Direction direction, const detail::SocketCalls& calls) {
    if (calls.simulates(given.descriptor)) {
        refuse(given, "is a socket of the network in memory: make_transport() takes it");
    }
    given.flags = ::fcntl(given.descriptor, F_GETFL);
    if (given.flags < 0 || ::fstat(given.descriptor, &given.file) != 0) throw_errno(given);
    const ::mode_t mode = given.file.st_mode;
    if (S_ISREG(mode) || S_ISDIR(mode) || S_ISBLK(mode)) {
        refuse(given, "is a file that is never waited for: run_in_executor() is for those");
    }
    if (S_ISSOCK(mode)) {
        int type = 0;
        ::socklen_t size = sizeof type;
        if (::getsockopt(given.descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
            throw_errno(given);
        }
        if (type != SOCK_STREAM) refuse(given, "is a socket without a stream");
        int listens = 0;
        size = sizeof listens;
        if (::getsockopt(given.descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 &&
            listens != 0) {
            refuse(given, "is a listening socket: Listener::adopt() takes it");
        }
    }
    const int access = given.flags & O_ACCMODE;
    if (direction == PipeEnd::read && access == O_WRONLY) refuse(given, "is open for writing only");
    if (direction == PipeEnd::write && access == O_RDONLY) {
        refuse(given, "is open for reading only");
    }
}

/// Puts an open file of its own under the number: others may have the one that is there.
bool replace(const Given& given) noexcept {
    const int own = detail::open_anew(given.descriptor, given.flags, given.file);
    if (own < 0) return false;
    const bool put = ::dup3(own, given.descriptor, O_CLOEXEC) == given.descriptor;
    ::close(own);
    return put;
}

void prepare(const Given& given) {
    if (!(given.flags & O_NONBLOCK)) {
        if (replace(given)) return;
        if (::fcntl(given.descriptor, F_SETFL, given.flags | O_NONBLOCK) != 0) throw_errno(given);
    }
    if (::fcntl(given.descriptor, F_SETFD, FD_CLOEXEC) != 0) throw_errno(given);
}

PipeEnd described(const Given& given, PipeEnd::Direction direction) {
    const ::mode_t mode = given.file.st_mode;
    const bool pipe = S_ISFIFO(mode);
    const char* const kind = pipe ? "pipe" : S_ISSOCK(mode) ? "socket" : "device";
    return PipeEnd{direction,
                   std::string(kind) + " at descriptor " + std::to_string(given.descriptor),
                   pipe || S_ISSOCK(mode)};
}

Promise<Transport> connect(const char* call, PipeEnd::Direction direction, EventLoop& loop,
                           int descriptor, std::unique_ptr<Protocol> protocol, const Here& here) {
    loop.core().check(call);
    if (!protocol) {
        throw std::invalid_argument(std::string(call) + ": the protocol is a null pointer");
    }
    Given given = Given();
    given.call = call;
    given.descriptor = descriptor;
    look_at(given, direction, loop.service<detail::TransportService>().calls);
    const Promise<Transport> promise = loop.create_promise<Transport>(here);
    const Transport transport = detail::pipe_transport(
        call, loop, descriptor, described(given, direction), std::move(protocol));
    Handle told;
    try {
        // Behind connection_made(), in the same batch.
        told = loop.call_soon(
            [](const Promise<Transport>& made, const Transport& value) {
                if (!made.done()) made.set_result(value);
            },
            promise, transport);
        prepare(given);  // last: a descriptor that is given back is as it was
    } catch (...) {
        told.cancel();
        TransportAccess::state(transport)->disown();
        throw;
    }
    return promise;
}

Promise<Stream> open(const char* call, PipeEnd::Direction direction, EventLoop& loop,
                     int descriptor, const Here& here) {
    loop.core().check(call);
    std::unique_ptr<detail::StreamReceiver> receiver(new detail::StreamReceiver(loop));
    detail::StreamHandOver hand_over(receiver->take_stream());
    return connect(call, direction, loop, descriptor, std::move(receiver), here)
        .then(std::move(hand_over), here);
}

}  // namespace

Promise<Transport> connect_read_pipe(EventLoop& loop, int descriptor,
                                     std::unique_ptr<Protocol> protocol, Here here) {
    return connect("connect_read_pipe", PipeEnd::read, loop, descriptor, std::move(protocol), here);
}

Promise<Transport> connect_write_pipe(EventLoop& loop, int descriptor,
                                      std::unique_ptr<Protocol> protocol, Here here) {
    return connect("connect_write_pipe", PipeEnd::write, loop, descriptor, std::move(protocol),
                   here);
}

Promise<Stream> open_read_pipe(EventLoop& loop, int descriptor, Here here) {
    return open("open_read_pipe", PipeEnd::read, loop, descriptor, here);
}

Promise<Stream> open_write_pipe(EventLoop& loop, int descriptor, Here here) {
    return open("open_write_pipe", PipeEnd::write, loop, descriptor, here);
}

}  // namespace net
}  // namespace reactor
