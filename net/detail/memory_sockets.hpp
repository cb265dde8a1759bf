// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_MEMORY_SOCKETS_HPP
#define REACTOR_NET_DETAIL_MEMORY_SOCKETS_HPP

#include <net/detail/memory_link.hpp>
#include <net/detail/memory_world.hpp>
#include <net/detail/simulated_network.hpp>
#include <net/endpoint.hpp>
#include <reactor/clock.hpp>
#include <reactor/testing_selector.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace reactor {
namespace net {
namespace detail {

/// The sockets of a network in memory, by descriptor: what system calls ask of them, and what the
/// loop's selector asks. Each holds the number of a real descriptor. Owned by its MemoryNetwork and
/// by whoever may still call it; on the loop's thread.
///
/// After end() the descriptors can only be closed; those that are open when this goes, it closes.
/// What runs out of memory in here ends the test.
class MemorySockets final : public SimulatedNetwork, public reactor::testing::VirtualDescriptors {
public:
    /// Throws std::system_error without descriptors.
    explicit MemorySockets(std::shared_ptr<MemoryWorld> world);
    ~MemorySockets();

    // ---- the system's calls, see SimulatedNetwork ----
    bool owns(int descriptor) const noexcept override;
    bool in_use() const noexcept override { return world_->counters.open_sockets != 0; }
    ::ssize_t receive(int descriptor, char* room, std::size_t size) noexcept override;
    ::ssize_t send(int descriptor, const ::iovec* pieces, std::size_t count) noexcept override;
    int end_sending(int descriptor) noexcept override;
    int reset_on_close(int descriptor) noexcept override;
    int close(int descriptor) noexcept override;
    int listen(const Endpoint& at, int backlog) noexcept override;
    int accept(int descriptor, Endpoint& peer) noexcept override;
    int connect(const Endpoint& to, const Endpoint& from) noexcept override;
    int connect_error(int descriptor) noexcept override;
    Endpoint local_endpoint(int descriptor) noexcept override;
    Endpoint remote_endpoint(int descriptor) noexcept override;

    // ---- the selector's questions, see VirtualDescriptors ----
    void look(TimePoint now, const std::vector<Watch>& watched,
              std::vector<SelectorEvent>& ready) override;
    TimePoint next_change() const noexcept override { return world_->next(); }

    // ---- what MemoryNetwork promises ----
    std::pair<int, int> pair(MemoryLink::Kind kind);
    /// Connects to it end with `code`; 0: they are not answered. Port 0: any.
    void obstruct(const Endpoint& to, int code) { obstructed_[to] = code; }
    void clear(const Endpoint& to) { obstructed_.erase(to); }
    void fail_accepts(int code, std::size_t times);
    void reset(int descriptor);
    void silence(int descriptor);
    std::string list() const;
    void end() noexcept;

private:
    using LinkPointer = std::shared_ptr<MemoryLink>;

    struct Listener {
        Endpoint at;
        std::size_t most;          // that may wait
        std::size_t expected = 0;  // whose handshake is under way
        std::deque<LinkPointer> waiting;
    };

    struct Socket {
        unsigned id;
        LinkPointer link;  // null: it listens
        int side = 0;
        std::shared_ptr<Listener> listener;
        TimePoint last_spurious = never();
    };

    Socket* find(int descriptor) const noexcept;
    /// Whether it is still the placeholder that was opened under this number.
    bool is_placeholder(int descriptor) const noexcept;
    /// The socket if it is an end of a connection; else null, and errno.
    Socket* end_of(int descriptor) const noexcept;
    /// Null, and errno: there is no descriptor left. `id` is 0 for a new one.
    Socket* open(int& descriptor, unsigned id = 0);
    void shut(int descriptor) noexcept;

    // connecting
    static Endpoint unnamed();
    static bool is_any(const Endpoint& at);
    const std::shared_ptr<Listener>* find_listener(const Endpoint& at) const;
    bool occupied(const Endpoint& at) const;
    std::uint16_t free_port(Endpoint::Family family);
    Endpoint local_for(const Endpoint& to, const Endpoint& from);
    int obstruction(const Endpoint& to) const;
    LinkPointer begin_connect(MemoryLink::Kind kind, const Endpoint& to, const Endpoint& from,
                              int& descriptor);
    int connect_local(const Endpoint& to, const Endpoint& from);
    void knock_locally(const LinkPointer& link, const Endpoint& to, Duration pause);
    void knock(const LinkPointer& link, const Endpoint& to, int attempt);
    void ask_again(const LinkPointer& link, const Endpoint& to, int attempt);
    void answer(const LinkPointer& link, const Endpoint& to, int attempt,
                const std::shared_ptr<Listener>& listener);
    void refuse_later(const LinkPointer& link, const Endpoint& to, int attempt, int code);
    void enqueue(const std::shared_ptr<Listener>& listener, const LinkPointer& link);
    bool full(const Listener& listener) const noexcept {
        return listener.waiting.size() + listener.expected >= listener.most;
    }
    /// What an accept is to fail with; 0: with nothing.
    int accept_failure(Listener& listener);

    const std::shared_ptr<MemoryWorld> world_;
    int placeholder_;
    ::dev_t device_;
    ::ino_t inode_;
    std::vector<std::unique_ptr<Socket>> sockets_;  // by descriptor
    std::map<Endpoint, std::shared_ptr<Listener>> listeners_;
    std::map<Endpoint, int> obstructed_;
    std::deque<int> accept_failures_;
    unsigned last_id_ = 0;
    std::uint16_t last_port_ = 0;
};

/// For tests of the network itself.
struct MemoryNetworkAccess {
    static SimulatedNetwork& calls(testing::MemoryNetwork& network) noexcept {
        return *network.sockets_;
    }
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
