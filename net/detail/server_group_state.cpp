// SPDX-License-Identifier: BSL-1.0
#include <net/detail/server_group_state.hpp>
#include <net/detail/server_site.hpp>
#include <net/detail/server_state.hpp>
#include <net/detail/transport_service.hpp>
#include <net/server_options.hpp>
#include <reactor/detail/inbox.hpp>
#include <reactor/error.hpp>

#include <algorithm>
#include <utility>

#include <unistd.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

/// On any thread; the loop that runs there, if one does, may have waited for a descriptor.
void close_here(int descriptor) noexcept {
    EventLoop* const loop = running_loop();
    TransportService* const service = loop ? loop->service_if_made<TransportService>() : nullptr;
    if (service) {
        service->close(descriptor);
    } else {
        ::close(descriptor);
    }
}

/// A client on its way from the loop that has accepted it. Closed if it does not arrive.
struct HandedClient {
    HandedClient(std::shared_ptr<ServerGroupState> to, int number, const Endpoint& from)
        : group(std::move(to)), descriptor(number), peer(from) {}
    HandedClient(const HandedClient&) = delete;
    HandedClient& operator=(const HandedClient&) = delete;
    ~HandedClient() {
        if (descriptor < 0) return;
        close_here(descriptor);
        if (seated) group->leave(index);
    }

    void arrive() {
        ServerSite* const site = ServerSites::find(get_running_loop(), group.get());
        if (!site) return;
        const int number = descriptor;
        descriptor = -1;
        ServerAccess::state(site->server).take(number, peer);
    }

    const std::shared_ptr<ServerGroupState> group;
    int descriptor;
    const Endpoint peer;
    std::size_t index = 0;
    bool seated = false;
};

}  // namespace

ServerGroupState::ServerGroupState(std::vector<Poster> loops, bool in_turn, std::size_t most)
    : loops_(std::move(loops)), in_turn_(in_turn), most_(most), seats_(loops_.size()) {}

bool ServerGroupState::has_room() const noexcept {
    return std::any_of(seats_.begin(), seats_.end(), [this](const Seats& seats) {
        return !seats.ended.load() && seats.taken.load() < most_;
    });
}

bool ServerGroupState::is_full() noexcept {
    if (most_ == ServerOptions::no_limit || has_room()) return false;
    // Looks again afterwards: who leaves meanwhile sees the wish, or is seen here.
    wanted_.store(true);
    return !has_room();
}

void ServerGroupState::give(const std::shared_ptr<ServerGroupState>& self, int descriptor,
                            const Endpoint& peer) {
    std::shared_ptr<HandedClient> client;
    try {
        client = std::make_shared<HandedClient>(self, descriptor, peer);
    } catch (...) {
        close_here(descriptor);
        throw;
    }
    bool full = false;
    for (std::size_t tries = 0; tries < self->size(); ++tries) {
        const std::size_t index = self->turn_;
        self->turn_ = (index + 1) % self->size();
        Seats& seats = self->seats_[index];
        // Nobody else takes seats: what is free stays free.
        if (seats.ended.load()) continue;
        if (seats.taken.load() >= self->most_) {
            full = true;
            continue;
        }
        seats.taken.fetch_add(1);
        client->index = index;
        client->seated = true;
        if (self->loops_[index].post([client] { client->arrive(); })) return;
        client->seated = false;
        self->loop_ends(index);
    }
    throw StateError(full ? "no loop of the group takes it: one has ended just now, and the others "
                            "are full"
                          : "no loop of the group takes it: they have ended");
}

void ServerGroupState::leave(std::size_t index) noexcept {
    seats_[index].taken.fetch_sub(1);
    if (most_ == ServerOptions::no_limit || !wanted_.exchange(false)) return;
    try {
        // Only a name by now, if the group has gone.
        const ServerGroupState* const group = this;
        loops_.front().post([group] {
            ServerSite* const site = ServerSites::find(get_running_loop(), group);
            if (site && site->acceptor) ServerAccess::state(site->acceptor).room_again();
        });
    } catch (...) {
        wanted_.store(true);  // the next one that leaves tells it
        reactor::detail::log_undelivered("That a ServerGroup has room");
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
