// SPDX-License-Identifier: BSL-1.0
#include <net/detail/lingering.hpp>
#include <net/detail/transport_service.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <sys/resource.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

// nginx's defaults, which have stood the test of the net (lingering_timeout, lingering_time).
constexpr Duration longest_silence = std::chrono::seconds(5);
constexpr Duration longest_time = std::chrono::seconds(30);
// An upload that was refused and comes all the same: beyond, a reset is what it asks for.
constexpr std::size_t most_bytes = 64 * 1024 * 1024;
// What a flood of such clients may hold of the process's descriptors, at most; else a quarter.
constexpr std::size_t most_descriptors = 1024;

std::size_t most_of_the_process() noexcept {
    ::rlimit limit;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return most_descriptors;
    return std::min<std::size_t>(most_descriptors, limit.rlim_cur / 4);
}

constexpr std::size_t read_size = 64 * 1024;

}  // namespace

Lingering::Lingering(EventLoop& loop)
    : loop_(loop),
      service_(loop.service<TransportService>()),
      most_(most_of_the_process()),
      rubbish_(new char[read_size]) {}

Lingering::~Lingering() {
    // The loop is closing: nothing is watched any more.
    for (const auto& one : descriptors_) service_.calls.close(one.first);
}

void Lingering::take(int descriptor) noexcept {
    if (descriptors_.size() < most_ && service_.calls.end_sending(descriptor) == 0) {
        try {
            watch(descriptor);
            return;
        } catch (...) {
            // No memory, or no room in the selector: closed at once, as most programs do.
            const auto found = descriptors_.find(descriptor);
            if (found != descriptors_.end()) {
                close(descriptor);
                return;
            }
        }
    }
    service_.close(descriptor);
}

void Lingering::watch(int descriptor) {
    Descriptor& one = descriptors_[descriptor];
    const TimePoint now = loop_.time();
    one.end = deadline_after(now, longest_time);
    one.limit =
        loop_.call_at(Options().label("net::Transport: end of lingering"),
                      deadline_after(now, longest_silence), &Lingering::close, this, descriptor);
    service_.watches.hold("Transport::close", descriptor, *this,
                          reactor::detail::WatchTable::Hold::shared);
    one.watch.start(loop_, reactor::detail::NodeKind::reader,
                    Options().owned_descriptor().label("net::Transport lingers"), descriptor, *this,
                    static_cast<unsigned>(descriptor));
}

void Lingering::watch_lost(unsigned number, const reactor::detail::WatchLoss& loss) noexcept {
    using reactor::detail::WatchLoss;
    const int descriptor = static_cast<int>(number);
    const auto found = descriptors_.find(descriptor);
    if (found == descriptors_.end()) return;
    found->second.watch.stop();
    if (loss.kind == WatchLoss::taken) return;  // closed when its time is over
    found->second.limit.cancel();
    descriptors_.erase(found);
    service_.watches.let_go(descriptor, *this);
    if (loss.kind == WatchLoss::refused) service_.close(descriptor);
}

void Lingering::number_taken(int descriptor) noexcept {
    const auto found = descriptors_.find(descriptor);
    if (found == descriptors_.end()) return;
    found->second.watch.stop();
    found->second.limit.cancel();
    descriptors_.erase(found);
}

void Lingering::watch_ready(unsigned number) {
    const int descriptor = static_cast<int>(number);
    const auto found = descriptors_.find(descriptor);
    if (found == descriptors_.end()) return;
    Descriptor& one = found->second;
    const ::ssize_t got = service_.calls.receive(descriptor, rubbish_.get(), read_size);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got > 0) one.discarded += static_cast<std::size_t>(got);
    if (got <= 0 || one.discarded > most_bytes) {
        close(descriptor);
        return;
    }
    one.limit.reschedule(std::min(one.end, deadline_after(loop_.time(), longest_silence)));
}

void Lingering::close(int descriptor) noexcept {
    const auto found = descriptors_.find(descriptor);
    if (found == descriptors_.end()) return;
    found->second.watch.stop();
    found->second.limit.cancel();
    descriptors_.erase(found);
    service_.watches.let_go(descriptor, *this);
    loop_.forget_descriptor(descriptor);
    service_.close(descriptor);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
