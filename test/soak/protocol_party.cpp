// SPDX-License-Identifier: BSL-1.0
#include <test/soak/protocol_party.hpp>

#include <reactor/promise.hpp>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace soak {

using reactor::net::ByteView;
using reactor::net::Transport;

std::string greeting(std::uint64_t id) {
    std::string bytes;
    for (std::size_t i = 0; i < greeting_size; ++i) bytes += static_cast<char>(id >> (8 * i));
    return bytes;
}

std::uint64_t greeted(ByteView bytes) {
    std::uint64_t id = 0;
    for (std::size_t i = 0; i < greeting_size; ++i) {
        id |= std::uint64_t{static_cast<unsigned char>(bytes.data()[i])} << (8 * i);
    }
    return id;
}

ProtocolParty::ProtocolParty(Ledger& ledger, int file)
    : ledger_(ledger),
      file_(file),
      side_(Side::server),
      self_(std::make_shared<ProtocolParty*>(this)) {}

ProtocolParty::ProtocolParty(Ledger& ledger, int file, const Plan& plan)
    : ledger_(ledger),
      file_(file),
      side_(Side::client),
      plan_(new Plan(plan)),
      self_(std::make_shared<ProtocolParty*>(this)) {}

ProtocolParty::~ProtocolParty() {
    *self_ = nullptr;
    next_.cancel();
    rest_.cancel();
}

void ProtocolParty::connection_made(const Transport& transport) {
    transport_ = transport;
    // Nobody is silent for so long: one that is has been forgotten.
    transport.set_idle_timeout(std::chrono::minutes(1));
    if (!plan_) return;
    transport.write(greeting(plan_->id));
    begin(*plan_);
    sending_ = true;
    go_on();
}

void ProtocolParty::begin(const Plan& plan) {
    if (!is_client()) plan_.reset(new Plan(plan));
    plan_->random = Random(plan.id * 2 + (is_client() ? 0 : 1));
    joined_ = ledger_.join(plan.id, side_, *this);
    if (!joined_) transport_.abort();
}

// ---- receiving ------------------------------------------------------------------------------

void ProtocolParty::data_received(ByteView bytes) {
    if (!plan_) {
        const std::size_t more = std::min(bytes.size(), greeting_size - greeting_.size());
        greeting_ += bytes.from(0, more).str();
        bytes = bytes.from(more);
        if (greeting_.size() < greeting_size) return;
        const Plan* const plan = ledger_.find(greeted(greeting_));
        if (!plan) {
            transport_.abort();
            return;
        }
        begin(*plan);
        sending_ = plan_->at_once;
    }
    if (!bytes.empty()) take(bytes);
    look_for_the_end();
    go_on();
}

void ProtocolParty::take(ByteView bytes) {
    ledger_.check(*plan_, side_, received_, bytes);
    received_ += bytes.size();
    if (!is_client()) {
        const bool refusal = plan_->ending == Ending::refusal;
        if (refusal && received_ >= plan_->refuse_at) transport_.pause_reading();
        return;
    }
    if (plan_->slow && plan_->random.one_in(4)) rest_a_while();
}

void ProtocolParty::rest_a_while() {
    transport_.pause_reading();
    rest_ = transport_.loop().call_later(
        plan_->random.up_to(std::chrono::milliseconds(4)),
        [](const Transport& transport) { transport.resume_reading(); }, transport_);
}

bool ProtocolParty::eof_received() {
    eof_ = true;
    if (!plan_) return false;
    look_for_the_end();
    go_on();
    // A client that was struck ends before it has sent everything, and waits for no answer.
    return !is_client() && plan_->ending == Ending::half_close && received_ >= plan_->up;
}

// ---- sending --------------------------------------------------------------------------------

void ProtocolParty::resume_writing() {
    paused_ = false;
    go_on();
}

/// Writes once in each turn, so that it hears when the transport has enough.
void ProtocolParty::go_on() {
    if (!plan_ || next_ || paused_ || transport_.is_closing()) return;
    if (!is_client() && !sending_) {
        const bool all = received_ >= plan_->up;
        sending_ = plan_->ending == Ending::half_close ? all && eof_
                   : plan_->ending == Ending::refusal  ? received_ >= plan_->refuse_at
                                                       : all;
    }
    if (!sending_ || sent_ == to_send()) {
        look_for_the_end();
        return;
    }
    next_ = transport_.loop().call_soon(&ProtocolParty::send_some, this);
}

void ProtocolParty::send_some() {
    next_ = reactor::Handle();
    if (transport_.is_closing()) return;
    if (!is_client() && plan_->from_file) {
        send_file();
        return;
    }
    const Content& content = is_client() ? plan_->upward : plan_->downward;
    const std::size_t count = std::min<std::size_t>(
        to_send() - sent_, 1 + plan_->random.below(plan_->random.one_in(4) ? 100000 : 5000));
    std::string bytes = content.bytes(sent_, count);
    switch (plan_->random.below(3)) {
        case 0:
            transport_.write(std::move(bytes));
            break;
        case 1: {
            const ByteView all(bytes);
            transport_.write_lines({all.from(0, count / 2), all.from(count / 2)});
            break;
        }
        default:
            transport_.write(ByteView(bytes));
            break;
    }
    sent_ += count;
    go_on();
}

void ProtocolParty::send_file() {
    sending_ = true;
    const std::size_t count = plan_->down;
    const std::shared_ptr<ProtocolParty*> self = self_;
    paused_ = true;  // nothing else goes out
    transport_.send_file(file_, plan_->downward.first(), count)
        .add_done_callback([self, count](const reactor::Promise<std::uint64_t>& sent) {
            const bool good = !sent.error() && sent.result() == count;
            if (!*self || !good) return;  // what ended the connection is told there
            (*self)->sent_ = count;
            (*self)->paused_ = false;
            (*self)->go_on();
        });
}

// ---- ending ---------------------------------------------------------------------------------

void ProtocolParty::look_for_the_end() {
    if (!plan_ || transport_.is_closing()) return;
    const bool all_sent = sent_ == to_send();
    const bool all_received = received_ >= to_receive();
    switch (plan_->ending) {
        case Ending::server_closes:
            if (!is_client() && all_sent && all_received) transport_.close();
            break;
        case Ending::client_closes:
            if (is_client() && all_sent && all_received) transport_.close();
            break;
        case Ending::half_close:
            if (is_client()) {
                if (all_sent && !eof_written_) transport_.write_eof();
                eof_written_ = eof_written_ || all_sent;
            } else if (all_sent && eof_) {
                transport_.close();
            }
            break;
        case Ending::refusal:
            if (!is_client() && all_sent) transport_.close_unread();
            break;
    }
}

void ProtocolParty::connection_lost(std::exception_ptr error) {
    next_.cancel();
    if (joined_) ledger_.leave(*plan_, side_, received_, error);
}

}  // namespace soak
