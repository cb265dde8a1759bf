// SPDX-License-Identifier: BSL-1.0
#include <net/server_group.hpp>

#include "server_group_fixture.hpp"

#include <memory>
#include <mutex>

using namespace grouped;

namespace {

const Spread both_ways[] = {Spread::by_system, Spread::in_turn};

/// Echoes, and tells when its client has gone.
class Telling : public Protocol {
public:
    explicit Telling(std::function<void()> lost) : lost_(std::move(lost)) {}

private:
    void connection_made(const reactor::net::Transport& transport) override {
        transport_ = transport;
    }
    void data_received(reactor::net::ByteView bytes) override { transport_.write(bytes); }
    void connection_lost(std::exception_ptr) override { lost_(); }

    const std::function<void()> lost_;
    reactor::net::Transport transport_;
};

struct RoomTest : ServerGroupTest {
    /// A place on each loop; `action` is for the first client that goes.
    void serve_one_each(LoopGroup& on, Spread spread, const std::function<void()>& action) {
        const auto once = std::make_shared<std::once_flag>();
        const auto lost = [once, action] { std::call_once(*once, action); };
        server = wait(create_server_group(
            loop, on,
            [lost](EventLoop&) -> ProtocolFactory {
                return [lost] { return std::unique_ptr<Protocol>(new Telling(lost)); };
            },
            {any_port}, ServerOptions().max_connections(1), spread));
        address = server.endpoints().at(0);
        wait(server.counters(loop));  // the loops may use `server` from now on
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(server_group_room, RoomTest)

BOOST_AUTO_TEST_CASE(closed_when_a_client_goes_it_serves_the_one_that_waits) {
    for (const Spread spread : both_ways) {
        LoopGroup one(1);
        one.start();
        serve_one_each(one, spread, [this] { server.close(); });
        Client first = served();
        const Client waiting(address);
        waiting.send("hello");
        first.close();
        BOOST_TEST(waiting.read() == "hello");
        BOOST_TEST(wait(server.counters(loop)).accepted == 2u);
        server = ServerGroup();
    }
}

BOOST_AUTO_TEST_CASE(in_turn_the_first_loop_hears_of_the_room_before_it_stops) {
    serve_one_each(loops, Spread::in_turn, [this] {
        server.close();
        // The first loop goes round before this client's place is free.
        std::promise<void> round;
        loops.poster(0).post([&round] { round.set_value(); });
        round.get_future().wait();
    });
    const Client first = served();
    Client second = served();
    const Client waiting(address);
    waiting.send("hello");
    second.close();
    BOOST_TEST(waiting.read() == "hello");
    loops_have_heard();
    BOOST_TEST(Client(address).error() == ECONNREFUSED);
}

BOOST_AUTO_TEST_SUITE_END()
