// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_SERVER_GROUP_FIXTURE_HPP
#define REACTOR_TEST_NET_SERVER_GROUP_FIXTURE_HPP

#include <boost/test/unit_test.hpp>

#include <apps/echo/echo.hpp>
#include <net/server_group.hpp>
#include <reactor/submit.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

/// What tests of server groups share: loops on threads, a loop of the test's own, which runs while
/// it waits, and clients that block. The test's thread alone talks to Boost.Test.
namespace grouped {

using reactor::EventLoop;
using reactor::LoopExit;
using reactor::LoopGroup;
using reactor::Promise;
using reactor::StateError;
using reactor::net::create_server_group;
using reactor::net::Endpoint;
using reactor::net::Protocol;
using reactor::net::ProtocolFactory;
using reactor::net::ProtocolFactoryOfLoop;
using reactor::net::ServerCounters;
using reactor::net::ServerGroup;
using reactor::net::ServerOptions;
using reactor::net::ShutdownSummary;
using reactor::net::Spread;
using reactor::net::start_server_group;
using reactor::net::StreamHandler;
using std::chrono::hours;
using std::chrono::seconds;

const Endpoint any_port("127.0.0.1", 0);

/// A blocking client. The patience is for a machine that is busy, not a part of any test.
class Client {
public:
    explicit Client(const Endpoint& to)
        : descriptor_(::socket(static_cast<const ::sockaddr*>(to.data())->sa_family,
                               SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        BOOST_REQUIRE(descriptor_ >= 0);
        const auto* const address = static_cast<const ::sockaddr*>(to.data());
        if (::connect(descriptor_, address, static_cast<::socklen_t>(to.size())) != 0) {
            error_ = errno;
        }
    }
    Client(Client&& other) noexcept : descriptor_(other.descriptor_), error_(other.error_) {
        other.descriptor_ = -1;
    }
    Client& operator=(Client&&) = delete;
    ~Client() { close(); }

    /// What connect() said.
    int error() const { return error_; }
    void close() {
        if (descriptor_ >= 0) ::close(descriptor_);
        descriptor_ = -1;
    }
    void send(const std::string& bytes) const {
        BOOST_REQUIRE(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                      static_cast<::ssize_t>(bytes.size()));
    }
    /// What comes next; "end" for the end, "reset" for one.
    std::string read() const {
        ::pollfd ready = {descriptor_, POLLIN, 0};
        BOOST_REQUIRE(::poll(&ready, 1, 60000) == 1);
        char buffer[4096];
        const ::ssize_t got = ::recv(descriptor_, buffer, sizeof buffer, 0);
        if (got == 0) return "end";
        return got < 0 ? "reset" : std::string(buffer, static_cast<std::size_t>(got));
    }
    std::string echo(const std::string& bytes) const {
        send(bytes);
        return read();
    }

private:
    int descriptor_;
    int error_ = 0;
};

inline ProtocolFactory echo_factory(EventLoop&) {
    return [] { return std::unique_ptr<Protocol>(new echo::EchoProtocol); };
}

/// How many sockets of this process listen there.
inline int listening_at(const Endpoint& at) {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) {
        int listens = 0;
        ::socklen_t size = sizeof listens;
        if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens) continue;
        ::sockaddr_storage address;
        size = sizeof address;
        ::getsockname(fd, static_cast<::sockaddr*>(static_cast<void*>(&address)), &size);
        if (Endpoint::from_sockaddr(&address, size) == at) ++count;
    }
    return count;
}

/// Keeps a loop's thread busy while it lives, so that what others do meanwhile waits for it.
class Busy {
public:
    explicit Busy(const reactor::Poster& loop) {
        std::promise<void> begun;
        const std::shared_future<void> end = end_.get_future().share();
        loop.post([&begun, end] {
            begun.set_value();
            end.wait();
        });
        begun.get_future().wait();
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    ~Busy() { end_.set_value(); }

private:
    std::promise<void> end_;
};

/// A group of two whose loops end one by one.
class EndingLoops {
public:
    EndingLoops() {
        loops.start([this](EventLoop& on, std::size_t index) {
            const Promise<void> main = on.create_promise<void>();
            told_[index].set_value(main);
            return main;
        });
        for (std::size_t i = 0; i < 2; ++i) mains_[i] = told_[i].get_future().get();
    }
    /// It takes no posts afterwards.
    void end(std::size_t index) {
        const Promise<void> main = mains_[index];
        loops.poster(index).post([main] { main.set_result(); });
        while (loops.poster(index).post([] {})) std::this_thread::yield();
    }

    LoopGroup loops{2};

private:
    std::promise<Promise<void>> told_[2];
    Promise<void> mains_[2];
};

/// Factories for two loops, which echo. What has made them all on a loop is gone when that loop
/// knows no server any more.
class WatchedFactories {
public:
    ProtocolFactory operator()(EventLoop&) {
        const auto watched = std::make_shared<Watched>(gone_[made_++]);
        return [watched] { return std::unique_ptr<Protocol>(new echo::EchoProtocol); };
    }
    /// Waits until that is gone.
    void wait(std::size_t index) const { gone_[index]->get_future().get(); }

private:
    using Gone = std::shared_ptr<std::promise<void>>;

    struct Watched {
        explicit Watched(Gone told) : gone(std::move(told)) {}
        Watched(const Watched&) = delete;
        Watched& operator=(const Watched&) = delete;
        ~Watched() { gone->set_value(); }
        const Gone gone;
    };

    const Gone gone_[2] = {std::make_shared<std::promise<void>>(),
                           std::make_shared<std::promise<void>>()};
    std::size_t made_ = 0;
};

struct ServerGroupTest {
    ServerGroupTest() { loops.start(); }

    template <class T>
    T wait(const Promise<T>& promise) {
        return loop.run_until_complete(promise);
    }
    void serve(Spread spread = Spread::by_system, const ServerOptions& options = ServerOptions(),
               const Endpoint& at = any_port) {
        server = wait(create_server_group(loop, loops, &echo_factory, {at}, options, spread));
        address = server.endpoints().at(0);
    }
    /// A client that has been answered, so it has its connection.
    Client served() {
        Client client(address);
        BOOST_TEST(client.error() == 0);
        BOOST_TEST(client.echo("hello") == "hello");
        return client;
    }
    std::vector<Client> served(int count) {
        std::vector<Client> clients;
        for (int i = 0; i < count; ++i) clients.push_back(served());
        return clients;
    }
    /// How many clients each loop has had.
    std::vector<std::uint64_t> accepted() {
        std::vector<std::uint64_t> all;
        for (const ServerCounters& one : wait(server.counters_by_loop(loop))) {
            all.push_back(one.accepted);
        }
        return all;
    }
    /// What the loops were told before this, and what they told the first one then, is done.
    void loops_have_heard() {
        for (const std::size_t index : {0u, 1u, 0u}) submit(loops.poster(index), [] {}).take();
    }
    /// The text of what the promise fails with.
    template <class T>
    std::string error_of(const Promise<T>& promise) {
        try {
            loop.run_until_complete(promise);
        } catch (const std::exception& error) {
            return error.what();
        } catch (const LoopExit& exit) {
            return "exit " + std::to_string(exit.code());
        }
        return std::string();
    }

    LoopGroup loops{2};
    EventLoop loop;
    ServerGroup server;
    Endpoint address;
};

/// "finished closed aborted"
inline std::string counts(const ShutdownSummary& summary) {
    return std::to_string(summary.finished) + " " + std::to_string(summary.closed) + " " +
           std::to_string(summary.aborted);
}

}  // namespace grouped

#endif
