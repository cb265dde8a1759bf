// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>

#include "connected.hpp"

#include <net/resolver.hpp>
#include <reactor/combinators.hpp>
#include <reactor/task.hpp>

#include <atomic>
#include <memory>
#include <mutex>

using namespace connected;
using reactor::Next;
using reactor::Task;
using reactor::TaskHandle;

// Operations that end after their promise was cancelled, or in the same pass with their time limit
// (empicano/aiomqtt#122, python/cpython#86296, chriskohlhoff/asio#100).

namespace {

/// Connects within a limit, as programs write it.
class Connecting : public Task<bool> {
public:
    Connecting(const Endpoint& to, reactor::Duration limit, int* descriptor)
        : socket_(loop()), to_(to), limit_(limit), descriptor_(descriptor) {}

private:
    Next start() override {
        const Promise<void> connect = socket_.connect(to_);
        *descriptor_ = socket_.native_handle();
        return await(reactor::wait_for(connect, limit_), &Connecting::connected);
    }
    Next connected() { return finish(true); }

    Socket socket_;
    Endpoint to_;
    reactor::Duration limit_;
    int* descriptor_;
};

bool writable(int fd) {
    ::pollfd ready = {fd, POLLOUT, 0};
    return ::poll(&ready, 1, 10000) == 1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(late_outcome)

// After the cancellation the operation could succeed, or fail: neither is heard of.
REACTOR_LOOP_TEST(a_cancelled_connect_neither_succeeds_nor_fails_later) {
    be_patient(loop);
    Listener listener(loop, any_port);
    const Refusing refusing("127.0.0.1");
    for (const Endpoint& to : {listener.local_endpoint(), refusing.endpoint}) {
        Socket socket(loop);
        const Promise<void> connect = socket.connect(to);
        if (connect.done()) continue;  // no race to be had
        connect.add_done_callback([&](const Promise<void>& done) {
            BOOST_TEST(done.cancelled());
            say("told")();
        });
        BOOST_TEST(writable(socket.native_handle()));  // the outcome is there
        BOOST_TEST(connect.cancel());
        loop.run_iterations(3);
        BOOST_TEST(heard() == "told");
        BOOST_TEST(!socket.is_connected());
        BOOST_TEST(loop.watch_count() == 0u);
    }
}

REACTOR_LOOP_TEST(a_cancelled_read_neither_takes_data_nor_hears_of_a_reset) {
    for (const bool reset : {false, true}) {
        Pair pair = connected::pair(loop);
        const Promise<std::string> read = pair.server.read();
        BOOST_TEST(!read.done());
        if (reset) {
            pair.client.abort();
        } else {
            BOOST_TEST(::send(pair.client.native_handle(), "kept", 4, MSG_NOSIGNAL) == 4);
        }
        ::pollfd ready = {pair.server.native_handle(), POLLIN, 0};
        BOOST_TEST(::poll(&ready, 1, 10000) == 1);
        loop.call_soon([&] { BOOST_TEST(read.cancel()); });  // in the batch of its event
        loop.run_iterations(2);
        BOOST_TEST(read.cancelled());
        if (reset) {
            BOOST_TEST(error_of(loop, pair.server.read()).find("reset") != std::string::npos);
        } else {
            BOOST_TEST(loop.run_until_complete(pair.server.read()) == "kept");
        }
    }
}

REACTOR_LOOP_TEST(a_cancelled_look_up_neither_succeeds_nor_fails_later) {
    be_patient(loop);
    for (const bool fails : {false, true}) {
        const auto begun = std::make_shared<std::atomic<bool>>(false);
        const auto go = std::make_shared<std::atomic<bool>>(false);
        loop.service<reactor::net::Resolver>().set_lookup([=](const std::string& host) {
            *begun = true;
            while (!*go) std::this_thread::yield();
            if (fails) throw std::system_error(EIO, std::system_category(), host);
            return std::vector<Endpoint>{Endpoint("192.0.2.1", 0)};
        });
        const auto look_up = reactor::net::resolve(loop, "late.test", 80);
        while (!*begun) std::this_thread::yield();
        BOOST_TEST(look_up.cancel());
        look_up.add_done_callback([&](const Promise<std::vector<Endpoint>>& done) {
            BOOST_TEST(done.cancelled());
            say("told")();
        });
        loop.run_iterations(1);
        BOOST_TEST(heard() == "told");
        *go = true;
        // A second caller shares what is under way: it comes when that has come.
        const auto second = reactor::net::resolve(loop, "late.test", 80);
        if (fails) {
            BOOST_TEST(error_of(loop, second) != "");
        } else {
            BOOST_TEST(loop.run_until_complete(second).size() == 1u);
        }
        BOOST_TEST(look_up.cancelled());
        BOOST_TEST(heard() == "");
    }
}

// Success and expiry in one pass, in both orders, and a cancellation of the task on top: one
// outcome, no descriptor left, and no cancellation swallowed.
REACTOR_LOOP_TEST(connect_limit_and_cancellation_in_one_pass_have_one_outcome) {
    be_patient(loop);
    Listener listener(loop, any_port);
    enum class Also { nothing, cancel_before, cancel_after };
    for (const bool expiry_first : {false, true}) {
        for (const Also also : {Also::nothing, Also::cancel_before, Also::cancel_after}) {
            BOOST_TEST_CONTEXT("expiry first " << expiry_first << ", cancel "
                                               << static_cast<int>(also)) {
                int fd = -1;
                bool asked = false;  // for the cancellation, in time
                const TaskHandle<bool> task =
                    loop.create_task<Connecting>(listener.local_endpoint(), milliseconds(5), &fd);
                const auto cancel = [&asked, task] { asked = task.cancel(); };
                loop.run_iterations(1);
                BOOST_REQUIRE(fd >= 0);
                // Without an iteration in between, in which the event would be seen too early.
                ::pollfd arrived = {listener.native_handle(), POLLIN, 0};
                BOOST_TEST(::poll(&arrived, 1, 10000) == 1);
                const Promise<Socket> accepted = listener.accept();
                BOOST_REQUIRE(accepted.done());
                Socket peer = accepted.take();
                const bool pending = !task.done();
                BOOST_TEST(writable(fd));
                if (pending) {
                    if (also == Also::cancel_before) loop.call_soon(cancel);
                    if (expiry_first) {
                        // The clock passes the limit inside a batch, and the descriptor is found
                        // with it in the next one; a second timer stands behind both.
                        loop.call_soon([&] { loop.clock().advance(milliseconds(5)); });
                    } else {
                        loop.clock().advance(milliseconds(5));
                    }
                    if (also == Also::cancel_after) {
                        loop.call_at(
                            loop.time() + (expiry_first ? milliseconds(5) : milliseconds(0)),
                            cancel);
                    }
                }
                loop.run_until_idle();
                BOOST_TEST(task.done());
                std::string outcome;
                try {
                    outcome = task.result() ? "connected" : "";
                } catch (const TimeoutError&) {
                    outcome = "late";
                } catch (const CancelledError&) {
                    outcome = "cancelled";
                }
                // A value that has come is not thrown away for the limit's sake.
                if (pending) {
                    BOOST_TEST(outcome == (asked ? "cancelled" : "connected"));
                    BOOST_TEST(asked == (also != Also::nothing));
                }
                // The task has ended and its socket with it: the peer sees the end.
                BOOST_TEST(loop.run_until_complete(peer.read()) == "");
                BOOST_TEST(loop.timer_count() == 0u);
                BOOST_TEST(loop.watch_count() == 0u);
            }
        }
    }
}

// Nobody answers: the limit wins, and what was under way is closed.
REACTOR_LOOP_TEST(if_the_limit_wins_the_socket_is_closed) {
    const Full full(loop);
    const std::size_t before = reactor::testing::open_descriptors();
    int fd = -1;
    const TaskHandle<bool> task =
        loop.create_task<Connecting>(full.listener.local_endpoint(), milliseconds(5), &fd);
    loop.run_for(milliseconds(5));
    loop.run_until_idle();
    BOOST_CHECK_THROW(task.result(), TimeoutError);
    BOOST_TEST(reactor::testing::open_descriptors() == before);
    BOOST_TEST(loop.timer_count() == 0u);
    BOOST_TEST(loop.watch_count() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
