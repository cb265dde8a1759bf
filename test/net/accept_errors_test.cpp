// SPDX-License-Identifier: BSL-1.0
#include <net/listener.hpp>

#include "server_fixture.hpp"

#include <test/support/refusal.hpp>

#include <sys/syscall.h>

#include <memory>

using namespace served;
using reactor::Promise;
using reactor::net::Listener;
using reactor::net::Socket;

// Fault E9 (tiny-http/tiny-http#283, grpc/grpc#29318): what the system says of one client, while it
// is accepted and when it is asked afterwards, ends that client at most.

namespace {

// What accept4() says next, before it does what it is asked.
std::deque<int> accept_errors;
// While a client is gone nothing can be asked of its socket, and nothing told.
bool gone = false;

}  // namespace

// Instead of the C library's, for the whole program.
extern "C" int accept4(int fd, ::sockaddr* address, ::socklen_t* size, int flags) {
    if (!accept_errors.empty()) {
        errno = accept_errors.front();
        accept_errors.pop_front();
        return -1;
    }
    return static_cast<int>(::syscall(SYS_accept4, fd, address, size, flags));
}
extern "C" int getpeername(int fd, ::sockaddr* address, ::socklen_t* size) noexcept {
    if (gone) {
        errno = ENOTCONN;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_getpeername, fd, address, size));
}
extern "C" int setsockopt(int fd, int level, int name, const void* value,
                          ::socklen_t size) noexcept {
    if (gone) {
        errno = EINVAL;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_setsockopt, fd, level, name, value, size));
}

namespace {

struct Gone {
    Gone() { gone = true; }
    ~Gone() { gone = false; }
    Gone(const Gone&) = delete;
    Gone& operator=(const Gone&) = delete;
};

}  // namespace

#define SERVER_TEST(name) REACTOR_LOOP_TEST_IN(ServerTest, name)

BOOST_AUTO_TEST_SUITE(accept_errors_of_clients)

SERVER_TEST(E9_a_server_takes_clients_of_which_nothing_can_be_asked) {
    serve(ServerOptions().idle_timeout(seconds(60)).max_per_address(7));
    for (int i = 0; i < 10; ++i) connect();
    {
        const Gone all;
        // Those beyond the maximum are closed, as they cannot be reset.
        run_until([&] { return server.counters().refused_by_limit == 3; });
        run_until_open(7);
        BOOST_REQUIRE(courses.size() == 7u);
        courses[0].transport.abort();
        run_until_open(6);
    }
    run_until([&] { return clients[0].ended() && clients[9].ended(); });
    connect().send("good");
    run_until([&] { return last_bytes() == "good"; });
    BOOST_TEST(server.is_serving());
    BOOST_TEST(server.counters().failed == 0u);
    BOOST_TEST(server.counters().rests == 0u);
}

SERVER_TEST(E9_streams_of_clients_of_which_nothing_can_be_asked) {
    std::string got;
    const auto read = [&](Stream stream) {
        const auto client = std::make_shared<Stream>(std::move(stream));
        return client->read_all(100).then([&got, client](const std::string& bytes) {
            got += bytes;
            return client->close();
        });
    };
    server = start_server(loop, read, any_port);
    address = server.endpoints().front();
    {
        const Gone all;
        Client& client = connect();
        client.send("asked for nothing");
        client.end_sending();
        run_until([&] { return client.ended(); });
    }
    BOOST_TEST(got == "asked for nothing");
}

REACTOR_LOOP_TEST(E9_a_listener_passes_over_errors_of_clients) {
    loop.selector().set_patience(seconds(10));
    Listener listener(loop, any_port);
    for (const int code : {ECONNABORTED, EPROTO, EINTR, EPERM, ENETDOWN, EHOSTUNREACH}) {
        for (const bool waits : {true, false}) {
            Promise<Socket> accepted;
            if (waits) accepted = listener.accept();
            accept_errors = {code, code};
            const Client client(listener.local_endpoint());
            if (!waits) accepted = listener.accept();
            Socket good = loop.run_until_complete(accepted);
            client.send("good");
            BOOST_TEST(loop.run_until_complete(good.read()) == "good");
            BOOST_TEST(accept_errors.empty());
        }
    }
}

// What stands in everybody's way is the caller's to hear, once for each time that he asks.
REACTOR_LOOP_TEST(E9_a_listener_tells_what_concerns_all_and_goes_on) {
    loop.selector().set_patience(seconds(10));
    Listener listener(loop, any_port);
    const Client client(listener.local_endpoint());
    for (const int code : {ENOBUFS, ENOMEM, EMFILE}) {
        accept_errors = {code};
        const Promise<Socket> accepted = listener.accept();
        BOOST_TEST(support::code_of([&] { loop.run_until_complete(accepted); }) == code);
    }
    BOOST_TEST(loop.run_until_complete(listener.accept()).is_connected());
}

REACTOR_LOOP_TEST(E9_a_listener_gives_sockets_of_which_nothing_can_be_asked) {
    loop.selector().set_patience(seconds(10));
    Listener listener(loop, any_port);
    const Client client(listener.local_endpoint());
    client.send("asked for nothing");
    const Gone all;
    Socket accepted = loop.run_until_complete(listener.accept());
    BOOST_TEST(accepted.is_connected());
    BOOST_TEST(accepted.remote_endpoint().port() != 0);
    BOOST_TEST(loop.run_until_complete(accepted.read()) == "asked for nothing");
    loop.run_until_complete(accepted.send("answer"));
    BOOST_TEST(client.received() == "answer");
    accepted.abort();
}

BOOST_AUTO_TEST_SUITE_END()
