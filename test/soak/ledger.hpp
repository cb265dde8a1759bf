// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SOAK_LEDGER_HPP
#define REACTOR_TEST_SOAK_LEDGER_HPP

#include <net/byte_view.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/handle.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <set>
#include <string>

#include <test/soak/plan.hpp>

namespace soak {

enum class Side { client, server };
constexpr Side both_sides[] = {Side::client, Side::server};

/// One end of a connection, as far as others do something to it.
class Party {
public:
    Party() = default;
    Party(const Party&) = delete;
    Party& operator=(const Party&) = delete;
    /// Each may come at any time, also when it closes already.
    virtual void be_reset() = 0;
    virtual void be_closed() = 0;
    virtual void be_cancelled() = 0;

protected:
    ~Party() = default;
};

/// What has happened so far, in figures. A value.
struct Totals {
    std::uint64_t begun = 0, whole = 0, struck = 0, cut = 0, not_connected = 0;
    std::uint64_t cancelled = 0;  // clients
    std::uint64_t bytes = 0;
    std::uint64_t restarts = 0, shortages = 0, rests = 0, disturbances = 0;
};

/// Every connection there is, what was meant to happen on it and what did: the judge. A connection
/// to which nothing was done, neither by its plan nor by a restart of its server nor by a want of
/// descriptors, must be whole on both sides; of all others what came must be right. Owned by
/// main(); on the loop's thread.
class Ledger {
public:
    explicit Ledger(reactor::EventLoop& loop) noexcept : loop_(loop) {}
    ~Ledger();
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    // ---- of the clients and servers ----

    /// A client begins; what its plan wants to happen will.
    void begin(const Plan& plan);
    /// Null for a connection that is over: who comes now had waited in the backlog.
    const Plan* find(std::uint64_t id) const;
    /// That side is here, and can be struck; of a client who connects first and is connected then,
    /// the later one. False: the connection is over already.
    bool join(std::uint64_t id, Side side, Party& party);
    /// Bytes that have come, to be checked. `before` is how many there were.
    void check(const Plan& plan, Side receiver, std::uint64_t before, reactor::net::ByteView bytes);
    /// That side is over. With how many bytes received; the error that ended it, or null.
    void leave(const Plan& plan, Side side, std::uint64_t received,
               const std::exception_ptr& error);
    /// There was no connection.
    void not_connected(std::uint64_t id, const std::exception_ptr& error);

    // ---- of what disturbs them ----

    /// A server stops listening: who has not been heard by it is on his own.
    void site_down(std::size_t site);
    /// It does not wait any longer for those that it has.
    void site_cuts(std::size_t site);
    void site_up(std::size_t site);
    void shortage(bool begins);

    // ---- of main() ----

    std::size_t open() const noexcept { return entries_.size(); }
    /// In words, some of those that are open.
    std::string open_ones() const;
    /// Something is wrong: printed at once, and remembered.
    void fault(const std::string& text);
    std::uint64_t faults() const noexcept { return faults_; }

    Totals totals;

private:
    struct Entry {
        explicit Entry(const Plan& p) : plan(p) {}
        Plan plan;
        Party* parties[2] = {nullptr, nullptr};
        bool over[2] = {false, false};
        std::uint64_t received[2] = {0, 0};
        std::string errors[2];
        bool struck = false;
        bool disturbed = false;  // by its server's end
        bool shortage = false;   // of descriptors, at some time
        reactor::TimerHandle strike;
    };
    using Entries = std::map<std::uint64_t, Entry>;

    void strike(std::uint64_t id);
    void settle(Entries::iterator entry);
    void judge(const Entry& entry);

    reactor::EventLoop& loop_;
    Entries entries_;
    std::set<std::size_t> down_;  // sites
    bool in_shortage_ = false;
    std::uint64_t faults_ = 0;
};

/// The error in words.
std::string text(const std::exception_ptr& error);
/// "connection 17 (client task to site 2, 100 up, 20 down, half_close, server_resets)"
std::string text(const Plan& plan);

}  // namespace soak

#endif
