// SPDX-License-Identifier: BSL-1.0
#include <net/detail/memory_sockets.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include <sys/socket.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

// Linux's: a client asks again after 1, 2, 4, … seconds, six times (net.ipv4.tcp_syn_retries).
constexpr Duration first_pause = std::chrono::seconds(1);
constexpr int last_attempt = 6;

// As SocketState has it.
constexpr Duration first_local_pause = std::chrono::milliseconds(1);
constexpr Duration longest_local_pause = std::chrono::milliseconds(100);

// Linux's net.ipv4.ip_local_port_range.
constexpr std::uint16_t first_port = 32768;
constexpr std::uint16_t last_port = 60999;

int refuse(int code) noexcept {
    errno = code;
    return -1;
}

std::string name(unsigned id) { return '#' + std::to_string(id); }

}  // namespace

// ---- addresses ------------------------------------------------------------------------------

Endpoint MemorySockets::unnamed() {
    const ::sa_family_t family = AF_UNIX;
    return Endpoint::from_sockaddr(&family, sizeof family);
}

bool MemorySockets::is_any(const Endpoint& at) {
    return at.is_ip() && at.address() == (at.family() == Endpoint::Family::ipv4 ? "0.0.0.0" : "::");
}

const std::shared_ptr<MemorySockets::Listener>* MemorySockets::find_listener(
    const Endpoint& at) const {
    auto found = listeners_.find(at);
    if (found == listeners_.end() && at.is_ip()) {
        const bool v4 = at.family() == Endpoint::Family::ipv4;
        found = listeners_.find(Endpoint(v4 ? "0.0.0.0" : "::", at.port()));
    }
    return found == listeners_.end() ? nullptr : &found->second;
}

/// Whether a listener there would get clients of another one.
bool MemorySockets::occupied(const Endpoint& at) const {
    if (!is_any(at)) return find_listener(at) != nullptr;
    return std::any_of(listeners_.begin(), listeners_.end(),
                       [&](const std::pair<const Endpoint, std::shared_ptr<Listener>>& other) {
                           return other.first.family() == at.family() &&
                                  other.first.port() == at.port();
                       });
}

/// One after the other; those that somebody listens on are left out.
std::uint16_t MemorySockets::free_port(Endpoint::Family family) {
    for (;;) {
        last_port_ = last_port_ < first_port || last_port_ >= last_port
                         ? first_port
                         : static_cast<std::uint16_t>(last_port_ + 1);
        const std::uint16_t port = last_port_;
        if (std::none_of(listeners_.begin(), listeners_.end(),
                         [&](const std::pair<const Endpoint, std::shared_ptr<Listener>>& other) {
                             return other.first.family() == family && other.first.port() == port;
                         })) {
            return port;
        }
    }
}

/// Of a client: loopback for loopback, and else the one address that this host has outside
/// (RFC 5737, RFC 3849).
Endpoint MemorySockets::local_for(const Endpoint& to, const Endpoint& from) {
    if (!from.empty() && (from.port() != 0 || !from.is_ip())) return from;
    if (!to.is_ip()) return unnamed();
    const bool v4 = to.family() == Endpoint::Family::ipv4;
    const std::string there = to.address();
    const bool inside = v4 ? there.compare(0, 4, "127.") == 0 : there == "::1";
    const std::string address = !from.empty() ? from.address()
                                : v4          ? (inside ? "127.0.0.1" : "192.0.2.200")
                                              : (inside ? "::1" : "2001:db8::200");
    return Endpoint(address, free_port(to.family()));
}

/// What stands in the way of connects to it: an errno, 0 if they are not answered; -1 if nothing.
int MemorySockets::obstruction(const Endpoint& to) const {
    auto found = obstructed_.find(to);
    if (found == obstructed_.end()) found = obstructed_.find(to.with_port(0));
    return found == obstructed_.end() ? -1 : found->second;
}

// ---- listening ------------------------------------------------------------------------------

int MemorySockets::listen(const Endpoint& at, int backlog) noexcept {
    if (at.empty()) return refuse(EAFNOSUPPORT);
    const Endpoint here = at.is_ip() && at.port() == 0 ? at.with_port(free_port(at.family())) : at;
    if (occupied(here)) return refuse(EADDRINUSE);
    int descriptor;
    Socket* const socket = open(descriptor);
    if (!socket) return -1;
    socket->listener = std::make_shared<Listener>();
    socket->listener->at = here;
    // Linux takes one more than it was told.
    socket->listener->most = static_cast<std::size_t>(std::max(backlog, 0)) + 1;
    listeners_[here] = socket->listener;
    world_->note(name(socket->id) + " listens on " + here.str());
    return descriptor;
}

int MemorySockets::accept_failure(Listener& listener) {
    int code = 0;
    if (!accept_failures_.empty()) {
        code = accept_failures_.front();
        accept_failures_.pop_front();
    } else if (world_->random.chance(world_->options.failing_accepts)) {
        constexpr int codes[] = {ECONNABORTED, EMFILE, ENFILE};
        code = codes[world_->random.below(3)];
    }
    if (code == ECONNABORTED) {
        const LinkPointer link = listener.waiting.front();
        listener.waiting.pop_front();
        link->end(1).reset_on_close = true;
        link->close(1);
    }
    return code;
}

int MemorySockets::accept(int descriptor, Endpoint& peer) noexcept {
    Socket* const socket = find(descriptor);
    if (!socket || world_->over()) return refuse(socket ? ENETDOWN : EBADF);
    if (!socket->listener) return refuse(EINVAL);
    const std::shared_ptr<Listener> listener = socket->listener;
    const unsigned id = socket->id;
    if (listener->waiting.empty()) return refuse(EAGAIN);
    if (const int code = accept_failure(*listener)) {
        world_->note(name(id) + " accepts: " + std::strerror(code));
        return refuse(code);
    }
    const LinkPointer link = listener->waiting.front();
    int accepted;
    Socket* const fresh = open(accepted, link->end(1).id);
    if (!fresh) return -1;
    listener->waiting.pop_front();
    fresh->link = link;
    fresh->side = 1;
    peer = link->end(0).local;
    world_->note(name(id) + " accepts " + name(fresh->id) + ", the peer of " +
                 name(link->end(0).id));
    return accepted;
}

// ---- connecting -----------------------------------------------------------------------------

int MemorySockets::connect_error(int descriptor) noexcept {
    Socket* const socket = end_of(descriptor);
    if (!socket) return errno;
    return socket->link->end(socket->side).connecting ? EINPROGRESS
                                                      : socket->link->take_error(socket->side);
}

/// Null, and errno: there is no descriptor left.
MemorySockets::LinkPointer MemorySockets::begin_connect(MemoryLink::Kind kind, const Endpoint& to,
                                                        const Endpoint& from, int& descriptor) {
    Socket* const socket = open(descriptor);
    if (!socket) return nullptr;
    socket->link = std::make_shared<MemoryLink>(*world_, kind);
    MemoryLink::End& client = socket->link->end(0);
    client.id = socket->id;
    client.open = client.connecting = true;
    client.local = local_for(to, from);
    socket->link->end(1).local = to;
    return socket->link;
}

int MemorySockets::connect(const Endpoint& to, const Endpoint& from) noexcept {
    if (to.empty()) return refuse(EAFNOSUPPORT);
    if (!from.empty() && from.family() != to.family()) return refuse(EINVAL);
    if (!to.is_ip()) return connect_local(to, from);
    int descriptor;
    const LinkPointer link = begin_connect(MemoryLink::Kind::tcp, to, from, descriptor);
    if (!link) return -1;
    const MemoryLink::End& client = link->end(0);
    world_->note(name(client.id) + " connects from " + client.local.str() + " to " + to.str());
    world_->at(world_->now() + world_->latency(), [this, link, to] { knock(link, to, 0); });
    return descriptor;
}

/// Nothing takes time.
int MemorySockets::connect_local(const Endpoint& to, const Endpoint& from) {
    const int code = obstruction(to);
    if (code > 0) return refuse(code);
    // A path would be there without a listener only if its server had died.
    if (!find_listener(to)) return refuse(to.is_abstract() ? ECONNREFUSED : ENOENT);
    int descriptor;
    const LinkPointer link = begin_connect(MemoryLink::Kind::local, to, from, descriptor);
    if (!link) return -1;
    world_->note(name(link->end(0).id) + " connects to " + to.str());
    knock_locally(link, to, first_local_pause);
    return descriptor;
}

/// A full backlog has a client ask again and again, as nothing would tell it.
void MemorySockets::knock_locally(const LinkPointer& link, const Endpoint& to, Duration pause) {
    if (!link->end(0).open) return;
    const std::shared_ptr<Listener>* const found = find_listener(to);
    if (!found) {
        link->fail(0, ECONNREFUSED);
    } else if (full(**found)) {
        world_->at(world_->now() + pause, [this, link, to, pause] {
            knock_locally(link, to, std::min(pause * 2, longest_local_pause));
        });
    } else {
        link->end(0).connecting = false;
        enqueue(std::shared_ptr<Listener>(*found), link);
    }
}

/// A SYN arrives.
void MemorySockets::knock(const LinkPointer& link, const Endpoint& to, int attempt) {
    MemoryLink::End& client = link->end(0);
    if (!client.open || client.over) return;
    const int obstructed = link->silent() ? 0 : obstruction(to);
    const std::shared_ptr<Listener>* const found = find_listener(to);
    if (obstructed > 0) {
        refuse_later(link, to, attempt, obstructed);
    } else if (obstructed < 0 &&
               (!found || world_->random.chance(world_->options.refused_connects))) {
        refuse_later(link, to, attempt, ECONNREFUSED);
    } else if (obstructed < 0 && !full(**found)) {
        answer(link, to, attempt, *found);
    } else if (obstructed < 0 && world_->options.refuse_when_full) {
        refuse_later(link, to, attempt, ECONNREFUSED);
    } else {
        ask_again(link, to, attempt);
    }
}

void MemorySockets::ask_again(const LinkPointer& link, const Endpoint& to, int attempt) {
    world_->note(name(link->end(0).id) + " gets no answer");
    const Duration pause = first_pause * (1 << attempt);
    world_->at(world_->now() + pause, [this, link, to, attempt] {
        if (attempt < last_attempt) {
            knock(link, to, attempt + 1);
        } else {
            link->fail(0, ETIMEDOUT);
        }
    });
}

void MemorySockets::refuse_later(const LinkPointer& link, const Endpoint& to, int attempt,
                                 int code) {
    world_->at(world_->now() + world_->latency(), [this, link, to, attempt, code] {
        if (link->silent()) {
            ask_again(link, to, attempt);
        } else {
            link->fail(0, code);
        }
    });
}

/// The handshake: the client is connected one way later, the server gets to know two ways later.
void MemorySockets::answer(const LinkPointer& link, const Endpoint& to, int attempt,
                           const std::shared_ptr<Listener>& listener) {
    ++listener->expected;
    const TimePoint connected = world_->now() + world_->latency();
    const TimePoint accepted = connected + world_->latency();
    link->hold_back(1, accepted);
    world_->at(connected, [this, link, to, attempt] {
        MemoryLink::End& client = link->end(0);
        if (!client.open || client.over) {
            link->end(1).over = true;  // given up meanwhile: the answer meets nobody
            return;
        }
        if (link->silent()) {
            ask_again(link, to, attempt);
            return;
        }
        client.connecting = false;
        world_->note(name(client.id) + " is connected");
    });
    world_->at(accepted, [this, link, listener] {
        --listener->expected;
        if (!link->end(1).over && !link->silent()) enqueue(listener, link);
    });
}

void MemorySockets::enqueue(const std::shared_ptr<Listener>& listener, const LinkPointer& link) {
    MemoryLink::End& server = link->end(1);
    server.id = ++last_id_;
    const auto found = listeners_.find(listener->at);
    if (found == listeners_.end() || found->second != listener) {
        server.reset_on_close = true;
        link->close(1);
        return;
    }
    server.open = true;
    ++world_->counters.connections;
    listener->waiting.push_back(link);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
