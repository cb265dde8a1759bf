// SPDX-License-Identifier: BSL-1.0
#include <net/detail/transport_state.hpp>
#include <reactor/report.hpp>

#include <string>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

void TransportState::adopt(std::unique_ptr<Protocol> protocol) noexcept {
    protocol_ = std::move(protocol);
    buffered_ = protocol_->buffered() != nullptr;
}

void TransportState::set_protocol(std::unique_ptr<Protocol> protocol) {
    if (!protocol_) return;
    if (inside_) {
        std::vector<std::unique_ptr<Protocol>>& retired = extras().retired;
        retired.emplace_back();
        retired.back() = std::move(protocol_);
        retired_ = true;
    }
    const std::unique_ptr<Protocol> before = std::move(protocol_);
    adopt(std::move(protocol));
}

void TransportState::drop_retired() noexcept {
    retired_ = false;
    // Out of the way first: what they do when they go may retire another.
    std::vector<std::unique_ptr<Protocol>> gone;
    gone.swap(extras_->retired);
}

std::string TransportState::name() const {
    return "net::Transport to " + peer() + ", descriptor " + std::to_string(descriptor());
}

void TransportState::failed(const char* method, Weight weight, const std::exception_ptr& error) {
    const bool fatal = weight == Weight::vital;
    Report report(fatal ? "Fatal error: protocol." + std::string(method) + "() call failed."
                        : "protocol." + std::string(method) + "() failed",
                  error);
    report.details.emplace_back("protocol", protocol_->protocol_name());
    report.details.emplace_back("transport", name());
    if (fatal) lose(error);
    core().loop->call_exception_handler(report);
}

// ---- flow control ---------------------------------------------------------------------------

const WriteLimits& TransportState::limits() const noexcept {
    static const WriteLimits usual;
    const Extras* const made = extras_if_made();
    return made ? made->limits : usual;
}

void TransportState::set_limits(const WriteLimits& limits) {
    extras().limits = limits;
    if (!ending_ && !core().closed.load(std::memory_order_relaxed)) update_flow();
}

void TransportState::update_flow() {
    const std::size_t size = unsent();
    if (size > limits().high) write_paused_ = true;
    if (size <= limits().low) write_paused_ = false;
    if (write_paused_ == told_paused_ || flow_queued_) return;
    core().loop->call_soon(
        Options().label("net::Transport flow control"),
        [](const Keep& state) { state->tell_flow(); }, Keep(*this));
    flow_queued_ = true;
}

void TransportState::tell_flow() {
    flow_queued_ = false;
    if (write_paused_ == told_paused_ || ending_ || !protocol_) return;
    told_paused_ = write_paused_;
    if (told_paused_) {
        call("pause_writing", Weight::light, [](Protocol& protocol) { protocol.pause_writing(); });
    } else {
        call("resume_writing", Weight::light,
             [](Protocol& protocol) { protocol.resume_writing(); });
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
