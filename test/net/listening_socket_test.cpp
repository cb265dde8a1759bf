// SPDX-License-Identifier: BSL-1.0
#include <net/detail/listening_socket.hpp>

#include "connected.hpp"
#include "unix_sockets.hpp"
#include <net/detail/transport_service.hpp>
#include <test/support/socket_option.hpp>
#include <test/support/temporary_directory.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cerrno>

using namespace connected;
using reactor::net::detail::accept_error_concerns_one_client;
using reactor::net::detail::ListeningOptions;
using reactor::net::detail::ListeningSocket;
using reactor::net::detail::SimulatedNetwork;
using reactor::net::detail::TransportService;

namespace {

ListeningOptions usual() {
    ListeningOptions options;
    options.backlog = 100;
    options.reuse_address = true;
    options.reuse_port = false;
    options.v6_only = true;
    options.permissions = -1;
    return options;
}

int option_of(const ListeningSocket& socket, int level, int name) {
    return support::socket_option(socket.descriptor(), level, name);
}

unsigned backlog_of(const ListeningSocket& socket) {
    ::tcp_info info = ::tcp_info();
    ::socklen_t size = sizeof info;
    BOOST_TEST(::getsockopt(socket.descriptor(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0);
    return info.tcpi_sacked;  // of a listener: how many may wait
}

std::string error_of_opening(reactor::EventLoop& loop, const Endpoint& at,
                             const ListeningOptions& options = usual()) {
    try {
        ListeningSocket::open(loop, at, options);
    } catch (const std::system_error& error) {
        return error.what();
    }
    return std::string();
}

/// Writes down what it is asked.
class Asked final : public SimulatedNetwork {
public:
    bool owns(int descriptor) const noexcept override { return descriptor >= 1000; }
    bool in_use() const noexcept override { return false; }
    ::ssize_t receive(int, char*, std::size_t) noexcept override { return -1; }
    ::ssize_t send(int, const ::iovec*, std::size_t) noexcept override { return -1; }
    int end_sending(int) noexcept override { return -1; }
    int reset_on_close(int) noexcept override { return -1; }
    int close(int descriptor) noexcept override {
        asked += " close " + std::to_string(descriptor);
        return 0;
    }
    int listen(const Endpoint& at, int backlog) noexcept override {
        asked += "listen " + at.str() + ' ' + std::to_string(backlog);
        if (error != 0) {
            errno = error;
            return -1;
        }
        return 1000;
    }
    int accept(int descriptor, Endpoint& peer) noexcept override {
        asked += " accept " + std::to_string(descriptor);
        peer = Endpoint("10.0.0.9", 9);
        return 1001;
    }
    int connect(const Endpoint&, const Endpoint&) noexcept override { return -1; }
    int connect_error(int) noexcept override { return 0; }
    Endpoint local_endpoint(int) noexcept override { return Endpoint("10.0.0.1", 4000); }
    Endpoint remote_endpoint(int) noexcept override { return Endpoint(); }

    std::string asked;
    int error = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(listening_socket)

REACTOR_LOOP_TEST(between_open_and_listen_clients_are_refused) {
    const support::TemporaryDirectory directory;
    for (const Endpoint& at : {any_port, Endpoint::local_path(directory / "socket")}) {
        ListeningSocket socket = ListeningSocket::open(loop, at, usual());
        BOOST_TEST(socket.is_open());
        const Endpoint local = socket.local();
        const std::string taken = "listen on " + local.str() + ": Address already in use";
        if (!at.is_ip()) BOOST_TEST(error_of_opening(loop, local) == taken);
        {
            Socket early(loop);
            BOOST_TEST(error_of(loop, early.connect(local)) ==
                       "connect to " + local.str() + ": Connection refused");
        }
        socket.listen();
        socket.listen();
        BOOST_TEST(error_of_opening(loop, local) == taken);
        Endpoint peer;
        BOOST_TEST(socket.accept(peer) == -1);
        BOOST_TEST(errno == EAGAIN);
        Socket client(loop);
        be_patient(loop);
        loop.run_until_complete(client.connect(local));
        const int accepted = socket.accept(peer);
        BOOST_TEST(accepted >= 0);
        BOOST_TEST((peer == client.local_endpoint()));
        ::close(accepted);
        socket.close();
        socket.close();
        BOOST_TEST(!socket.is_open());
        BOOST_TEST(socket.descriptor() == -1);
        BOOST_TEST((socket.local() == local));
        BOOST_CHECK_THROW(socket.listen(), std::system_error);
        BOOST_TEST(socket.accept(peer) == -1);
    }
}

// So with SO_REUSEADDR, on Linux.
REACTOR_LOOP_TEST(of_two_that_are_open_on_one_port_the_first_to_listen_has_it) {
    ListeningSocket slow = ListeningSocket::open(loop, any_port, usual());
    ListeningSocket fast = ListeningSocket::open(loop, slow.local(), usual());
    fast.listen();
    BOOST_CHECK_EXCEPTION(slow.listen(), std::system_error, [&](const std::system_error& error) {
        return error.what() == "listen on " + slow.local().str() + ": Address already in use";
    });
}

// Rows SV-06 and SV-07, as far as they are about one socket.
REACTOR_LOOP_TEST(options_are_those_asked_for) {
    ListeningOptions options = usual();
    ListeningSocket first = ListeningSocket::open(loop, any_port, options);
    BOOST_TEST(option_of(first, SOL_SOCKET, SO_REUSEADDR) == 1);
    BOOST_TEST(option_of(first, SOL_SOCKET, SO_REUSEPORT) == 0);
    first.listen();
    BOOST_TEST(backlog_of(first) == 100u);
    options.reuse_port = true;
    BOOST_TEST(error_of_opening(loop, first.local(), options) ==
               "listen on " + first.local().str() + ": Address already in use");

    options.reuse_address = false;
    options.backlog = 7;
    ListeningSocket shared = ListeningSocket::open(loop, any_port, options);
    shared.listen();
    ListeningSocket also = ListeningSocket::open(loop, shared.local(), options);
    also.listen();
    BOOST_TEST(option_of(shared, SOL_SOCKET, SO_REUSEADDR) == 0);
    BOOST_TEST(option_of(shared, SOL_SOCKET, SO_REUSEPORT) == 1);
    BOOST_TEST(backlog_of(also) == 7u);

    for (const bool only : {true, false}) {
        options.v6_only = only;
        const ListeningSocket six = ListeningSocket::open(loop, Endpoint("::", 0), options);
        BOOST_TEST(option_of(six, IPPROTO_IPV6, IPV6_V6ONLY) == (only ? 1 : 0));
    }
}

REACTOR_LOOP_TEST(in_a_network_in_memory_it_listens_there) {
    const std::shared_ptr<Asked> network = std::make_shared<Asked>();
    loop.service<TransportService>().calls.simulate(network);
    {
        ListeningSocket socket = ListeningSocket::open(loop, Endpoint("10.0.0.1", 0), usual());
        BOOST_TEST(socket.is_open());
        BOOST_TEST(network->asked == "");
        network->error = EADDRINUSE;
        BOOST_CHECK_EXCEPTION(
            socket.listen(), std::system_error, [](const std::system_error& error) {
                return std::string(error.what()) == "listen on 10.0.0.1:0: Address already in use";
            });
        network->error = 0;
        network->asked.clear();
        socket.listen();
        BOOST_TEST(socket.descriptor() == 1000);
        BOOST_TEST(socket.local().str() == "10.0.0.1:4000");
        Endpoint peer;
        BOOST_TEST(socket.accept(peer) == 1001);
        BOOST_TEST(peer.str() == "10.0.0.9:9");
        ListeningSocket moved(std::move(socket));
        socket.close();
        BOOST_TEST(network->asked == "listen 10.0.0.1:0 100 accept 1000");
    }
    BOOST_TEST(network->asked == "listen 10.0.0.1:0 100 accept 1000 close 1000");
    // Its sockets would be the system's.
    BOOST_CHECK_THROW(Listener(loop, any_port), StateError);
    loop.service<TransportService>().calls.simulate(nullptr);
}

// Fault E9 (status-im/nim-chronos#233): what is over with its client must not end the listener.
BOOST_AUTO_TEST_CASE(which_errors_are_a_clients_own) {
    for (const int code : {ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, EPERM}) {
        BOOST_TEST(accept_error_concerns_one_client(code));
    }
    for (const int code : {EMFILE, ENFILE, ENOBUFS, ENOMEM, EBADF, EINVAL, EAGAIN}) {
        BOOST_TEST(!accept_error_concerns_one_client(code));
    }
}

BOOST_AUTO_TEST_SUITE_END()
