// SPDX-License-Identifier: BSL-1.0
#include <test/soak/ledger.hpp>

#include <net/connect.hpp>
#include <reactor/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace soak {

namespace {

std::size_t index(Side side) noexcept { return side == Side::client ? 0 : 1; }
const char* name(Side side) noexcept { return side == Side::client ? "client" : "server"; }

bool is_out_of_descriptors(const std::exception_ptr& error) {
    const std::error_code none(EMFILE, std::system_category());
    try {
        std::rethrow_exception(error);
    } catch (const reactor::net::ConnectError& e) {
        return std::any_of(e.attempts.begin(), e.attempts.end(),
                           [&](const std::system_error& one) { return one.code() == none; });
    } catch (const std::system_error& e) {
        return e.code() == none;
    } catch (...) {
        return false;
    }
}

}  // namespace

std::string text(const std::exception_ptr& error) {
    if (!error) return std::string();
    try {
        std::rethrow_exception(error);
    } catch (const reactor::CancelledError& e) {
        return std::string("cancelled ") + e.what();
    } catch (const std::exception& e) {
        return e.what();
    } catch (...) {
        return "an error of an unknown type";
    }
}

std::string text(const Plan& plan) {
    static const char* const endings[] = {"server closes", "client closes", "half-close",
                                          "refusal"};
    static const char* const strikes[] = {"",
                                          ", client resets",
                                          ", client closes",
                                          ", client cancels",
                                          ", server resets",
                                          ", server closes"};
    return "connection " + std::to_string(plan.id) + " (" + (plan.streams ? "stream" : "protocol") +
           " to site " + std::to_string(plan.site) + ", " + std::to_string(plan.up) + " up, " +
           std::to_string(plan.down) + " down, " + endings[static_cast<int>(plan.ending)] +
           (plan.at_once ? ", at once" : "") + (plan.from_file ? ", from a file" : "") +
           (plan.slow ? ", slow" : "") + strikes[static_cast<int>(plan.strike)] + ")";
}

Ledger::~Ledger() {
    for (auto& entry : entries_) entry.second.strike.cancel();
}

void Ledger::fault(const std::string& text) {
    ++faults_;
    // The first ones tell; of a soak in which all goes wrong nobody reads a million.
    if (faults_ <= 50) std::fprintf(stderr, "soak: FAULT: %s\n", text.c_str());
}

// ---- clients and servers --------------------------------------------------------------------

void Ledger::begin(const Plan& plan) {
    ++totals.begun;
    Entry& entry = entries_.emplace(plan.id, Entry(plan)).first->second;
    entry.disturbed = down_.count(plan.site) != 0;
    entry.shortage = in_shortage_;
    if (plan.strike != Strike::none) {
        entry.strike = loop_.call_later(plan.strike_after, &Ledger::strike, this, plan.id);
    }
}

const Plan* Ledger::find(std::uint64_t id) const {
    const auto found = entries_.find(id);
    return found == entries_.end() ? nullptr : &found->second.plan;
}

bool Ledger::join(std::uint64_t id, Side side, Party& party) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return false;
    Entry& entry = found->second;
    const bool again = side == Side::server && entry.parties[index(side)];
    if (again || entry.over[index(side)]) {
        fault(text(entry.plan) + " has two " + name(side) + "s");
    }
    entry.parties[index(side)] = &party;
    return true;
}

void Ledger::check(const Plan& plan, Side receiver, std::uint64_t before,
                   reactor::net::ByteView bytes) {
    totals.bytes += bytes.size();
    const Content& content = receiver == Side::client ? plan.downward : plan.upward;
    const std::uint64_t most = receiver == Side::client ? plan.down : plan.up;
    const std::size_t wrong = content.first_fault(before, bytes);
    if (wrong != bytes.size()) {
        fault(text(plan) + ": the " + name(receiver) + " has received a wrong byte at offset " +
              std::to_string(before + wrong));
    }
    if (before + bytes.size() > most) {
        fault(text(plan) + ": the " + name(receiver) + " has received more than was sent");
    }
}

void Ledger::leave(const Plan& plan, Side side, std::uint64_t received,
                   const std::exception_ptr& error) {
    const auto found = entries_.find(plan.id);
    if (found == entries_.end()) return;  // it was struck before it was heard
    Entry& entry = found->second;
    entry.parties[index(side)] = nullptr;
    entry.over[index(side)] = true;
    entry.received[index(side)] = received;
    entry.errors[index(side)] = text(error);
    settle(found);
}

void Ledger::not_connected(std::uint64_t id, const std::exception_ptr& error) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    ++totals.not_connected;
    const Entry& entry = found->second;
    const bool wanting = entry.shortage && is_out_of_descriptors(error);
    if (!entry.struck && !entry.disturbed && !wanting) {
        fault(text(entry.plan) + " was not made: " + text(error));
    }
    found->second.strike.cancel();
    entries_.erase(found);
}

void Ledger::settle(Entries::iterator entry) {
    Entry& e = entry->second;
    const bool excused = e.struck || e.disturbed;
    // A client that is excused may be gone before its server has heard of it.
    const bool unheard = !e.over[1] && !e.parties[1];
    if (!e.over[0] || (!e.over[1] && !(excused && unheard))) return;
    judge(e);
    e.strike.cancel();
    entries_.erase(entry);
}

void Ledger::judge(const Entry& entry) {
    if (entry.struck || entry.disturbed) {
        ++(entry.struck ? totals.struck : totals.cut);
        return;
    }
    ++totals.whole;
    for (const Side side : both_sides) {
        const std::string& error = entry.errors[index(side)];
        if (!error.empty()) {
            fault(text(entry.plan) + ": the " + name(side) + " has seen an error: " + error);
        }
    }
    const Plan& plan = entry.plan;
    const bool refused = plan.ending == Ending::refusal;
    const std::uint64_t least[] = {plan.down, refused ? plan.refuse_at : plan.up};
    for (const Side side : both_sides) {
        if (entry.received[index(side)] >= least[index(side)]) continue;
        fault(text(plan) + ": the " + name(side) + " has received " +
              std::to_string(entry.received[index(side)]) + " bytes only");
    }
}

// ---- what disturbs them ---------------------------------------------------------------------

void Ledger::strike(std::uint64_t id) {
    const auto found = entries_.find(id);
    if (found == entries_.end()) return;
    Entry& entry = found->second;
    const Strike strike = entry.plan.strike;
    const bool by_server = strike == Strike::server_resets || strike == Strike::server_closes;
    Party* const party = entry.parties[by_server ? 1 : 0];
    if (!party) return;  // not there yet, or gone: it goes on in peace
    entry.struck = true;
    switch (strike) {
        case Strike::none:
            break;
        case Strike::client_resets:
        case Strike::server_resets:
            party->be_reset();
            break;
        case Strike::client_closes:
        case Strike::server_closes:
            party->be_closed();
            break;
        case Strike::client_cancels:
            ++totals.cancelled;
            party->be_cancelled();
            break;
    }
}

void Ledger::site_down(std::size_t site) {
    down_.insert(site);
    for (auto& entry : entries_) {
        Entry& e = entry.second;
        if (e.plan.site == site && !e.parties[1] && !e.over[1]) e.disturbed = true;
    }
}

void Ledger::site_cuts(std::size_t site) {
    for (auto& entry : entries_) {
        if (entry.second.plan.site == site) entry.second.disturbed = true;
    }
}

void Ledger::site_up(std::size_t site) { down_.erase(site); }

void Ledger::shortage(bool begins) {
    in_shortage_ = begins;
    if (!begins) return;
    ++totals.shortages;
    for (auto& entry : entries_) entry.second.shortage = true;
}

std::string Ledger::open_ones() const {
    std::string words;
    std::size_t told = 0;
    for (const auto& entry : entries_) {
        if (++told > 10) return words + "\n  …";
        const Entry& e = entry.second;
        words += "\n  " + text(e.plan);
        for (const Side side : both_sides) {
            words += std::string(", ") + name(side) +
                     (e.over[index(side)]      ? " over"
                      : e.parties[index(side)] ? " there"
                                               : " not there");
        }
    }
    return words;
}

}  // namespace soak
