// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>
#include <net/resolver.hpp>
#include <reactor/task.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace reactor {
namespace net {

ConnectError::ConnectError(const std::string& what, std::vector<std::system_error> all)
    : std::system_error(all.front().code()), attempts(std::move(all)), text_(what) {}

namespace {

// The least that an attempt gets, however many addresses are to come; Go's dialer has the same.
constexpr Duration least_share = std::chrono::seconds(2);

/// Its text has the reasons already: that of a TimeoutError would end with one more.
struct LateConnect final : TimeoutError {
    explicit LateConnect(std::string text) : text_(std::move(text)) {}
    const char* what() const noexcept override { return text_.c_str(); }

private:
    std::string text_;
};

/// One address after the other:
///
///     start ─> resolved ─> next ─> connected ─> the socket
///                           ^ └──> failed
///                           └────────┘ the next address; after the last one the error
class Connecting final : public Task<Socket> {
public:
    Connecting(std::string host, std::uint16_t port, TimePoint deadline)
        : host_(std::move(host)), port_(port), deadline_(deadline), socket_(loop()) {}

private:
    Next start() override {
        return await(resolve(loop(), host_, port_, deadline_), &Connecting::resolved);
    }

    Next resolved(std::vector<Endpoint> addresses) {
        addresses_ = std::move(addresses);
        return next();
    }

    Next next() {
        const Endpoint& address = addresses_[attempts_.size()];
        return await(socket_.connect(address, share()), &Connecting::connected,
                     &Connecting::failed);
    }

    Next connected() { return finish(std::move(socket_)); }

    Next failed(const std::system_error& error) {
        attempts_.push_back(error);
        const bool late = deadline_ != never() && loop().time() >= deadline_;
        if (late && error.code() == std::errc::timed_out) return fail(LateConnect(all_attempts()));
        if (attempts_.size() == addresses_.size()) return give_up();
        if (late) {
            return fail(LateConnect(all_attempts() + "; too late for " +
                                    addresses_[attempts_.size()].str()));
        }
        return next();
    }

    Next give_up() {
        if (alike()) return fail(attempts_.front());
        return fail(ConnectError(all_attempts(), attempts_));
    }

    bool alike() const {
        const std::error_condition first = attempts_.front().code().default_error_condition();
        return std::all_of(
            attempts_.begin(), attempts_.end(),
            [&](const std::system_error& attempt) { return attempt.code() == first; });
    }

    /// Each address with its reason, or all of them with the one that they share.
    std::string all_attempts() const {
        if (attempts_.size() == 1) return attempts_.front().what();
        const bool shared = alike();
        std::string text = "connect to " + host_ + " port " + std::to_string(port_);
        for (std::size_t i = 0; i < attempts_.size(); ++i) {
            text += (i == 0 ? ": " : shared ? ", " : "; ") + addresses_[i].str();
            if (shared && i + 1 < attempts_.size()) continue;
            text += ": " + attempts_[i].code().message();
        }
        return text;
    }

    /// By when the next attempt must be over.
    TimePoint share() const {
        if (deadline_ == never()) return never();
        const TimePoint now = loop().time();
        const auto left = static_cast<Duration::rep>(addresses_.size() - attempts_.size());
        const Duration equal = std::max((deadline_ - now) / left, least_share);
        return std::min(deadline_, deadline_after(now, equal));
    }

    std::string host_;
    std::uint16_t port_;
    TimePoint deadline_;
    Socket socket_;
    std::vector<Endpoint> addresses_;
    std::vector<std::system_error> attempts_;
};

}  // namespace

Promise<Socket> connect(EventLoop& loop, const std::string& host, std::uint16_t port,
                        Deadline deadline) {
    loop.core().check("connect");
    return loop.create_task<Connecting>(host, port, deadline.at(loop));
}

Promise<Socket> connect(const std::string& host, std::uint16_t port, Deadline deadline) {
    return connect(get_running_loop(), host, port, deadline);
}

}  // namespace net
}  // namespace reactor
