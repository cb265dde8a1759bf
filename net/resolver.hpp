// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_RESOLVER_HPP
#define REACTOR_NET_RESOLVER_HPP

#include <net/deadline.hpp>
#include <net/endpoint.hpp>
#include <net/port.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace reactor {
namespace net {

namespace detail {

class ResolverState;

}  // namespace detail

/// What getaddrinfo answers when it has no address (EAI_NONAME, …), as error codes.
const std::error_category& resolver_category() noexcept;

/// A name has no address, or nobody could be asked: "resolve nosuch.test: Name or service not
/// known". The code's category is resolver_category(), or the system's for what the system said.
struct ResolveError : std::system_error {
    ResolveError(const std::string& host_name, std::error_code code);

    std::string host;  ///< the name that was looked up; "service http" for the port of http
};

/// What a look-up may be told; a value. Made of a deadline, too: resolve(host, 80, seconds(5)).
class ResolveOptions {
public:
    ResolveOptions() noexcept = default;
    ResolveOptions(Deadline deadline) noexcept : deadline_(deadline) {}
    ResolveOptions(TimePoint when) noexcept : deadline_(when) {}
    template <class Rep, class Period>
    ResolveOptions(std::chrono::duration<Rep, Period> length) : deadline_(length) {}

    ResolveOptions& deadline(Deadline when) noexcept {
        deadline_ = when;
        return *this;
    }
    /// Only addresses of that family; none, the default: of both.
    ResolveOptions& family(Endpoint::Family only) noexcept {
        family_ = only;
        return *this;
    }

    Deadline deadline() const noexcept { return deadline_; }
    Endpoint::Family family() const noexcept { return family_; }

private:
    Deadline deadline_;
    Endpoint::Family family_ = Endpoint::Family::none;
};

/// Looks names up without holding up the loop, on threads of its own: getaddrinfo cannot be
/// interrupted. A service of its loop (loop.service<Resolver>()), used on the loop's thread.
/// asyncio: loop.getaddrinfo.
///
/// Threads start when a name comes that no idle one can take, at most max_threads, block all
/// signals, and end after ten idle seconds. Names beyond that wait for a thread: so `localhost`
/// waits for slow names once all threads are busy with such. One name is looked up once at a time,
/// for all who ask meanwhile. A look-up that hangs delays neither cancel() nor a deadline nor the
/// loop's close() nor the end of the program: its thread is left behind.
class Resolver {
public:
    /// The addresses of a host, with port 0, in order of preference. Called on a thread of the
    /// pool, several at a time, and may block; what it throws fails the promises.
    using Lookup = std::function<std::vector<Endpoint>(const std::string& host)>;
    /// The port of a service, likewise.
    using ServiceLookup = std::function<std::uint16_t(const std::string& service)>;

    static constexpr std::size_t max_threads = 4;
    /// How many names may wait for a thread; beyond that resolve() fails with EAGAIN.
    static constexpr std::size_t max_waiting = 1024;

    /// See EventLoop::service().
    explicit Resolver(EventLoop& loop);
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    /// The addresses of `host` with `port`, at least one. An IP address with a number for a port is
    /// done at once; an IPv6 address with a zone, one of another family than asked for and the name
    /// of a service are looked up: the service first, then the host. Fails with ResolveError,
    /// TimeoutError ("resolve pics.example"), EAGAIN (see max_waiting), or what the Lookup threw.
    /// Throws std::invalid_argument for an empty host and for one with a zero byte.
    Promise<std::vector<Endpoint>> resolve(const std::string& host, const Port& port,
                                           const ResolveOptions& options = ResolveOptions(),
                                           Here here = Here());

    /// Asks `lookup` instead of the system, for names that are not under way already: for tests, or
    /// another name service. Empty: system_lookup. A call that hangs outlives the loop, and so must
    /// what `lookup` refers to.
    void set_lookup(Lookup lookup);
    void set_service_lookup(ServiceLookup lookup);

    /// Likewise, but called on the loop's thread, and must not block: for a name service that is a
    /// client of this loop itself. The promise is one of this loop; it is cancelled when nobody
    /// waits for the name any more. What `lookup` throws fails the promises. Empty: names go to the
    /// threads again.
    using LoopLookup = std::function<Promise<std::vector<Endpoint>>(const std::string& host)>;
    void set_loop_lookup(LoopLookup lookup);

    /// getaddrinfo. Any thread; blocks. Throws ResolveError.
    static std::vector<Endpoint> system_lookup(const std::string& host);
    static std::uint16_t system_service_lookup(const std::string& service);

private:
    std::unique_ptr<detail::ResolverState> state_;
};

/// Resolver::resolve() of a loop, or of the one that runs on this thread (StateError if none does).
Promise<std::vector<Endpoint>> resolve(EventLoop& loop, const std::string& host, const Port& port,
                                       const ResolveOptions& options = ResolveOptions(),
                                       Here here = Here());
Promise<std::vector<Endpoint>> resolve(const std::string& host, const Port& port,
                                       const ResolveOptions& options = ResolveOptions(),
                                       Here here = Here());

}  // namespace net
}  // namespace reactor

#endif
