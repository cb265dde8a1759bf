// SPDX-License-Identifier: BSL-1.0
#include <net/detail/server_group_state.hpp>
#include <net/detail/server_service.hpp>
#include <net/detail/server_site.hpp>
#include <net/detail/server_state.hpp>

#include <utility>

namespace reactor {
namespace net {
namespace detail {

void ServerSite::stop_accepting() {
    // What serving a client calls may end the group, and this site.
    ServerState& state = ServerAccess::state(listening());
    const ServerState::Keep keep(state);
    state.accept_waiting();
    state.close();
}

ServerSites::ServerSites(EventLoop& loop) {
    // Made before, so destroyed after the servers.
    loop.service<ServerService>();
}

ServerSites::~ServerSites() {
    for (const auto& one : sites_) one.second.group->loop_ends(one.second.index);
}

ServerSite* ServerSites::find(EventLoop& loop, const ServerGroupState* group) {
    ServerSites* const all = loop.service_if_made<ServerSites>();
    if (!all) return nullptr;
    const auto found = all->sites_.find(group);
    return found == all->sites_.end() ? nullptr : &found->second;
}

void ServerSites::add(ServerSite site) {
    const ServerGroupState* const group = site.group.get();
    sites_.emplace(group, std::move(site));
}

void ServerSites::remove(EventLoop& loop, const ServerGroupState* group) {
    ServerSite* const site = find(loop, group);
    if (!site) return;
    site->ended = true;
    if (site->holds == 0) loop.service<ServerSites>().erase(group);
}

void ServerSites::hold(EventLoop& loop, const ServerGroupState* group) {
    if (ServerSite* const site = find(loop, group)) ++site->holds;
}

void ServerSites::release(EventLoop& loop, const ServerGroupState* group) {
    ServerSite* const site = find(loop, group);
    if (site && --site->holds == 0 && site->ended) loop.service<ServerSites>().erase(group);
}

void ServerSites::erase(const ServerGroupState* group) {
    const auto found = sites_.find(group);
    // Out of the table first: what a factory has captured may do anything when it goes.
    const ServerSite gone = std::move(found->second);
    sites_.erase(found);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
