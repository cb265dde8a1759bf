// SPDX-License-Identifier: BSL-1.0
#include <reactor/event_loop.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <fcntl.h>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Handle;
using reactor::TimePoint;
using reactor::TimerHandle;

namespace {

// As programs have them: a connection that is read by a callback on its own `this`.
struct Connection {
    Connection(reactor::EventLoop& l, std::function<void()> f) : loop(l), on_read(std::move(f)) {
        reader = loop.add_reader(pair.mine, &Connection::read, this);
        timeout = loop.call_later(seconds(10), &Connection::read, this);
    }
    ~Connection() {
        reader.cancel();
        timeout.cancel();
        for (char& c : guard) c = '#';
    }
    void read() {
        pair.receive();
        on_read();
    }

    reactor::EventLoop& loop;
    std::function<void()> on_read;
    SocketPair pair;
    Handle reader;
    Handle timeout;
    char guard[64] = {};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(law05_destroy_anything)

REACTOR_LOOP_TEST(A8_a_callback_destroys_the_last_reference_to_its_own_handle) {
    std::unique_ptr<Handle> handle(new Handle);
    std::string capture(1000, 'c');
    *handle = loop.call_soon([&handle, capture] {
        handle->cancel();
        handle.reset();
        BOOST_TEST(capture.size() == 1000u);
        BOOST_TEST(capture[999] == 'c');
    });
    loop.run_iterations(1);
    BOOST_TEST(!handle);
}

REACTOR_LOOP_TEST(A8_a_callback_replaces_the_function_that_runs) {
    SocketPair pair;
    pair.send();
    std::string capture(1000, 'c');
    loop.add_reader(pair.mine, [this, &pair, capture] {
        loop.add_reader(pair.mine, say("new"));
        BOOST_TEST(capture[999] == 'c');
        say("old")();
    });
    loop.run_iterations(2);
    BOOST_TEST(heard() == "old new");
    loop.remove_reader(pair.mine);
}

REACTOR_LOOP_TEST(a_callback_destroys_its_owner) {
    std::unique_ptr<Connection> connection;
    connection.reset(new Connection(loop, [&connection, this] {
        connection.reset();
        say("gone")();
    }));
    // on_read is destroyed while it runs: that is the owner's std::function, not the loop's. Move
    // it out first, as a program has to.
    std::function<void()> inner = std::move(connection->on_read);
    connection->on_read = [&inner] {
        const std::function<void()> running = inner;
        running();
    };
    connection->pair.send();
    // The rest of Connection::read() touches nothing after on_read().
    loop.run_iterations(1);
    BOOST_TEST(heard() == "gone");
    loop.run_for(seconds(20));
    BOOST_TEST(heard() == "");
}

REACTOR_LOOP_TEST(a_callback_destroys_the_other_connection_of_the_same_batch) {
    std::unique_ptr<Connection> a;
    std::unique_ptr<Connection> b;
    a.reset(new Connection(loop, [&b, this] {
        b.reset();
        say("read")();
    }));
    b.reset(new Connection(loop, [&a, this] {
        a.reset();
        say("read")();
    }));
    a->pair.send();
    b->pair.send();
    loop.run_iterations(2);
    BOOST_TEST(heard() == "read");
    BOOST_TEST(static_cast<bool>(a) != static_cast<bool>(b));
}

REACTOR_LOOP_TEST(a_timer_destroys_the_connection_whose_reader_is_in_the_batch) {
    std::unique_ptr<Connection> connection(new Connection(loop, say("read")));
    connection->pair.send();
    loop.call_soon([&connection] { connection.reset(); });
    loop.run_iterations(2);
    BOOST_TEST(heard() == "");
}

REACTOR_LOOP_TEST(destructors_of_captures_may_use_the_loop) {
    // What a capture's destructor does meets a loop whose tables are in order.
    struct OnDestruction {
        std::function<void()> f;
        ~OnDestruction() { f(); }
    };
    SocketPair pair;
    const auto capturing = [](std::function<void()> f) {
        auto owned = std::make_shared<OnDestruction>();
        owned->f = std::move(f);
        return [owned] {};
    };
    loop.add_reader(pair.mine, capturing([&] { loop.add_reader(pair.mine, say("second")); }));
    BOOST_TEST(loop.remove_reader(pair.mine));
    BOOST_TEST(loop.watch_count() == 1u);
    pair.send();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "second");
    loop.add_writer(pair.mine, capturing([&] { loop.remove_reader(pair.mine); }));
    BOOST_TEST(loop.forget_descriptor(pair.mine));
    BOOST_TEST(loop.watch_count() == 0u);

    Handle soon = loop.call_soon(capturing([&] { loop.call_soon(say("third")); }));
    soon.cancel();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "third");
}

REACTOR_LOOP_TEST(a_capture_may_close_the_loop_that_destroys_it) {
    struct Closes {
        reactor::EventLoop* loop;
        ~Closes() { loop->close(); }
    };
    for (const bool forget_all : {false, true}) {
        reactor::testing::TestLoop own(loop.selector_name());
        SocketPair pair;
        std::shared_ptr<Closes> closes(new Closes{&own});
        own.add_reader(pair.mine, [closes] {});
        own.call_soon([] {});
        closes.reset();
        if (forget_all) {
            BOOST_TEST(own.forget_descriptor(pair.mine));
        } else {
            BOOST_TEST(own.remove_reader(pair.mine));
        }
        BOOST_TEST(own.is_closed());
        BOOST_TEST(own.ready_count() == 0u);
    }
}

REACTOR_LOOP_TEST(B1_a_stale_event_does_not_reach_the_new_owner_of_a_number) {
    SocketPair p;
    SocketPair q;
    std::unique_ptr<SocketPair> fresh;
    p.send();
    q.send();
    // Either may come first: who does closes the other one and reuses its number.
    const auto replace = [&](SocketPair* other) {
        say("first")();
        if (fresh) return;
        const int number = other->mine;
        fresh.reset(new SocketPair);
        BOOST_TEST(loop.remove_reader(number));
        other->close_mine();
        BOOST_REQUIRE(::dup3(fresh->mine, number, O_CLOEXEC) == number);
        fresh->close_mine();
        fresh->mine = number;
        loop.add_reader(number, say("new"));
    };
    loop.add_reader(p.mine, replace, &q);
    loop.add_reader(q.mine, replace, &p);
    loop.run_iterations(1);
    BOOST_TEST(heard() == "first");
    fresh->send();
    loop.run_iterations(1);
    const std::string words = heard();
    BOOST_TEST((words == "first new" || words == "new first"));
    loop.remove_reader(fresh->mine);
    loop.remove_reader(p.mine);
    loop.remove_reader(q.mine);
}

// Timers that arm, move, cancel and drop each other at random, against a sorted model.
REACTOR_LOOP_TEST(A8_random_operations_of_callbacks_agree_with_a_model) {
    using Key = std::pair<TimePoint, long>;
    struct Timer {
        TimerHandle handle;
        Key key;
    };
    std::mt19937 random(20240229);
    std::map<Key, int> model;
    std::map<int, Timer> timers;
    long sequence = 0;
    int next_id = 0;
    int operations = 0;
    std::function<void(int)> fire;
    const auto below = [&random](unsigned n) { return static_cast<int>(random() % n); };
    const auto anyone = [&] {
        auto at = timers.lower_bound(below(static_cast<unsigned>(next_id)));
        return at == timers.end() ? timers.begin() : at;
    };
    const auto arm = [&] {
        const TimePoint when = loop.time() + milliseconds(below(20));
        const int id = next_id++;
        const Key key(when, sequence++);
        model[key] = id;
        timers[id] = Timer{loop.call_at(when, [&fire, id] { fire(id); }), key};
    };
    fire = [&](int id) {
        BOOST_REQUIRE(!model.empty());
        BOOST_REQUIRE(model.begin()->second == id);
        BOOST_REQUIRE((model.begin()->first.first <= loop.time()));
        model.erase(model.begin());
        timers.erase(id);  // its own, last handle
        if (operations >= 33000) return;
        for (int i = 0; i < 3; ++i, ++operations) arm();
        for (int i = 0; i < 2 && !timers.empty(); ++i, ++operations) {
            const auto victim = anyone();
            // Those of this batch stay as they are: a moved one would come after its new peers.
            if (victim->second.key.first <= loop.time()) continue;
            BOOST_REQUIRE(model.erase(victim->second.key) == 1u);
            if (below(2) == 0) {
                BOOST_REQUIRE(victim->second.handle.cancel());
                timers.erase(victim);
            } else {
                const TimePoint when = loop.time() + milliseconds(1 + below(20));
                BOOST_REQUIRE(victim->second.handle.reschedule(when));
                victim->second.key = Key(when, sequence++);
                model[victim->second.key] = victim->first;
            }
        }
    };
    for (int i = 0; i < 50; ++i) arm();
    while (!timers.empty()) {
        loop.run_once();
        if (operations < 33000 && timers.empty()) arm();
    }
    BOOST_TEST(model.empty());
    BOOST_TEST(operations >= 33000);
}

BOOST_AUTO_TEST_SUITE_END()
