// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SELECTORS_HPP
#define REACTOR_TEST_SELECTORS_HPP

#include <boost/test/unit_test.hpp>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <system_error>
#include <tuple>
#include <vector>

#include <reactor/epoll_selector.hpp>
#include <reactor/poll_selector.hpp>
#include <reactor/select_selector.hpp>

#include <test/support/loop_test.hpp>

/// What the tests of the selectors share: the list of the back ends, connected descriptors, and
/// short ways to ask what is ready.
namespace selectors {

using reactor::Duration;
using reactor::Interest;
using reactor::Selector;
using reactor::SelectorEvent;
using Events = std::vector<SelectorEvent>;

/// IoUringSelector, or what stands for it where the system has none for us.
class IoUring : public Selector {
public:
    IoUring() : made_(reactor::make_selector(support::OnIoUring::name())) {}

    const char* name() const noexcept override { return made_->name(); }
    void add(int fd, unsigned interest, std::uint64_t token) override {
        made_->add(fd, interest, token);
    }
    void modify(int fd, unsigned interest, std::uint64_t token) override {
        made_->modify(fd, interest, token);
    }
    void remove(int fd) noexcept override { made_->remove(fd); }
    void wait(Duration timeout, Events& ready) override { made_->wait(timeout, ready); }
    void reset() override { made_->reset(); }
    int fd() const noexcept override { return made_->fd(); }

private:
    std::unique_ptr<Selector> made_;
};

using Selectors =
    std::tuple<reactor::EpollSelector, reactor::PollSelector, reactor::SelectSelector, IoUring>;
using OnEpollSets = std::tuple<reactor::EpollSelector, IoUring>;

constexpr unsigned everything = Interest::read | Interest::write | Interest::urgent;

// Two connected descriptors: a stream pair (`mine` and `theirs` alike), a pipe (`mine` reads) or
// a TCP connection.
struct Pair {
    int mine = -1;
    int theirs = -1;

    ~Pair() {
        close_mine();
        close_theirs();
    }
    void close_mine() { close_one(mine); }
    void close_theirs() { close_one(theirs); }
    static void close_one(int& fd) {
        if (fd >= 0) ::close(fd);
        fd = -1;
    }
};

struct StreamPair : Pair {
    StreamPair() {
        int fds[2];
        BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) ==
                      0);
        mine = fds[0];
        theirs = fds[1];
    }
};

struct Pipe : Pair {
    Pipe() {
        int fds[2];
        BOOST_REQUIRE(::pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
        mine = fds[0];
        theirs = fds[1];
    }
};

struct TcpPair : Pair {
    TcpPair() {
        const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ::sockaddr_in address = ::sockaddr_in();
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
        ::socklen_t size = sizeof address;
        ::sockaddr* const generic = static_cast<::sockaddr*>(static_cast<void*>(&address));
        BOOST_REQUIRE(::bind(listener, generic, size) == 0);
        BOOST_REQUIRE(::listen(listener, 1) == 0);
        BOOST_REQUIRE(::getsockname(listener, generic, &size) == 0);
        theirs = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        BOOST_REQUIRE(::connect(theirs, generic, size) == 0);
        mine = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        BOOST_REQUIRE(mine >= 0);
        ::close(listener);
    }
};

inline Events look(Selector& selector, Duration timeout = Duration::zero()) {
    Events ready;
    selector.wait(timeout, ready);
    return ready;
}

// The ready bits reported for the only event, which must carry `token`; 0 if there is none.
inline unsigned bits(Selector& selector, std::uint64_t token, Duration timeout = Duration::zero()) {
    const Events ready = look(selector, timeout);
    if (ready.empty()) return 0;
    BOOST_REQUIRE(ready.size() == 1u);
    BOOST_REQUIRE(ready[0].token == token);
    return ready[0].ready;
}

template <class F>
int code_of(F call) {
    try {
        call();
    } catch (const std::system_error& error) {
        BOOST_TEST((error.code().category() == std::system_category()));
        return error.code().value();
    }
    return 0;
}

}  // namespace selectors

#endif
