// SPDX-License-Identifier: BSL-1.0
#include <net/resolver.hpp>

#include "names.hpp"

#include <test/reactor/forked.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

using namespace connected;
using namespace names;

using reactor::net::resolve;

BOOST_AUTO_TEST_SUITE(resolver_limits)

// A thread that hangs must not be waited for: only the program's end does end it. Comes first, as
// long as this process has but one thread: ThreadSanitizer allows the child none otherwise.
BOOST_AUTO_TEST_CASE(the_program_ends_while_a_look_up_hangs) {
    const ::pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);
        reactor::EventLoop loop;
        const auto names = std::make_shared<Names>();
        loop.service<Resolver>().set_lookup(
            [names](const std::string& host) { return names->look_up(host); });
        const Promise<Endpoints> hangs = resolve(loop, "slow", 1);
        names->wait_until_asked(1);
        BOOST_TEST(hangs.cancel());
        loop.close();
        std::exit(hangs.cancelled() ? 7 : 8);
    }
    int status = 0;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    BOOST_TEST(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == 7);
}

#if !defined(__SANITIZE_THREAD__)  // which ends the child of a program with threads
// Law 9: the pool's threads are the parent's, and its locks are as they left them.
REACTOR_LOOP_TEST(a_forked_child_closes_its_loop_without_the_threads) {
    const std::shared_ptr<Names> names = names_for(loop);
    std::vector<Promise<Endpoints>> both{resolve(loop, "one.test", 1),
                                         resolve(loop, "two.test", 1)};
    loop.run_until_complete(reactor::gather(both));
    loop.run_until_complete(resolve(loop, "three.test", 1));
    const Forked child = forked([this] { loop.close(); });
    BOOST_TEST(child.status == 0);
}
#endif

// A job that no thread has begun goes with what its look-up refers to.
REACTOR_LOOP_TEST(a_late_name_may_be_cancelled_by_what_its_look_up_refers_to) {
    const std::shared_ptr<Names> names = names_for(loop);
    std::vector<Promise<Endpoints>> slow;
    for (const char* host : {"slow1", "slow2", "slow3", "slow4"}) {
        slow.push_back(resolve(loop, host, 1));
    }
    names->wait_until_asked(4);
    Promise<Endpoints> late;
    Promise<Endpoints> again;
    int ends = 0;
    Resolver& resolver = loop.service<Resolver>();
    {
        const std::shared_ptr<void> captured(nullptr, [&](void*) {
            ++ends;
            BOOST_TEST(!late.cancel());
            again = resolve(loop, "late", 2);
        });
        resolver.set_lookup([captured](const std::string&) { return Endpoints(); });
    }
    late = resolve(loop, "late", 1, milliseconds(50));
    resolver.set_lookup([names](const std::string& host) { return names->look_up(host); });
    BOOST_TEST(ends == 0);
    loop.selector().set_patience(reactor::Duration::zero());
    BOOST_TEST(error_of(loop, late) == "resolve late: Connection timed out");
    be_patient(loop);
    BOOST_TEST(ends == 1);
    names->answer_the_slow();
    BOOST_TEST(loop.run_until_complete(again)[0].port() == 2);
    loop.run_until_complete(reactor::gather(slow));
}

// Fault F1: slow names hold up neither the loop nor addresses, and take a bounded number of
// threads.
REACTOR_LOOP_TEST(slow_names_hold_up_nobody_else) {
    Pair connection = pair(loop);
    const std::shared_ptr<Names> names = names_for(loop);
    std::vector<Promise<Endpoints>> slow;
    for (int i = 0; i < 64; ++i) slow.push_back(resolve(loop, "slow" + std::to_string(i), 1));
    names->wait_until_asked(Resolver::max_threads);
    for (const char* literal : {"127.0.0.1", "::1"}) BOOST_TEST(resolve(loop, literal, 1).done());
    check_that_nothing_is_held_up(loop, connection);
    BOOST_TEST(names->count() == Resolver::max_threads);
    // One that has not begun is never asked for once nobody wants it.
    BOOST_TEST(slow[63].cancel());
    names->answer_the_slow();
    slow.pop_back();
    loop.run_until_complete(reactor::gather(slow));
    BOOST_TEST(names->count() == 63u);
}

// What each of them costs must not grow with how many wait: else this would take minutes.
REACTOR_LOOP_TEST(many_wait_for_one_name_and_leave) {
    constexpr std::size_t count = 100000;
    const std::shared_ptr<Names> names = names_for(loop);
    std::vector<Promise<Endpoints>> waits;
    for (std::size_t i = 0; i < count; ++i) waits.push_back(resolve(loop, "slow", 1));
    std::string order;
    for (const std::size_t stays : {7u, 50000u, 99999u}) {
        waits[stays].add_done_callback(
            [&order, stays](const Promise<Endpoints>&) { order += std::to_string(stays) + ' '; });
    }
    const auto stays = [](std::size_t i) { return i == 7 || i == 50000 || i == 99999; };
    for (std::size_t i = 0; i < count; ++i) {  // from both ends
        const std::size_t leaves = i % 2 == 0 ? i / 2 : count - 1 - i / 2;
        if (!stays(leaves)) BOOST_TEST_REQUIRE(waits[leaves].cancel());
    }
    names->answer_the_slow();
    loop.run_until_complete(waits.back());
    loop.run_until_idle();
    BOOST_TEST(order == "7 50000 99999 ");
    BOOST_TEST(names->count() == 1u);
}

REACTOR_LOOP_TEST(too_many_names_are_an_error_and_not_a_longer_queue) {
    const std::shared_ptr<Names> names = names_for(loop);
    std::vector<Promise<Endpoints>> slow;
    for (std::size_t i = 0; i < Resolver::max_threads; ++i) {
        slow.push_back(resolve(loop, "slow" + std::to_string(i), 1));
    }
    names->wait_until_asked(Resolver::max_threads);
    for (std::size_t i = 0; i < Resolver::max_waiting; ++i) {
        slow.push_back(resolve(loop, "name" + std::to_string(i), 1));
    }
    const Promise<Endpoints> beyond = resolve(loop, "beyond", 1);
    BOOST_TEST(code_of(beyond) == EAGAIN);
    BOOST_TEST(error_of(loop, beyond).find("resolve beyond: too many") == 0u);
    for (const Promise<Endpoints>& promise : slow) BOOST_TEST(promise.cancel());
    names->answer_the_slow();
    BOOST_TEST(!loop.run_until_complete(resolve(loop, "beyond", 1)).empty());
    loop.close();  // answers to the cancelled ones may be on their way
}

BOOST_AUTO_TEST_CASE(the_loop_closes_while_a_look_up_hangs) {
    const auto names = std::make_shared<Names>();
    Promise<Endpoints> promise;
    {
        TestLoop loop;
        loop.service<Resolver>().set_lookup(
            [names](const std::string& host) { return names->look_up(host); });
        promise = resolve(loop, "slow", 1, seconds(9));
        const Promise<Endpoints> waiting = resolve(loop, "slow", 2);
        names->wait_until_asked(1);
        loop.close();
        BOOST_TEST(!promise.done());
    }
    BOOST_TEST(promise.cancel());
    names->answer_the_slow();
}

BOOST_AUTO_TEST_SUITE_END()
