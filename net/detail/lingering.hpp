// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_LINGERING_HPP
#define REACTOR_NET_DETAIL_LINGERING_HPP

#include <reactor/clock.hpp>
#include <reactor/detail/descriptor_watch.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/handle.hpp>

#include <cstddef>
#include <memory>
#include <unordered_map>

namespace reactor {
namespace net {
namespace detail {

class TransportService;

/// Descriptors of connections that are over for the program, while the peer still sends: closed
/// with bytes unread, the system would reset the connection, and the peer lose what it has not read
/// yet. So their sending half is ended, and what comes is thrown away until the peer ends its half.
/// A service of the loop, which owns them.
class Lingering final : public reactor::detail::DescriptorHolder {
public:
    explicit Lingering(EventLoop& loop);
    ~Lingering();
    Lingering(const Lingering&) = delete;
    Lingering& operator=(const Lingering&) = delete;

    /// Takes the descriptor over, which nobody watches.
    void take(int descriptor) noexcept;

    /// As DescriptorHolder: nobody is to be told.
    void number_taken(int descriptor) noexcept override;
    void number_lost(int) noexcept override {}

private:
    using Watch = reactor::detail::DescriptorWatch<Lingering>;
    friend Watch;

    struct Descriptor {
        Watch watch;
        TimerHandle limit;
        TimePoint end;  // at the latest
        std::size_t discarded = 0;
    };

    void watch(int descriptor);
    reactor::detail::LoopCore& watch_core() const noexcept { return loop_.core(); }
    void watch_ready(unsigned descriptor);
    void watch_lost(unsigned descriptor, const reactor::detail::WatchLoss& loss) noexcept;
    void close(int descriptor) noexcept;

    EventLoop& loop_;
    TransportService& service_;
    const std::size_t most_;  // descriptors at a time
    std::unique_ptr<char[]> rubbish_;
    std::unordered_map<int, Descriptor> descriptors_;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
