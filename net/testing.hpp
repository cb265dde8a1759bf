// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_TESTING_HPP
#define REACTOR_NET_TESTING_HPP

#include <net/endpoint.hpp>
#include <reactor/clock.hpp>
#include <reactor/testing.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace reactor {
namespace net {

namespace detail {

class MemoryNames;
class MemorySockets;
class MemoryWorld;
struct MemoryNetworkAccess;

}  // namespace detail

/// What tests of programs on net/ need beside reactor/testing.hpp: a network in memory.
namespace testing {

/// What a MemoryNetwork is like. A value. Probabilities are from 0 to 1; what has a range is drawn
/// anew each time. As it is, nothing goes wrong by itself.
struct MemoryNetworkOptions {
    /// What a test of robustness should endure: everything below, as strong as `seed` chooses. For
    /// every second seed, about, no connect, accept or look-up fails and nothing is reset.
    static MemoryNetworkOptions rough(std::uint64_t seed);

    /// How long a segment of a TCP connection is under way. (Unix sockets take no time.)
    Duration shortest_latency = std::chrono::microseconds(100);
    Duration longest_latency = std::chrono::milliseconds(1);
    std::size_t bandwidth = 0;  ///< of a connection, each way, in bytes a second; 0: no limit
    std::size_t largest_segment = 16 * 1024;
    /// How much a sender may have under way or waiting, and how much may wait for a reader: what
    /// goes beyond is not taken.
    std::size_t send_buffer = 64 * 1024;
    std::size_t receive_buffer = 64 * 1024;

    double short_reads = 0;        ///< a read gives less than there is
    double short_writes = 0;       ///< a write takes less than there is room for
    double spurious_events = 0;    ///< a watched descriptor is reported, and then it is not ready
    bool shuffled_events = false;  ///< else ready descriptors come in the order of their opening
    double resets = 0;             ///< of a segment: something between the peers resets both
    /// A reset throws away what had come before it and is not read yet, as on BSD; on Linux it can
    /// still be read.
    bool reset_takes_unread = false;
    double refused_connects = 0;    ///< although somebody listens
    double failing_accepts = 0;     ///< with ECONNABORTED, EMFILE or ENFILE, one by one
    bool refuse_when_full = false;  ///< a full backlog refuses; else a client asks again, 1 s later

    /// How long a name is looked up that add_host() gives no time; and those that fail (EAI_AGAIN).
    Duration shortest_lookup = std::chrono::milliseconds(1);
    Duration longest_lookup = std::chrono::milliseconds(20);
    double failing_lookups = 0;

    std::size_t most_sockets = static_cast<std::size_t>(-1);  ///< beyond that EMFILE
    std::size_t log_lines = 100000;                           ///< how many of the latest are kept
};

/// What has come to pass in a MemoryNetwork so far. A value. Once every socket is closed and what
/// was under way has arrived, bytes_sent is the sum of the other two.
struct MemoryNetworkCounters {
    std::size_t connections = 0;  ///< that came about
    std::size_t refused = 0;      ///< or not: refused, or not reachable
    std::size_t resets = 0;       ///< ends that were told of a reset
    std::size_t open_sockets = 0;
    std::uint64_t bytes_sent = 0;      ///< taken from writers
    std::uint64_t bytes_received = 0;  ///< given to readers
    std::uint64_t bytes_lost = 0;      ///< on connections that were reset, or closed unread
};

/// A network in memory and in virtual time. As long as it lives, servers, connections, transports
/// and streams of its loop open their sockets in here, and names are looked up in here: the same
/// code of net/ as ever, only the system calls are answered by this. All that looks like chance
/// comes from one generator: a run with the same seed is the same run, down to each segment.
///
///     TestLoop loop;
///     MemoryNetwork network(loop, 42, MemoryNetworkOptions::rough(42));
///     network.add_host("server.test", {Endpoint("192.0.2.1", 0)});
///     … start_server(loop, handler, {Endpoint("192.0.2.1", 80)}) …
///     loop.run_for(std::chrono::minutes(1));
///
/// Any IP address can be listened on, as every host is in here; Unix sockets are names without a
/// file; a listener on "::" takes IPv6 only. TCP behaves as Linux's: closing with input unread
/// resets, a full backlog lets clients wait, a peer that reads nothing stops the sender. The
/// classes Socket and Listener are the system's and not to be had; descriptors that were opened
/// elsewhere work beside it. Those of the network are numbers that no real file has meanwhile; each
/// counts among the process's.
///
/// Owned by the test, which destroys it before the loop; used on the loop's thread.
class MemoryNetwork {
public:
    using Fail = void (*)(const std::string& text);

    /// Throws StateError if the loop has one already, std::invalid_argument for options without
    /// sense, std::system_error without descriptors.
    explicit MemoryNetwork(reactor::testing::TestLoop& loop, std::uint64_t seed = 1,
                           const MemoryNetworkOptions& options = MemoryNetworkOptions(),
                           Fail fail = &reactor::testing::detail::fail_test);
    /// Fails the test if sockets are open still, unless the test ends by an exception. What is done
    /// with those from now on, but for closing them, is ENETDOWN; those that nobody closes are
    /// closed with the loop.
    ~MemoryNetwork();
    MemoryNetwork(const MemoryNetwork&) = delete;
    MemoryNetwork& operator=(const MemoryNetwork&) = delete;

    // ---- connections by hand ----

    /// Two connected TCP sockets, or two like those of socketpair(): for make_transport() and
    /// make_stream(), or for close() below. Throws std::system_error.
    std::pair<int, int> pair();
    std::pair<int, int> local_pair();
    /// Closes a descriptor that nobody has taken over. Nothing happens if it is none.
    void close(int descriptor) noexcept;

    // ---- names ----

    /// From now on `host` has these addresses; without any, it is not known (EAI_NONAME), as all
    /// that nobody has added. The second form: after exactly this time.
    void add_host(const std::string& host, const std::vector<Endpoint>& addresses);
    void add_host(const std::string& host, const std::vector<Endpoint>& addresses, Duration delay);
    /// A look-up fails with ResolveError of this code (see resolver_category()).
    void add_failing_host(const std::string& host, std::error_code code, Duration delay);

    // ---- what goes wrong when the test says so ----

    /// Connects to this address (port 0: to all its ports) are not answered: they end after 127 s
    /// with ETIMEDOUT, as Linux's do. Throws std::invalid_argument for a Unix socket's: a connect
    /// to that has nothing to wait for but its backlog.
    void drop_connects(const Endpoint& to);
    /// The same, but they fail with this errno, at once or as soon as a router can say so.
    void fail_connects(const Endpoint& to, int code);
    /// Takes either back.
    void allow_connects(const Endpoint& to);
    /// The next accepts fail with this errno, so many times; ECONNABORTED takes a client with it.
    void fail_accepts(int code, std::size_t times);
    /// Resets a connection at both ends; `descriptor` is that of either.
    void reset(int descriptor);
    /// From now on nothing of that TCP connection arrives any more, in either direction, not even a
    /// reset; after 924 s of it a sender gets ETIMEDOUT, as Linux's do, and one that is not
    /// connected yet after 127 s.
    void silence(int descriptor);

    // ---- what has happened ----

    MemoryNetworkCounters counters() const;
    /// Those that are open, one a line: "#3 127.0.0.1:80 listens".
    std::string open_sockets() const;
    /// One line for each thing that happened, with the time since the network was made:
    /// "0.001204000 #5 sends 100 of 4000 bytes".
    std::string log() const;

private:
    friend struct detail::MemoryNetworkAccess;

    reactor::testing::TestLoop& loop_;
    const Fail fail_;
    const std::shared_ptr<detail::MemoryWorld> world_;
    const std::shared_ptr<detail::MemorySockets> sockets_;
    const std::shared_ptr<detail::MemoryNames> names_;
};

}  // namespace testing
}  // namespace net
}  // namespace reactor

#endif
