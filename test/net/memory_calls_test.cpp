// SPDX-License-Identifier: BSL-1.0
#include "in_memory.hpp"

#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>

using namespace in_memory;
using reactor::Interest;
using support::milliseconds;

namespace {

/// Two connected sockets, a and b, and what their calls answer, as text. Of the system, or in
/// memory: the same script has to give the same text.
class Ends {
public:
    virtual ~Ends() = default;

    /// "5", "end", "EAGAIN"; what is received is awaited.
    std::string receive(int end, std::size_t size = 100) {
        std::string bytes(size, '\0');
        return answer(do_receive(end, &bytes[0], size));
    }
    std::string send(int end, std::size_t size) { return answer(do_send(end, size)); }
    std::string end_sending(int end) { return do_end_sending(end) == 0 ? "done" : name(errno); }
    virtual void close(int end) = 0;
    virtual void reset(int end) = 0;
    /// Waits until it is ready for all of that.
    virtual void await(int end, unsigned interest) = 0;
    /// What it is ready for: "read write".
    virtual std::string ready(int end) = 0;
    /// A moment for what is under way.
    virtual void pause() = 0;

protected:
    virtual ::ssize_t do_receive(int end, char* room, std::size_t size) = 0;
    virtual ::ssize_t do_send(int end, std::size_t size) = 0;
    virtual int do_end_sending(int end) = 0;

private:
    static std::string name(int code) {
        switch (code) {
            case EAGAIN:
                return "EAGAIN";
            case EPIPE:
                return "EPIPE";
            case ECONNRESET:
                return "ECONNRESET";
            case ENOTCONN:
                return "ENOTCONN";
            default:
                return std::strerror(code);
        }
    }
    static std::string answer(::ssize_t result) {
        return result < 0 ? name(errno) : result == 0 ? "end" : std::to_string(result);
    }
};

class SystemEnds final : public Ends {
public:
    explicit SystemEnds(bool tcp) {
        int fds[2];
        if (tcp) {
            transports::TcpPair pair;
            fds[0] = pair.mine.release();
            fds[1] = pair.theirs.release();
        } else {
            BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
        }
        ends_[0].number = fds[0];
        ends_[1].number = fds[1];
    }
    void close(int end) override { ends_[end].close(); }
    void reset(int end) override {
        const ::linger at_once = {1, 0};
        ::setsockopt(ends_[end].number, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(end);
    }
    void await(int end, unsigned interest) override {
        for (int i = 0; i < 10000; ++i) {
            if ((bits(end, i == 0 ? 0 : 1) & interest) == interest) return;
        }
        BOOST_ERROR("it does not become ready");
    }
    std::string ready(int end) override {
        const unsigned found = bits(end, 0);
        return std::string(found & Interest::read ? "read" : "") +
               (found & Interest::write ? " write" : "");
    }

    void pause() override { ::poll(nullptr, 0, 1); }

private:
    unsigned bits(int end, int wait) const {
        ::pollfd asked = {ends_[end].number, POLLIN | POLLOUT, 0};
        ::poll(&asked, 1, 0);
        if (wait != 0) ::poll(nullptr, 0, wait);
        const bool both = (asked.revents & (POLLHUP | POLLERR)) != 0;
        return (both || (asked.revents & POLLIN) ? unsigned(Interest::read) : 0u) |
               (both || (asked.revents & POLLOUT) ? unsigned(Interest::write) : 0u);
    }
    ::ssize_t do_receive(int end, char* room, std::size_t size) override {
        return ::recv(ends_[end].number, room, size, MSG_DONTWAIT);
    }
    ::ssize_t do_send(int end, std::size_t size) override {
        const std::string bytes(size, 'x');
        return ::send(ends_[end].number, bytes.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    int do_end_sending(int end) override { return ::shutdown(ends_[end].number, SHUT_WR); }

    transports::Descriptor ends_[2];
};

class MemoryEnds final : public Ends {
public:
    MemoryEnds(transports::TestLoop& loop, MemoryNetwork& network, bool tcp)
        : loop_(loop), network_(network), ends_{Socket(network), Socket(network)} {
        const std::pair<int, int> pair = tcp ? network.pair() : network.local_pair();
        ends_[0] = Socket(network, pair.first);
        ends_[1] = Socket(network, pair.second);
    }
    void close(int end) override { ends_[end].close(); }
    void reset(int end) override { ends_[end].reset(); }
    void await(int end, unsigned interest) override {
        for (int i = 0; i < 1000; ++i) {
            if ((bits(end) & interest) == interest) return;
            loop_.run_for(milliseconds(1));
        }
        BOOST_ERROR("it does not become ready");
    }
    std::string ready(int end) override {
        const unsigned found = bits(end);
        return std::string(found & Interest::read ? "read" : "") +
               (found & Interest::write ? " write" : "");
    }

    void pause() override { loop_.run_for(milliseconds(1)); }

private:
    unsigned bits(int end) {
        const int number = ends_[end].number();
        unsigned found = 0;
        loop_.add_reader(number, [&found] { found |= Interest::read; });
        loop_.add_writer(number, [&found] { found |= Interest::write; });
        loop_.run_iterations(2);
        loop_.remove_reader(number);
        loop_.remove_writer(number);
        return found;
    }
    ::ssize_t do_receive(int end, char* room, std::size_t size) override {
        return calls(network_).receive(ends_[end].number(), room, size);
    }
    ::ssize_t do_send(int end, std::size_t size) override {
        std::string bytes(size, 'x');
        const ::iovec piece = {&bytes[0], size};
        return calls(network_).send(ends_[end].number(), &piece, 1);
    }
    int do_end_sending(int end) override {
        return calls(network_).end_sending(ends_[end].number());
    }

    transports::TestLoop& loop_;
    MemoryNetwork& network_;
    Socket ends_[2];
};

constexpr int a = 0;
constexpr int b = 1;
constexpr unsigned readable = Interest::read;
constexpr unsigned writable = Interest::write;

/// What a script has heard. A list in braces is evaluated from left to right, operands are not.
struct Words {
    void add(std::initializer_list<std::string> more) {
        for (const std::string& word : more) text += word + ", ";
    }
    std::string text;
};

/// Sends until that fails.
std::string until_broken(Ends& ends) {
    std::string last;
    for (int i = 0; i < 10000; ++i) {
        last = ends.send(a, 1);
        if (last != "1") break;
        ends.pause();
    }
    return last;
}

using Script = std::function<std::string(Ends&)>;

/// The script over TCP, then over Unix sockets.
void compare(transports::TestLoop& loop, MemoryNetwork& network, const Script& script) {
    for (const bool tcp : {true, false}) {
        SystemEnds real(tcp);
        MemoryEnds made(loop, network, tcp);
        const std::string wanted = script(real);
        BOOST_TEST(script(made) == wanted, (tcp ? "TCP: " : "Unix: ") << wanted);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_calls)

REACTOR_NET_TEST(bytes_come_and_then_nothing) {
    compare(loop, network, [](Ends& ends) {
        Words words;
        words.add({ends.ready(a), ends.receive(a), ends.send(b, 5)});
        ends.await(a, readable);
        words.add({ends.ready(a), ends.receive(a, 3), ends.receive(a), ends.receive(a)});
        words.add({ends.ready(a)});
        return words.text;
    });
}

REACTOR_NET_TEST(a_half_closed_connection_goes_on_in_the_other_direction) {
    compare(loop, network, [](Ends& ends) {
        Words words;
        words.add({ends.send(a, 4), ends.end_sending(a), ends.end_sending(a), ends.send(a, 1)});
        words.add({ends.ready(a)});
        ends.await(b, readable);
        words.add({ends.receive(b)});
        ends.await(b, readable);
        words.add({ends.receive(b), ends.receive(b), ends.ready(b), ends.send(b, 5)});
        ends.await(a, readable);
        words.add({ends.receive(a), ends.end_sending(b)});
        ends.await(a, readable);
        words.add({ends.receive(a), ends.ready(a), ends.ready(b)});
        return words.text;
    });
}

REACTOR_NET_TEST(a_close_is_the_end_for_the_peer) {
    compare(loop, network, [](Ends& ends) {
        Words words;
        words.add({ends.send(b, 4)});
        ends.close(b);
        ends.await(a, readable);
        words.add({ends.receive(a)});
        ends.await(a, readable);
        words.add({ends.receive(a), ends.receive(a)});
        return words.text;
    });
}

REACTOR_NET_TEST(what_is_sent_to_a_closed_peer_breaks_the_connection) {
    compare(loop, network, [](Ends& ends) {
        Words words;
        ends.close(b);
        ends.await(a, readable);
        words.add({ends.receive(a)});
        // TCP learns of it by the answer to the first bytes.
        words.add({until_broken(ends), ends.send(a, 3), ends.receive(a), ends.ready(a)});
        return words.text;
    });
}

REACTOR_NET_TEST(closing_with_input_unread_resets_the_peer) {
    compare(loop, network, [](Ends& ends) {
        Words words;
        words.add({ends.send(a, 5), ends.send(b, 7)});
        ends.await(b, readable);
        ends.await(a, readable);
        words.add({ends.receive(a, 3)});
        ends.close(b);
        ends.await(a, readable);
        words.add({ends.receive(a)});
        ends.await(a, readable);
        words.add({ends.receive(a), ends.receive(a), ends.send(a, 1), ends.ready(a)});
        return words.text;
    });
}

REACTOR_NET_TEST(a_reset_is_told_once_behind_what_has_come) {
    compare(loop, network, [](Ends& ends) {
        Words words;
        words.add({ends.send(b, 5)});
        ends.await(a, readable);
        ends.reset(b);
        words.add({ends.receive(a)});
        ends.await(a, readable);
        words.add({ends.receive(a), ends.receive(a), ends.send(a, 1), ends.ready(a)});
        return words.text;
    });
}

REACTOR_NET_TEST(a_reset_is_told_to_who_sends_first) {
    compare(loop, network, [](Ends& ends) {
        Words words;
        ends.reset(b);
        ends.await(a, readable);
        words.add({ends.send(a, 1), ends.send(a, 1), ends.receive(a), ends.end_sending(a)});
        return words.text;
    });
}

REACTOR_NET_TEST(a_peer_that_has_ended_may_still_reset) {
    compare(loop, network, [](Ends& ends) {
        Words words;
        words.add({ends.end_sending(b)});
        ends.await(a, readable);
        ends.reset(b);
        words.add({ends.receive(a), until_broken(ends), ends.receive(a)});
        return words.text;
    });
}

REACTOR_NET_TEST(closing_with_input_unread_resets_nobody_who_has_ended) {
    compare(loop, network, [](Ends& ends) {
        Words words;
        words.add({ends.send(b, 5), ends.end_sending(b)});
        ends.await(a, readable);
        ends.pause();
        words.add({ends.end_sending(a)});
        ends.await(b, readable);
        ends.close(a);
        ends.pause();
        ends.pause();
        words.add({ends.ready(b), ends.send(b, 1), ends.receive(b), ends.receive(b)});
        return words.text;
    });
}

REACTOR_NET_TEST(a_full_peer_stops_the_sender_until_it_reads) {
    compare(loop, network, [](Ends& ends) {
        // Until nothing goes any more, with time for what is under way.
        int quiet = 0;
        std::size_t sent = 0;
        while (quiet < 20) {
            const std::string took = ends.send(a, 10000);
            quiet = took == "EAGAIN" ? quiet + 1 : 0;
            if (quiet == 0) sent += std::stoul(took);
            if (quiet != 0) ends.pause();
        }
        Words words;
        words.add({ends.ready(a)});  // not to write
        std::size_t got = 0;
        while (got < sent) {
            ends.await(b, readable);
            got += std::stoul(ends.receive(b, 10000));
        }
        ends.await(a, writable);
        words.add({got == sent ? "all" : "too much", ends.receive(b), ends.send(a, 1)});
        return words.text;
    });
}

BOOST_AUTO_TEST_SUITE_END()
