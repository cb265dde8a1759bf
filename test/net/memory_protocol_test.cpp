// SPDX-License-Identifier: BSL-1.0
#include "in_memory.hpp"

#include <net/create_connection.hpp>
#include <net/server.hpp>

#include <functional>
#include <memory>
#include <string>

using namespace in_memory;
using reactor::net::Endpoint;
using reactor::net::ProtocolFactory;
using reactor::net::Server;
using support::milliseconds;
using support::pattern;
using transports::Course;
using transports::told;
using transports::Transport;

namespace {

/// Two transports that are connected to each other, through the system or in memory.
struct Pair {
    Pair(transports::TestLoop& l, int milliseconds_a_turn) : loop(l), pause(milliseconds_a_turn) {}

    void open(int mine, int theirs) {
        loop.run_until_complete(transports::make_transport(loop, mine, told(a)));
        loop.run_until_complete(transports::make_transport(loop, theirs, told(b)));
    }
    /// Turns the loop until that holds; what the system does takes real time, too.
    void until(const std::function<bool()>& reached) {
        for (int i = 0; i < 20000 && !reached(); ++i) {
            if (i > 100 && pause > 0) ::poll(nullptr, 0, pause);
            loop.run_for(support::microseconds(100));
        }
        BOOST_TEST(reached());
    }
    /// What both have been told.
    std::string story() {
        until([this] { return a.lost + b.lost == 2; });
        const std::string codes = std::to_string(a.code()) + ' ' + std::to_string(b.code());
        // What lingers is waited for by its peer's end.
        loop.run_for(milliseconds(100));
        return "a: " + a.calls + "; b: " + b.calls + "; " + codes;
    }

    transports::TestLoop& loop;
    const int pause;  // of real time
    Course a, b;
};

using Script = std::function<void(Pair&)>;

/// The same script over loopback and in memory has to tell both protocols the same.
void compare(transports::TestLoop& loop, const Script& script) {
    std::string wanted;
    {
        transports::TcpPair sockets;
        Pair real(loop, 1);
        real.open(sockets.mine.release(), sockets.theirs.release());
        script(real);
        wanted = real.story();
    }
    MemoryNetwork network(loop, 3);
    const std::pair<int, int> ends = network.pair();
    Pair made(loop, 0);
    made.open(ends.first, ends.second);
    script(made);
    BOOST_TEST(made.story() == wanted);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory_protocol)

REACTOR_LOOP_TEST(a_close) {
    compare(loop, [](Pair& pair) {
        pair.a.transport.write("bye");
        pair.a.transport.close();
        pair.until([&] { return pair.b.bytes == "bye"; });
    });
}

REACTOR_LOOP_TEST(a_half_close_and_an_answer) {
    compare(loop, [](Pair& pair) {
        pair.b.on_eof = [&] {
            pair.b.transport.write("answer");
            pair.b.transport.close();
            return true;
        };
        pair.a.transport.write("question");
        pair.a.transport.write_eof();
        pair.until([&] { return pair.a.bytes == "answer"; });
    });
}

REACTOR_LOOP_TEST(an_abort) {
    compare(loop, [](Pair& pair) {
        pair.a.transport.write("before");
        pair.until([&] { return pair.b.bytes == "before"; });
        pair.a.transport.abort();
    });
}

REACTOR_LOOP_TEST(back_pressure) {
    compare(loop, [](Pair& pair) {
        const std::string sent = pattern(20 << 20);
        pair.b.transport.pause_reading();
        pair.a.transport.write(sent);
        pair.until([&] { return pair.a.calls == "made pause"; });
        pair.b.transport.resume_reading();
        pair.until([&] { return pair.b.bytes.size() == sent.size(); });
        BOOST_TEST((pair.b.bytes == sent));
        pair.until([&] { return pair.a.calls == "made pause resume"; });
        pair.a.transport.close();
    });
}

REACTOR_LOOP_TEST(a_close_with_input_unread_loses_no_answer) {
    compare(loop, [](Pair& pair) {
        pair.b.on_data = [&] {
            if (pair.b.reads > 1) return;
            pair.b.transport.write("refused");
            pair.b.transport.close_unread();
        };
        pair.a.transport.write(pattern(50000));
        pair.until([&] { return pair.a.bytes == "refused"; });
    });
}

REACTOR_LOOP_TEST(a_refused_connect) {
    const auto refused = [this](const Endpoint& nobody) {
        int made = 0;
        const ProtocolFactory factory = [&made]() -> std::unique_ptr<reactor::net::Protocol> {
            ++made;
            return nullptr;
        };
        try {
            loop.run_until_complete(reactor::net::create_connection(loop, factory, nobody));
        } catch (const std::system_error& error) {
            return std::to_string(error.code().value()) + ' ' + std::to_string(made);
        }
        return std::string("connected");
    };
    loop.selector().set_patience(support::seconds(10));
    // Bound, but nobody listens.
    const transports::Descriptor bound(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::sockaddr_in address = ::sockaddr_in();
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::socklen_t size = sizeof address;
    auto* const bytes = reinterpret_cast<::sockaddr*>(&address);
    BOOST_REQUIRE(::bind(bound.number, bytes, size) == 0);
    BOOST_REQUIRE(::getsockname(bound.number, bytes, &size) == 0);
    const Endpoint nobody = Endpoint::from_sockaddr(bytes, size);
    const std::string wanted = refused(nobody);
    MemoryNetwork network(loop);
    BOOST_TEST(refused(nobody) == wanted);
}

BOOST_AUTO_TEST_SUITE_END()
