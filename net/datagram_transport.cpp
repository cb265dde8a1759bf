// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_transport.hpp>
#include <net/detail/datagram_settings.hpp>
#include <net/detail/datagram_transport_state.hpp>

#include <stdexcept>
#include <string>

namespace reactor {
namespace net {

using detail::DatagramTransportState;

constexpr std::size_t DatagramTransport::largest_size;

static_assert(DatagramTransport::largest_size == detail::DatagramBatch::room,
              "what the header promises is what the loop's buffer holds");

// ---- references -----------------------------------------------------------------------------

DatagramTransport::DatagramTransport(DatagramTransportState* state) noexcept : state_(state) {
    if (state_) state_->add_reference();
}

DatagramTransport::DatagramTransport(const DatagramTransport& other) noexcept
    : DatagramTransport(other.state_) {}

DatagramTransport::~DatagramTransport() {
    if (state_) state_->release();
}

DatagramTransportState& DatagramTransport::state(const char* call) const {
    if (!state_) {
        throw StateError(std::string(call) +
                         ": the DatagramTransport is empty: create_datagram_endpoint() makes one");
    }
    state_->core.check_thread(call);
    return *state_;
}

detail::DatagramSettings DatagramTransport::settings(const char* call) const {
    DatagramTransportState& transport = state(call);
    if (!transport.socket().is_open()) {
        throw StateError(std::string(call) + ": the endpoint is lost");
    }
    transport.send_gathered();
    return detail::DatagramSettings(transport.socket());
}

// ---- sending and ending ---------------------------------------------------------------------

void DatagramTransport::send(ByteView bytes) const { state("send").send(bytes); }

void DatagramTransport::send_to(ByteView bytes, const Endpoint& to) const {
    state("send_to").send_to(bytes, to);
}

std::size_t DatagramTransport::write_buffer_size() const noexcept {
    return state_ ? state_->unsent() : 0;
}

void DatagramTransport::set_write_limits(WriteLimits limits) const {
    DatagramTransportState& transport = state("set_write_limits");
    if (limits.low > limits.high || limits.high > limits.hard) {
        throw std::invalid_argument("set_write_limits: low <= high <= hard does not hold");
    }
    transport.set_limits(limits);
}

WriteLimits DatagramTransport::write_limits() const noexcept {
    return state_ ? state_->limits() : WriteLimits();
}

bool DatagramTransport::write_paused() const noexcept { return state_ && state_->write_paused(); }

void DatagramTransport::close() const noexcept {
    if (!state_) return;
    state_->core.require_thread("DatagramTransport::close");
    state_->close();
}

void DatagramTransport::abort() const noexcept {
    if (!state_) return;
    state_->core.require_thread("DatagramTransport::abort");
    state_->abort();
}

bool DatagramTransport::is_closing() const noexcept { return state_ && state_->is_closing(); }

// ---- what it is -----------------------------------------------------------------------------

void DatagramTransport::set_max_datagram_size(std::size_t bytes) const {
    DatagramTransportState& transport = state("set_max_datagram_size");
    if (bytes == 0 || bytes > largest_size) {
        throw std::invalid_argument("set_max_datagram_size: " + std::to_string(bytes) +
                                    " is not 1 to " + std::to_string(largest_size));
    }
    transport.set_longest(bytes);
}

std::size_t DatagramTransport::max_datagram_size() const noexcept {
    return state_ ? state_->longest() : 0;
}

Endpoint DatagramTransport::local_endpoint() const { return state("local_endpoint").local(); }

Endpoint DatagramTransport::remote_endpoint() const { return state("remote_endpoint").remote(); }

int DatagramTransport::native_handle() const noexcept {
    if (!state_) return -1;
    state_->send_gathered();
    return state_->socket().number();
}

DatagramProtocol* DatagramTransport::protocol() const noexcept {
    return state_ ? state_->protocol() : nullptr;
}

void DatagramTransport::set_protocol(std::unique_ptr<DatagramProtocol> protocol) const {
    DatagramTransportState& transport = state("set_protocol");
    if (!protocol) throw std::invalid_argument("set_protocol: the protocol is a null pointer");
    transport.set_protocol(std::move(protocol));
}

EventLoop& DatagramTransport::loop() const {
    EventLoop* const loop = state("loop").core.loop;
    if (!loop) throw StateError("loop: the event loop of this DatagramTransport is gone");
    return *loop;
}

// ---- options --------------------------------------------------------------------------------

void DatagramTransport::set_broadcast(bool on) const {
    settings("set_broadcast").set_broadcast(on);
}
bool DatagramTransport::broadcast() const { return settings("broadcast").broadcast(); }
void DatagramTransport::set_ttl(int hops) const { settings("set_ttl").set_ttl(hops); }
int DatagramTransport::ttl() const { return settings("ttl").ttl(); }
void DatagramTransport::set_send_buffer_size(int bytes) const {
    settings("set_send_buffer_size").set_send_buffer_size(bytes);
}
int DatagramTransport::send_buffer_size() const {
    return settings("send_buffer_size").send_buffer_size();
}
void DatagramTransport::set_receive_buffer_size(int bytes) const {
    settings("set_receive_buffer_size").set_receive_buffer_size(bytes);
}
int DatagramTransport::receive_buffer_size() const {
    return settings("receive_buffer_size").receive_buffer_size();
}
void DatagramTransport::join_group(const Endpoint& group, unsigned interface_index) const {
    settings("join_group").join_group(group, interface_index);
}
void DatagramTransport::leave_group(const Endpoint& group, unsigned interface_index) const {
    settings("leave_group").leave_group(group, interface_index);
}
void DatagramTransport::set_multicast_interface(unsigned interface_index) const {
    settings("set_multicast_interface").set_multicast_interface(interface_index);
}
void DatagramTransport::set_multicast_ttl(int hops) const {
    settings("set_multicast_ttl").set_multicast_ttl(hops);
}
int DatagramTransport::multicast_ttl() const { return settings("multicast_ttl").multicast_ttl(); }
void DatagramTransport::set_multicast_loop(bool on) const {
    settings("set_multicast_loop").set_multicast_loop(on);
}
bool DatagramTransport::multicast_loop() const {
    return settings("multicast_loop").multicast_loop();
}

}  // namespace net
}  // namespace reactor
