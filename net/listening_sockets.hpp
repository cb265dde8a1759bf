// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_LISTENING_SOCKETS_HPP
#define REACTOR_NET_LISTENING_SOCKETS_HPP

#include <net/endpoint.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace reactor {
namespace net {

/// Sockets that listen already, opened by somebody else, each with a name: what a Server or a
/// Listener can take over. Moves, and is owned by whoever holds it; any thread, one at a time.
/// Closes those that nobody has taken. Systemd's socket units: inherited_sockets().
class ListeningSockets {
public:
    ListeningSockets() noexcept = default;
    ListeningSockets(ListeningSockets&& other) noexcept;
    ListeningSockets& operator=(ListeningSockets&& other) noexcept;
    ~ListeningSockets();

    /// Takes one over, which becomes close-on-exec. Throws std::invalid_argument for what is no
    /// stream socket that listens, std::system_error; the descriptor stays the caller's then.
    /// StateError for one that is in here already.
    void add(int descriptor, const std::string& name = std::string());

    std::size_t size() const noexcept { return sockets_.size(); }
    bool empty() const noexcept { return sockets_.empty(); }

    /// Of the one at `index`, in the order in which they came; std::out_of_range beyond.
    int descriptor(std::size_t index) const { return sockets_.at(index).descriptor; }
    const std::string& name(std::size_t index) const { return sockets_.at(index).name; }
    const Endpoint& endpoint(std::size_t index) const { return sockets_.at(index).endpoint; }

    /// Those of that name, which may be none, taken out of here.
    ListeningSockets take(const std::string& name);
    /// Takes one out of here, whose descriptor is the caller's then: after Listener::adopt().
    int release(std::size_t index);

private:
    struct Socket {
        int descriptor;
        std::string name;
        Endpoint endpoint;
    };

    std::vector<Socket> sockets_;
};

/// What becomes of the environment that told of inherited sockets.
enum class ListenEnvironment {
    keep,   ///< it is not ours to change; programs started from here see that it is not for them
    remove  ///< unsetenv(), while no other thread reads the environment
};

/// The sockets that the program was started with: the descriptors from 3 on, as LISTEN_FDS counts
/// them, LISTEN_FDNAMES names them ("unknown" without it), and LISTEN_PID says for which process
/// they are. None if the environment has no such variables, or they are for another process. Each
/// is close-on-exec then. To be called once, at the program's beginning, before it opens
/// descriptors of its own.
///
/// Throws std::system_error, and has taken none, if what the environment says cannot be: "inherited
/// sockets: LISTEN_FDS is "x", which is no number: Invalid argument"; if a descriptor is not open
/// (EBADF) or no stream socket that listens (EINVAL); StateError if they were taken before.
/// systemd: sd_listen_fds_with_names.
ListeningSockets inherited_sockets(ListenEnvironment environment = ListenEnvironment::keep);

}  // namespace net
}  // namespace reactor

#endif
