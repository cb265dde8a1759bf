// SPDX-License-Identifier: BSL-1.0
#include <net/resolver.hpp>

#include "connected.hpp"

#include <net/create_datagram_endpoint.hpp>
#include <net/datagram_protocol.hpp>
#include <net/http/client.hpp>
#include <net/open_connection.hpp>
#include <net/server.hpp>

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

using namespace connected;
using reactor::net::Resolver;
using Endpoints = std::vector<Endpoint>;

// Fault F1 (libuv/libuv#28, python/cpython#112191): the system may take its time for a name. It is
// asked on other threads only, whoever needs the name, and on few of them.

namespace {

std::mutex mutex;
std::condition_variable changed;
bool answers = false;  // names that end in .slow.test
std::size_t waiting = 0, most = 0;
const std::thread::id here = std::this_thread::get_id();
bool asked_here = false;

void answer_the_slow(bool now) {
    const std::lock_guard<std::mutex> lock(mutex);
    answers = now;
    changed.notify_all();
}

/// How many of them are asked for, as soon as there are so many.
std::size_t asked(std::size_t expected) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait_for(lock, seconds(10), [expected] { return waiting >= expected; });
    return waiting;
}

struct Answer {
    ::addrinfo info;
    ::sockaddr_in address;
};

}  // namespace

// Instead of the C library's, for the whole program: every name is this host's.
extern "C" int getaddrinfo(const char* host, const char* service, const ::addrinfo*,
                           ::addrinfo** list) {
    std::unique_lock<std::mutex> lock(mutex);
    asked_here = asked_here || std::this_thread::get_id() == here;
    if (asked_here || service || !host) return EAI_FAIL;
    if (std::strstr(host, ".slow.test")) {
        most = std::max(most, ++waiting);
        changed.notify_all();
        changed.wait(lock, [] { return answers; });
        --waiting;
    }
    Answer* const answer = new Answer();
    answer->address.sin_family = AF_INET;
    answer->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    answer->info.ai_family = AF_INET;
    answer->info.ai_addrlen = sizeof answer->address;
    answer->info.ai_addr = static_cast<::sockaddr*>(static_cast<void*>(&answer->address));
    *list = &answer->info;
    return 0;
}
extern "C" void freeaddrinfo(::addrinfo* list) noexcept {
    delete static_cast<Answer*>(static_cast<void*>(list));  // its first member
}

namespace {

struct Nothing final : reactor::net::DatagramProtocol {
    void datagram_received(reactor::net::ByteView, const Endpoint&) override {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(system_names)

REACTOR_LOOP_TEST(F1_slow_names_hold_up_nobody_whoever_needs_them) {
    answer_the_slow(false);
    Pair connection = pair(loop);
    const std::string bytes = pattern(1 << 20);
    const Refusing refusing("127.0.0.1");
    const std::uint16_t port = refusing.endpoint.port();
    std::vector<Promise<Endpoints>> slow;
    for (int i = 0; i < 60; ++i) {
        slow.push_back(reactor::net::resolve(loop, std::to_string(i) + ".slow.test", 1));
    }
    const auto stream = reactor::net::open_connection(loop, "stream.slow.test", port);
    auto server = reactor::net::start_server(
        loop, [](reactor::net::Stream) {}, "server.slow.test", 0);
    auto endpoint = reactor::net::create_datagram_endpoint(
        loop, [] { return std::unique_ptr<reactor::net::DatagramProtocol>(new Nothing); },
        reactor::net::DatagramEndpointOptions().remote("endpoint.slow.test", port));
    const auto page = reactor::net::http_get(
        loop, reactor::net::Url::parse("http://page.slow.test:" + std::to_string(port) + "/"));
    loop.run_iterations(2);
    BOOST_TEST(asked(Resolver::max_threads) == Resolver::max_threads);

    // Addresses need no thread; a name waits for one, as it is written.
    BOOST_TEST(reactor::net::resolve(loop, "127.0.0.1", 1).done());
    BOOST_TEST(reactor::net::resolve(loop, "::1", 1).done());
    const Promise<Endpoints> localhost = reactor::net::resolve(loop, "localhost", 1);
    const Promise<Endpoints> impatient =
        reactor::net::resolve(loop, "localhost", 1, milliseconds(500));
    check_that_nothing_is_held_up(loop, connection);
    BOOST_TEST(!localhost.done());
    BOOST_CHECK_THROW(impatient.result(), TimeoutError);

    answer_the_slow(true);
    loop.run_until_complete(reactor::gather(slow));
    BOOST_TEST(!loop.run_until_complete(localhost).empty());
    BOOST_TEST(error_of(loop, stream).find("Connection refused") != std::string::npos);
    BOOST_TEST(error_of<reactor::net::HttpResponse>(loop, page).find("Connection refused") !=
               std::string::npos);
    loop.run_until_complete(server).close();
    server = Promise<reactor::net::Server>();
    loop.run_until_complete(endpoint).abort();
    endpoint = Promise<reactor::net::DatagramTransport>();
    loop.run_until_idle();
    BOOST_TEST(most == Resolver::max_threads);
    BOOST_TEST(!asked_here);
}

BOOST_AUTO_TEST_SUITE_END()
