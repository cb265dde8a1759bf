// SPDX-License-Identifier: BSL-1.0
#include <reactor/task.hpp>

#include "connected.hpp"

#include <reactor/combinators.hpp>
#include <reactor/scope.hpp>

#include <functional>
#include <memory>
#include <stdexcept>

using namespace connected;
using reactor::Next;
using reactor::Task;

// Tasks that nobody holds (python/cpython#91887, aio-libs/aiohttp#8614), and callbacks that hold
// the object they belong to (zaphoyd/websocketpp#310, boostorg/beast#1539).

namespace {

/// Sleeps, reads, writes; and may fail at the end.
class ThreeSteps : public Task<int> {
public:
    ThreeSteps(Socket socket, bool fails, std::shared_ptr<int> witness)
        : socket_(std::move(socket)), fails_(fails), witness_(std::move(witness)) {}

private:
    Next start() override { return await(reactor::sleep(milliseconds(10)), &ThreeSteps::read); }
    Next read() { return await(socket_.read(), &ThreeSteps::write); }
    Next write(std::string bytes) { return await(socket_.send("got " + bytes), &ThreeSteps::sent); }
    Next sent() {
        if (fails_) throw std::runtime_error("step 3");
        return finish(3);
    }

    Socket socket_;
    bool fails_;
    std::shared_ptr<int> witness_;
};

/// As programs have them: every callback captures a shared_ptr of the connection itself.
class Connection : public std::enable_shared_from_this<Connection> {
public:
    Connection(reactor::EventLoop& loop, Socket socket) : loop_(loop), socket_(std::move(socket)) {}

    void start() {
        const std::shared_ptr<Connection> self = shared_from_this();
        timer_ = loop_.call_later(seconds(60), [self] { self->end(); });
        on_close_ = [self] { self->ends_++; };
        read();
    }
    void end() {
        timer_.cancel();
        socket_.close();
        const std::function<void()> told = std::move(on_close_);
        on_close_ = nullptr;
        if (told) told();
    }
    int ends_ = 0;

private:
    void read() {
        const std::shared_ptr<Connection> self = shared_from_this();
        socket_.read().add_done_callback([self](const Promise<std::string>& done) {
            if (done.cancelled()) return;
            if (done.error() || done.result().empty()) {
                self->end();
            } else {
                self->read();
            }
        });
    }

    reactor::EventLoop& loop_;
    Socket socket_;
    reactor::TimerHandle timer_;
    std::function<void()> on_close_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(forgotten)

REACTOR_LOOP_TEST(a_task_of_three_steps_that_nobody_holds_finishes) {
    Pair pair = connected::pair(loop);
    auto witness = std::make_shared<int>(1);
    const std::weak_ptr<int> alive = witness;
    loop.create_task<ThreeSteps>(std::move(pair.server), false, std::move(witness));
    loop.run_for(milliseconds(10));
    BOOST_TEST(!alive.expired());
    loop.run_until_complete(pair.client.send("data"));
    BOOST_TEST(loop.run_until_complete(pair.client.read()) == "got data");
    loop.run_until_idle();
    BOOST_TEST(alive.expired());
}

REACTOR_LOOP_TEST(a_task_that_nobody_holds_and_that_fails_in_its_third_step_is_reported_once) {
    Pair pair = connected::pair(loop);
    loop.create_task<ThreeSteps>(std::move(pair.server), true, nullptr);
    loop.run_for(milliseconds(10));
    loop.run_until_complete(pair.client.send("data"));
    BOOST_TEST(loop.run_until_complete(pair.client.read()) == "got data");
    loop.run_until_idle();
    const std::vector<reactor::Report> reports = take_reports();
    BOOST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message == "Task exception was never retrieved");
    BOOST_TEST(reactor::describe(reports[0].exception) == "step 3");
    BOOST_TEST(reports[0].task.find("ThreeSteps") != std::string::npos);
}

REACTOR_LOOP_TEST(an_error_that_nobody_reads_is_reported_once_when_its_promise_goes) {
    Promise<int> failed = loop.create_promise<int>();
    failed.set_exception(std::runtime_error("unread"));
    Promise<int> copy = failed;
    failed = Promise<int>();
    BOOST_TEST(take_reports().empty());
    copy = Promise<int>();
    BOOST_TEST(take_reports().size() == 1u);
}

// One in each step, and one that has not begun: the loop's end destroys them, in order, once.
BOOST_AUTO_TEST_CASE_TEMPLATE(pending_tasks_go_with_their_loop, On, support::EverySelector) {
    const std::size_t descriptors = reactor::testing::open_descriptors();
    auto witness = std::make_shared<int>(1);
    {
        TestLoop loop(On::name());
        int failed = 0;
        loop.set_exception_handler([&](reactor::EventLoop&, const reactor::Report&) { ++failed; });
        std::vector<Socket> peers;
        std::vector<reactor::TaskHandle<int>> held;
        for (int step = 0; step < 3; ++step) {
            Pair pair = connected::pair(loop);
            if (step == 2) fill(pair.server);  // its answer will have to wait
            peers.push_back(std::move(pair.client));
            held.push_back(loop.create_task<ThreeSteps>(std::move(pair.server), false, witness));
            loop.create_task<ThreeSteps>(Socket(loop), false, witness);  // will fail at its read
            if (step > 0) loop.run_for(milliseconds(10));
            if (step == 2) {
                peers.back().send("data");
                loop.run_iterations(3);
            }
        }
        Pair late = connected::pair(loop);
        loop.create_task<ThreeSteps>(std::move(late.server), false, witness);  // not begun
        loop.close();
        for (const auto& task : held) BOOST_TEST(!task.done());
        peers.clear();
        late.client = Socket();
        held.clear();
        BOOST_TEST(witness.use_count() == 1);
        BOOST_TEST(failed == 3);  // once each, and what was pending is no failure
    }
    BOOST_TEST(reactor::testing::open_descriptors() == descriptors);
}

REACTOR_LOOP_TEST(a_connection_whose_callbacks_hold_it_goes_with_its_end) {
    enum class End { by_peer, by_user, by_reset, by_timer };
    for (const End how : {End::by_peer, End::by_user, End::by_reset, End::by_timer}) {
        BOOST_TEST_CONTEXT("end " << static_cast<int>(how)) {
            Pair pair = connected::pair(loop);
            auto connection = std::make_shared<Connection>(loop, std::move(pair.server));
            const std::weak_ptr<Connection> alive = connection;
            connection->start();
            loop.run_until_complete(pair.client.send("data"));
            loop.run_iterations(2);
            if (how == End::by_user) loop.call_soon(&Connection::end, connection);
            connection.reset();
            BOOST_TEST(!alive.expired());  // its callbacks keep it
            if (how == End::by_peer) pair.client = Socket();
            if (how == End::by_reset) pair.client.abort();
            if (how == End::by_timer) loop.selector().set_patience(reactor::Duration::zero());
            while (!alive.expired() && loop.timer_count() != 0) loop.run_once();
            loop.run_iterations(2);  // the terminal event, and one more pass
            BOOST_TEST(alive.expired());
            BOOST_TEST(loop.timer_count() == 0u);
            BOOST_TEST(loop.watch_count() == 0u);
        }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_connection_whose_callbacks_hold_it_goes_with_its_loop, On,
                              support::EverySelector) {
    const std::size_t descriptors = reactor::testing::open_descriptors();
    std::weak_ptr<Connection> alive;
    {
        TestLoop loop(On::name());
        Pair pair = connected::pair(loop);
        const auto connection = std::make_shared<Connection>(loop, std::move(pair.server));
        alive = connection;
        connection->start();
        loop.run_iterations(2);
        loop.close();
        connection->end();  // a closed loop refuses nothing of this
    }
    BOOST_TEST(alive.expired());
    BOOST_TEST(reactor::testing::open_descriptors() == descriptors);
}

BOOST_AUTO_TEST_SUITE_END()
