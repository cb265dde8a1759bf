// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SOAK_PROTOCOL_PARTY_HPP
#define REACTOR_TEST_SOAK_PROTOCOL_PARTY_HPP

#include <net/byte_view.hpp>
#include <net/protocol.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/handle.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include <test/soak/ledger.hpp>
#include <test/soak/plan.hpp>

namespace soak {

/// What is read before a server knows its client: the number of the connection.
constexpr std::size_t greeting_size = 8;
std::string greeting(std::uint64_t id);
std::uint64_t greeted(reactor::net::ByteView bytes);

/// One end of a connection as a Protocol: sends what the plan says, as fast as the transport wants
/// it, and has what comes checked.
class ProtocolParty final : public reactor::net::Protocol, public Party {
public:
    /// A server's end, which is told by its client what the plan is. `file` holds most_bytes of the
    /// file's content.
    ProtocolParty(Ledger& ledger, int file);
    /// A client's.
    ProtocolParty(Ledger& ledger, int file, const Plan& plan);
    ~ProtocolParty() override;

    void be_reset() override { transport_.abort(); }
    void be_closed() override { transport_.close(); }
    void be_cancelled() override { transport_.abort(); }

private:
    void connection_made(const reactor::net::Transport& transport) override;
    void data_received(reactor::net::ByteView bytes) override;
    bool eof_received() override;
    void connection_lost(std::exception_ptr error) override;
    void pause_writing() override { paused_ = true; }
    void resume_writing() override;

    bool is_client() const noexcept { return side_ == Side::client; }
    std::size_t to_send() const noexcept { return is_client() ? plan_->up : plan_->down; }
    std::size_t to_receive() const noexcept { return is_client() ? plan_->down : plan_->up; }
    void begin(const Plan& plan);
    void take(reactor::net::ByteView bytes);
    void rest_a_while();
    void send_file();
    void send_some();
    void go_on();
    void look_for_the_end();

    Ledger& ledger_;
    const int file_;
    const Side side_;
    std::unique_ptr<Plan> plan_;  // null: not known yet
    reactor::net::Transport transport_;
    std::string greeting_;  // a part of it
    std::uint64_t received_ = 0;
    std::size_t sent_ = 0;
    bool sending_ = false;
    bool paused_ = false;
    bool eof_ = false;
    bool eof_written_ = false;
    bool joined_ = false;
    reactor::Handle next_;
    reactor::TimerHandle rest_;
    std::shared_ptr<ProtocolParty*> self_;  // for a promise that may outlive this
};

}  // namespace soak

#endif
