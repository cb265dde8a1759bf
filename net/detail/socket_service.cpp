// SPDX-License-Identifier: BSL-1.0
#include <net/detail/socket_service.hpp>
#include <reactor/error.hpp>

#include <stdexcept>
#include <string>

#include <fcntl.h>

namespace reactor {
namespace net {
namespace detail {

constexpr std::size_t SocketService::buffer_size;

SocketService::SocketService(EventLoop&)
    // A loop belongs to one thread, and so do its sockets: Asio need not lock.
    : context(std::make_shared<boost::asio::io_context>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE)),
      buffer(new char[buffer_size]) {}

std::string in_words(const Endpoint& address) {
    const bool named = address.family() != Endpoint::Family::local || address.is_abstract() ||
                       !address.address().empty();
    return named ? address.str() : "a Unix socket without a name";
}

std::system_error socket_error(int code, const std::string& step, const Endpoint& address) {
    return std::system_error(code, std::system_category(), step + ' ' + in_words(address));
}

std::system_error watch_error(const std::system_error& refusal, const std::string& step,
                              const Endpoint& address) {
    return watch_error(refusal, step + ' ' + in_words(address));
}

std::system_error watch_error(const std::system_error& refusal, const std::string& step) {
    std::string text = refusal.what();
    // It ends with the reason, and so will ours.
    const std::string reason = ": " + refusal.code().message();
    if (text.size() >= reason.size() &&
        text.compare(text.size() - reason.size(), reason.size(), reason) == 0) {
        text.resize(text.size() - reason.size());
    }
    return std::system_error(refusal.code(), step + ": " + text);
}

std::exception_ptr lost_watch_error(const reactor::detail::WatchLoss& loss, int descriptor,
                                    const char* step, const Endpoint& address) noexcept {
    using reactor::detail::WatchLoss;
    try {
        const std::string text = std::string(step) + ' ' + in_words(address) + ": descriptor " +
                                 std::to_string(descriptor);
        switch (loss.kind) {
            case WatchLoss::taken:
                return std::make_exception_ptr(
                    StateError(text +
                               " is ours while this waits, and somebody has called add_reader(), "
                               "remove_reader() or their kin for it: leave it alone until then"));
            case WatchLoss::closed:
                return std::make_exception_ptr(std::system_error(
                    loss.code, std::system_category(), text + " was closed by somebody else"));
            case WatchLoss::refused:
                break;
        }
        return std::make_exception_ptr(std::system_error(loss.code, std::system_category(),
                                                         text + " cannot be watched any more"));
    } catch (...) {
        return std::current_exception();
    }
}

void refuse_blocking(const reactor::detail::LoopCore& core, int descriptor, const char* call) {
    if (!core.debug) return;
    const int status = ::fcntl(descriptor, F_GETFL);
    if (status < 0 || (status & O_NONBLOCK)) return;
    throw std::invalid_argument(std::string(call) + ": descriptor " + std::to_string(descriptor) +
                                " blocks, and the loop with it: somebody has taken O_NONBLOCK "
                                "from it, give it back");
}

StreamProtocol::endpoint to_asio(const Endpoint& endpoint) {
    return StreamProtocol::endpoint(endpoint.data(), endpoint.size());
}

Endpoint from_asio(const StreamProtocol::endpoint& endpoint) {
    return Endpoint::from_sockaddr(endpoint.data(), endpoint.size());
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
