// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <reactor/promise.hpp>
#include <reactor/scope.hpp>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::LogLevel;
using reactor::Promise;
using reactor::Report;

// An exception out of a callback takes neither the loop nor its neighbours with it
// (ipkn/crow#205, liancheng/amy#10): for each way into the queue, and for each kind of handler.

namespace {

enum class Who { nobody, handler, throwing_handler };

struct Failing {
    int number;
    void operator()() const {
        if (number == 2) throw std::runtime_error("f2");
        throw number;
    }
    void operator()(const Promise<void>&) const { (*this)(); }
};

/// Queues f1, f2 (throws runtime_error), f3 (throws int), f4 by one way into the queue.
using Queue =
    std::function<void(std::function<void()> f1, Failing, Failing, std::function<void()> f4)>;

struct Way {
    const char* name;
    Queue queue;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(error_isolation)

REACTOR_LOOP_TEST(each_failure_is_reported_once_and_the_fourth_runs_in_the_same_pass) {
    std::vector<SocketPair> pairs(4);
    for (SocketPair& pair : pairs) pair.send();
    reactor::Scope scope(loop);
    const std::vector<Way> ways = {
        {"call_soon",
         [&](std::function<void()> f1, Failing f2, Failing f3, std::function<void()> f4) {
             loop.call_soon(f1);
             loop.call_soon(f2);
             loop.call_soon(f3);
             loop.call_soon(f4);
         }},
        {"call_later",
         [&](std::function<void()> f1, Failing f2, Failing f3, std::function<void()> f4) {
             loop.call_later(seconds(0), f1);
             loop.call_later(seconds(0), f2);
             loop.call_at(loop.time(), f3);
             loop.call_later(seconds(-0), f4);
         }},
        {"call_soon_threadsafe",
         [&](std::function<void()> f1, Failing f2, Failing f3, std::function<void()> f4) {
             on_another_thread([&] {
                 loop.call_soon_threadsafe(f1);
                 loop.call_soon_threadsafe(f2);
                 loop.poster().post(f3);
                 loop.call_soon_threadsafe(f4);
             });
         }},
        {"Scope",
         [&](std::function<void()> f1, Failing f2, Failing f3, std::function<void()> f4) {
             scope.call_soon(f1);
             scope.call_soon(f2);
             scope.call_soon(scope.bind(f3));
             scope.call_soon(f4);
         }},
        {"add_reader",
         [&](std::function<void()> f1, Failing f2, Failing f3, std::function<void()> f4) {
             loop.add_reader(pairs[0].mine, f1);
             loop.add_reader(pairs[1].mine, f2);
             loop.add_reader(pairs[2].mine, f3);
             loop.add_reader(pairs[3].mine, f4);
         }},
        {"add_done_callback",
         [&](std::function<void()> f1, Failing f2, Failing f3, std::function<void()> f4) {
             const Promise<void> promise = loop.create_promise<void>();
             promise.add_done_callback([f1](const Promise<void>&) { f1(); });
             promise.add_done_callback(f2);
             promise.add_done_callback(f3);
             promise.add_done_callback([f4](const Promise<void>&) { f4(); });
             promise.set_result();
         }},
    };
    for (const Way& way : ways) {
        for (const Who who : {Who::nobody, Who::handler, Who::throwing_handler}) {
            BOOST_TEST_CONTEXT(way.name << ", handler " << static_cast<int>(who)) {
                std::vector<std::string> told, logged;
                loop.set_log([&](LogLevel, const std::string& text) { logged.push_back(text); });
                if (who == Who::nobody) {
                    loop.set_exception_handler(nullptr);
                } else {
                    loop.set_exception_handler([&](EventLoop&, const Report& report) {
                        told.push_back(reactor::describe(report.exception));
                        if (who == Who::throwing_handler) throw std::runtime_error("handler");
                    });
                }
                way.queue(say("f1"), Failing{2}, Failing{3}, say("f4"));
                loop.run_iterations(1);
                for (SocketPair& pair : pairs) loop.remove_reader(pair.mine);
                const std::string words = heard();
                // The order of descriptors is the selector's.
                BOOST_TEST((words == "f1 f4" || words == "f4 f1"));
                BOOST_TEST(told.size() == (who == Who::nobody ? 0u : 2u));
                BOOST_TEST(logged.size() == (who == Who::handler ? 0u : 2u));
                // Nothing that threw is run again, and the loop is as it was.
                loop.run_iterations(2);
                loop.call_soon([this] { loop.stop(); });
                loop.run_forever();
                BOOST_TEST(heard() == "");
                BOOST_TEST(told.size() == (who == Who::nobody ? 0u : 2u));
            }
        }
    }
    loop.set_log(nullptr);
    loop.set_exception_handler(nullptr);
    scope.clear();
    loop.close();
    BOOST_TEST(loop.is_closed());
}

BOOST_AUTO_TEST_SUITE_END()
