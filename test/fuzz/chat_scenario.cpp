// SPDX-License-Identifier: BSL-1.0
#include "guest.hpp"
#include "scenario.hpp"

#include <apps/chat/room.hpp>

#include <net/server.hpp>
#include <reactor/report.hpp>

#include <chrono>
#include <memory>
#include <vector>

namespace fuzz {

namespace {

using reactor::Duration;
using reactor::net::Endpoint;
using reactor::net::Server;
using reactor::net::ServerOptions;
using reactor::net::ShutdownSummary;

class ChatScenario final : public Scenario {
public:
    using Scenario::Scenario;

private:
    void run(Outcome& outcome) override {
        const Place place = open();
        const std::size_t count = 2 + random.below(12);
        for (std::size_t i = 0; i < count; ++i) {
            const GuestPlan plan(random, room_options_.longest_line);
            guests_.emplace_back(new Guest(loop, place, plan, i, count));
        }
        const bool early = random.below(3) == 0;
        loop.run_for(early ? some(std::chrono::seconds(4)) : long_time);
        end(outcome);
        for (const auto& guest : guests_) judge(*guest, early, outcome);
        check_network(outcome);
    }

    Place open() {
        room_options_.longest_line = 16 + random.below(std::size_t(1) << random.below(12));
        room_options_.rate = std::size_t(1) << (10 + random.below(18));
        generous_ = random.below(2) == 0;
        if (generous_) {
            room_options_.patience = std::chrono::seconds(100);
        } else {
            room_options_.queue = 16 + random.below(4096);
            room_options_.patience = std::chrono::milliseconds(1 + random.below(2000));
            room_options_.most_queued = room_options_.queue << random.below(6);
            if (random.below(3) == 0) room_options_.most_members = 1 + random.below(10);
        }
        room_.reset(new chat::Room(loop, room_options_));
        ServerOptions server_options;
        server_options.backlog(1 + static_cast<int>(random.below(20)));
        const Endpoint at = somewhere(7777);
        chat::Room* const room = room_.get();
        server_ = reactor::net::create_server(
            loop, [room] { return room->serve_member(); }, at, server_options);
        return place_at(at, "chat.test");
    }

    /// As the program does it.
    void end(Outcome& outcome) {
        const Duration grace =
            generous_ ? Duration(std::chrono::seconds(200)) : some(std::chrono::seconds(3));
        server_.close();
        room_->close("the room is closed");
        const auto ending = server_.shutdown(Duration::zero(), grace);
        if (random.below(4) == 0) room_.reset();  // the connections are the loop's
        loop.run_for(long_time);
        if (!ending.done()) outcome.faults.push_back("the room does not end");
        if (ending.done() && ending.error()) {
            outcome.faults.push_back("the room ends with: " + reactor::describe(ending.error()));
        }
        if (server_.counters().open != 0) {
            outcome.faults.push_back("a server counts open connections after its end");
        }
        if (room_ && room_->counters().present != 0) {
            outcome.faults.push_back("the room counts members after its end");
        }
        // Those who do not read have not heard of it.
        for (const auto& guest : guests_) guest->abort();
        loop.run_for(long_time);
    }

    void judge(const Guest& guest, bool early, Outcome& outcome) const {
        outcome.clients += 1;
        outcome.whole += guest.told() || guest.settled() ? 1 : 0;
        outcome.bytes += guest.heard();
        std::string fault = guest.wrong();
        for (const auto& other : guests_) {
            if (guest.misses_lines_of(*other)) fault = "misses what another one has said";
        }
        // Nobody drops it, so it hears of the end.
        const bool calm = guest.plan().stays() && generous_ && !early && nothing_goes_wrong();
        if (calm && !guest.told()) fault = "was not told of the end";
        if (calm && !guest.settled()) fault = "was not answered";
        if (!fault.empty()) outcome.faults.push_back(fault + ": guest " + guest.text());
        outcome.log += "guest " + guest.text() + '\n';
    }

    chat::RoomOptions room_options_;
    bool generous_ = false;
    std::unique_ptr<chat::Room> room_;
    Server server_;
    std::vector<std::unique_ptr<Guest>> guests_;
};

}  // namespace

Outcome run_chat(std::uint64_t seed, const std::string& selector) {
    return run_scenario(seed, selector, &make_scenario<ChatScenario>);
}

}  // namespace fuzz
