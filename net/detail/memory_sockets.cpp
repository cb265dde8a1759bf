// SPDX-License-Identifier: BSL-1.0
#include <net/detail/memory_sockets.hpp>
#include <reactor/selector.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

int refuse(int code) noexcept {
    errno = code;
    return -1;
}

}  // namespace

MemorySockets::MemorySockets(std::shared_ptr<MemoryWorld> world)
    // A socket, which has an inode of its own: see is_placeholder().
    : world_(std::move(world)),
      placeholder_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    struct ::stat made;
    if (placeholder_ < 0 || ::fstat(placeholder_, &made) != 0) {
        throw std::system_error(errno, std::system_category(), "MemoryNetwork: socket");
    }
    device_ = made.st_dev;
    inode_ = made.st_ino;
}

MemorySockets::~MemorySockets() {
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
        const int descriptor = static_cast<int>(i);
        if (sockets_[i] && is_placeholder(descriptor)) ::close(descriptor);
    }
    if (placeholder_ >= 0) ::close(placeholder_);
}

// ---- descriptors ----------------------------------------------------------------------------

MemorySockets::Socket* MemorySockets::find(int descriptor) const noexcept {
    const auto index = static_cast<std::size_t>(descriptor);
    return descriptor >= 0 && index < sockets_.size() ? sockets_[index].get() : nullptr;
}

bool MemorySockets::is_placeholder(int descriptor) const noexcept {
    struct ::stat found;
    return ::fstat(descriptor, &found) == 0 && found.st_dev == device_ && found.st_ino == inode_;
}

/// After the end a test has nothing but ::close() for what it holds, and the number may be that of
/// anything then.
bool MemorySockets::owns(int descriptor) const noexcept {
    return find(descriptor) && (!world_->over() || is_placeholder(descriptor));
}

MemorySockets::Socket* MemorySockets::end_of(int descriptor) const noexcept {
    Socket* const socket = find(descriptor);
    if (socket && !world_->over()) {
        if (socket->link) return socket;
        errno = ENOTCONN;
    } else {
        errno = socket ? ENETDOWN : EBADF;
    }
    return nullptr;
}

MemorySockets::Socket* MemorySockets::open(int& descriptor, unsigned id) {
    if (world_->over()) {
        errno = ENETDOWN;
        return nullptr;
    }
    descriptor = -1;
    if (world_->counters.open_sockets < world_->options.most_sockets) {
        descriptor = ::fcntl(placeholder_, F_DUPFD_CLOEXEC, 0);
    } else {
        errno = EMFILE;
    }
    if (descriptor < 0) {
        const int code = errno;
        world_->note(std::string("no socket: ") + std::strerror(code));
        errno = code;
        return nullptr;
    }
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= sockets_.size()) sockets_.resize(index + 1);
    if (sockets_[index]) {
        // Somebody has closed it by ::close(), as no system would let it.
        world_->note('#' + std::to_string(sockets_[index]->id) + " was closed behind our back");
        sockets_[index].reset();
    } else {
        ++world_->counters.open_sockets;
    }
    sockets_[index].reset(new Socket());
    sockets_[index]->id = id != 0 ? id : ++last_id_;
    return sockets_[index].get();
}

void MemorySockets::shut(int descriptor) noexcept {
    sockets_[static_cast<std::size_t>(descriptor)].reset();
    --world_->counters.open_sockets;
    ::close(descriptor);
}

std::pair<int, int> MemorySockets::pair(MemoryLink::Kind kind) {
    const LinkPointer link = std::make_shared<MemoryLink>(*world_, kind);
    int descriptors[2];
    for (const int side : {0, 1}) {
        Socket* const socket = open(descriptors[side]);
        if (!socket) {
            const int code = errno;
            if (side == 1) close(descriptors[0]);
            throw std::system_error(code, std::system_category(), "MemoryNetwork::pair");
        }
        MemoryLink::End& end = link->end(side);
        end.id = socket->id;
        end.open = true;
        end.local = kind == MemoryLink::Kind::local
                        ? unnamed()
                        : Endpoint("127.0.0.1", free_port(Endpoint::Family::ipv4));
        socket->link = link;
        socket->side = side;
    }
    ++world_->counters.connections;
    world_->note('#' + std::to_string(link->end(0).id) + " and #" +
                 std::to_string(link->end(1).id) + " are a pair");
    return std::make_pair(descriptors[0], descriptors[1]);
}

// ---- calls ----------------------------------------------------------------------------------

::ssize_t MemorySockets::receive(int descriptor, char* room, std::size_t size) noexcept {
    Socket* const socket = end_of(descriptor);
    return socket ? socket->link->receive(socket->side, room, size) : -1;
}

::ssize_t MemorySockets::send(int descriptor, const ::iovec* pieces, std::size_t count) noexcept {
    Socket* const socket = end_of(descriptor);
    return socket ? socket->link->send(socket->side, pieces, count) : -1;
}

int MemorySockets::end_sending(int descriptor) noexcept {
    Socket* const socket = end_of(descriptor);
    return socket ? socket->link->end_sending(socket->side) : -1;
}

int MemorySockets::reset_on_close(int descriptor) noexcept {
    Socket* const socket = end_of(descriptor);
    if (!socket) return -1;
    socket->link->end(socket->side).reset_on_close = true;
    return 0;
}

int MemorySockets::close(int descriptor) noexcept {
    Socket* const socket = find(descriptor);
    if (!socket) return refuse(EBADF);
    if (!world_->over()) {
        if (socket->link) {
            socket->link->close(socket->side);
        } else if (const std::shared_ptr<Listener> listener = socket->listener) {
            world_->note('#' + std::to_string(socket->id) + " closes");
            listeners_.erase(listener->at);
            for (const LinkPointer& link : listener->waiting) {
                link->end(1).reset_on_close = true;
                link->close(1);
                if (link->kind() == MemoryLink::Kind::local) link->end(0).error = ECONNRESET;
            }
            listener->waiting.clear();
        }
    }
    shut(descriptor);
    return 0;
}

Endpoint MemorySockets::local_endpoint(int descriptor) noexcept {
    Socket* const socket = find(descriptor);
    if (!socket) {
        errno = EBADF;
        return Endpoint();
    }
    return socket->link ? socket->link->end(socket->side).local : socket->listener->at;
}

Endpoint MemorySockets::remote_endpoint(int descriptor) noexcept {
    Socket* const socket = end_of(descriptor);
    if (!socket) return Endpoint();
    const MemoryLink::End& mine = socket->link->end(socket->side);
    // A Unix socket remembers a peer that has gone.
    if (mine.connecting || (mine.over && socket->link->kind() == MemoryLink::Kind::tcp)) {
        errno = ENOTCONN;
        return Endpoint();
    }
    return socket->link->end(1 - socket->side).local;
}

// ---- what a selector asks -------------------------------------------------------------------

void MemorySockets::look(TimePoint now, const std::vector<Watch>& watched,
                         std::vector<SelectorEvent>& ready) {
    world_->run_due();
    // In the order in which they were opened: their numbers depend on what else the process has.
    std::vector<std::pair<Socket*, const Watch*>> sockets;
    for (const Watch& watch : watched) {
        if (Socket* const socket = find(watch.fd)) sockets.emplace_back(socket, &watch);
    }
    std::sort(sockets.begin(), sockets.end(),
              [](const std::pair<Socket*, const Watch*>& a,
                 const std::pair<Socket*, const Watch*>& b) { return a.first->id < b.first->id; });

    const std::size_t before = ready.size();
    for (const auto& one : sockets) {
        Socket& socket = *one.first;
        unsigned bits = 0;
        if (socket.link) {
            bits = socket.link->ready(socket.side);
        } else if (!socket.listener->waiting.empty()) {
            bits = Interest::read;
        }
        bits &= one.second->interest;
        // Once in an instant, or time would not pass.
        if (bits == 0 && socket.last_spurious != now &&
            world_->random.chance(world_->options.spurious_events)) {
            socket.last_spurious = now;
            bits = one.second->interest;
            world_->note('#' + std::to_string(socket.id) + " is called ready, and is not");
        }
        if (bits != 0) ready.push_back({one.second->token, bits});
    }
    if (!world_->options.shuffled_events) return;
    for (std::size_t left = ready.size() - before; left > 1; --left) {
        std::swap(ready[before + left - 1], ready[before + world_->random.below(left)]);
    }
}

// ---- what a test asks -----------------------------------------------------------------------

void MemorySockets::fail_accepts(int code, std::size_t times) {
    accept_failures_.insert(accept_failures_.end(), times, code);
}

void MemorySockets::reset(int descriptor) {
    Socket* const socket = end_of(descriptor);
    if (!socket) throw std::invalid_argument("MemoryNetwork::reset: this is no connection in here");
    socket->link->reset_both();
}

void MemorySockets::silence(int descriptor) {
    Socket* const socket = end_of(descriptor);
    if (!socket || socket->link->kind() != MemoryLink::Kind::tcp) {
        throw std::invalid_argument("MemoryNetwork::silence: this is no TCP connection in here");
    }
    world_->note('#' + std::to_string(socket->id) + " is cut off");
    socket->link->silence();
}

std::string MemorySockets::list() const {
    std::vector<const Socket*> sockets;
    for (const auto& socket : sockets_) {
        if (socket) sockets.push_back(socket.get());
    }
    std::sort(sockets.begin(), sockets.end(),
              [](const Socket* a, const Socket* b) { return a->id < b->id; });
    std::string text;
    for (const Socket* const socket : sockets) {
        text += '#' + std::to_string(socket->id) + ' ';
        if (socket->listener) {
            text += socket->listener->at.str() + " listens\n";
            continue;
        }
        const MemoryLink::End& mine = socket->link->end(socket->side);
        const MemoryLink::End& other = socket->link->end(1 - socket->side);
        text += mine.local.str() + (mine.connecting ? " connects to " : " to ");
        text += other.local.str();
        if (other.id != 0) text += " (#" + std::to_string(other.id) + ')';
        text += '\n';
    }
    return text;
}

void MemorySockets::end() noexcept {
    world_->end();
    listeners_.clear();
    ::close(placeholder_);
    placeholder_ = -1;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
