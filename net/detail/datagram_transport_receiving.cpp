// SPDX-License-Identifier: BSL-1.0
#include <net/detail/datagram_transport_state.hpp>

#include <net/detail/socket_service.hpp>

#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

constexpr unsigned DatagramBatch::most;
constexpr std::size_t DatagramBatch::room;

/// Brings the loop to what is wanted; if it refuses, the endpoint is lost.
void DatagramTransportState::update_reading() noexcept {
    const bool wanted = begun_ && !over();
    if (wanted == watching_) return;
    watching_ = wanted;
    if (!wanted) {
        service_->watches.forget(*node_, true);
        return;
    }
    std::exception_ptr refused;
    try {
        try {
            watch("receive", node_);
            return;
        } catch (const std::system_error& error) {
            throw watch_error(error, "receive on", socket_.address());
        }
    } catch (...) {
        refused = std::current_exception();
    }
    watching_ = false;
    lose(std::move(refused));
}

/// The datagrams of one batch on their way to the protocol. What a LoopExit leaves behind was taken
/// from the system already: it is held for the next run. What is sent meanwhile goes out together;
/// if only one has come, there is nothing to wait for.
class DatagramTransportState::Handing {
public:
    Handing(DatagramTransportState& state, unsigned count) noexcept
        : state_(state), service_(*state.service_), count_(count) {
        if (count > 1) service_.gathering.open();
    }
    Handing(const Handing&) = delete;
    Handing& operator=(const Handing&) = delete;
    ~Handing() {
        service_.gathering.close();
        if (service_.gathering.owner()) service_.gathering.owner()->send_gathered();
        try {
            for (; next_ < count_ && !state_.closing_; ++next_) {
                const Arrival arrival = service_.batch.arrival(next_);
                state_.held_.push_back({service_.batch.look(next_, arrival).str(), arrival});
            }
        } catch (...) {
            // No memory: lost, as datagrams may be.
        }
        if (!state_.held_.empty()) state_.queue();
        service_.batch.close(count_);
    }
    void run() {
        while (next_ < count_ && !state_.closing_) {
            const unsigned index = next_++;
            const Arrival arrival = service_.batch.arrival(index);
            state_.hand_over(service_.batch.look(index, arrival), arrival);
        }
    }

private:
    DatagramTransportState& state_;
    DatagramTransportService& service_;
    unsigned next_ = 0;
    const unsigned count_;
};

/// One call of the system: if there is more, the descriptor is still ready in the next iteration.
void DatagramTransportState::receive() {
    if (over() || socket_.number() < 0) return;  // connection_lost() tells of that
    service_->batch.open(longest_);
    const int got = socket_.receive(service_->batch);
    const int code = errno;
    Handing handing(*this, got > 0 ? static_cast<unsigned>(got) : 0);
    if (got >= 0) {
        handing.run();
    } else if (would_block(code)) {
        socket_.drop_notes();
    } else {
        // Of what was sent to there (ICMP), or of the receiving itself.
        const bool connected = socket_.is_connected();
        tell_error(socket_error(code, connected ? "receive from" : "receive on",
                                connected ? socket_.peer() : socket_.address()));
    }
}

void DatagramTransportState::hand_over(ByteView bytes, const Arrival& arrival) {
    if (arrival.truncated()) {
        call("datagram_truncated", [&](DatagramProtocol& protocol) {
            protocol.datagram_truncated(bytes, arrival.from, arrival.full_size);
        });
    } else {
        call("datagram_received",
             [&](DatagramProtocol& protocol) { protocol.datagram_received(bytes, arrival.from); });
    }
}

void DatagramTransportState::drop_held() noexcept {
    held_.clear();
    held_.shrink_to_fit();
}

void DatagramTransportState::hand_over_held() {
    struct Rest {
        DatagramTransportState& state;
        ~Rest() {
            if (state.closing_) state.drop_held();
            if (!state.held_.empty()) state.queue();
        }
    } const rest{*this};
    while (!held_.empty() && !closing_) {
        const Held held = std::move(held_.front());
        held_.pop_front();
        hand_over(held.bytes, held.arrival);
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
