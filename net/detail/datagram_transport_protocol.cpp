// SPDX-License-Identifier: BSL-1.0
#include <net/detail/datagram_transport_state.hpp>

#include <net/detail/socket_service.hpp>
#include <reactor/report.hpp>

#include <string>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

void DatagramTransportState::set_protocol(std::unique_ptr<DatagramProtocol> protocol) {
    if (!protocol_) return;
    if (inside_) {
        retired_.emplace_back();
        retired_.back() = std::move(protocol_);
    }
    const std::unique_ptr<DatagramProtocol> before = std::move(protocol_);
    protocol_ = std::move(protocol);
}

std::string DatagramTransportState::name() const {
    const std::string text =
        "net::DatagramTransport on " + in_words(socket_.is_open() ? socket_.address() : local_);
    return remote_.empty() ? text : text + " to " + remote().str();
}

void DatagramTransportState::failed(const char* method, const std::exception_ptr& error) {
    Report report("protocol." + std::string(method) + "() failed", error);
    report.details.emplace_back("protocol", protocol_->protocol_name());
    report.details.emplace_back("transport", name());
    core.loop->call_exception_handler(report);
}

void DatagramTransportState::tell_error(const std::system_error& error) {
    if (!protocol_) return;
    call("error_received",
         [&error](DatagramProtocol& protocol) { protocol.error_received(error); });
}

/// Of a call of the program's, inside of which nothing is called.
void DatagramTransportState::tell_error_soon(const std::system_error& error) {
    core.loop->call_soon(
        Options().label("net::DatagramTransport error"),
        [](const Keep& state, const std::system_error& told) {
            --state->errors_queued_;
            state->tell_error(told);
        },
        Keep(*this), error);
    ++errors_queued_;
}

// ---- flow control ---------------------------------------------------------------------------

void DatagramTransportState::set_limits(const WriteLimits& limits) {
    send_gathered();
    limits_ = limits;
    if (!ending_ && !core.closed.load(std::memory_order_relaxed)) update_flow();
}

void DatagramTransportState::update_flow() {
    const std::size_t waiting = weight();
    if (waiting > limits_.high) write_paused_ = true;
    if (waiting <= limits_.low) write_paused_ = false;
    if (write_paused_ == told_paused_ || flow_queued_) return;
    core.loop->call_soon(
        Options().label("net::DatagramTransport flow control"),
        [](const Keep& state) { state->tell_flow(); }, Keep(*this));
    flow_queued_ = true;
}

void DatagramTransportState::tell_flow() {
    flow_queued_ = false;
    if (write_paused_ == told_paused_ || ending_ || !protocol_) return;
    told_paused_ = write_paused_;
    if (told_paused_) {
        call("pause_writing", [](DatagramProtocol& protocol) { protocol.pause_writing(); });
    } else {
        call("resume_writing", [](DatagramProtocol& protocol) { protocol.resume_writing(); });
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
