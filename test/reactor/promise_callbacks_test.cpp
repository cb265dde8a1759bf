// SPDX-License-Identifier: BSL-1.0
#include <reactor/promise.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <reactor/context.hpp>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::AnyPromise;
using reactor::DoneKey;
using reactor::Promise;

namespace {

struct Legacy {
    std::vector<int> seen;
    void on_page(int tag, const Promise<int>& done) { seen.push_back(tag + done.result()); }
    void on_void(Promise<void> done) {
        done.result();
        seen.push_back(-1);
    }
};

/// A callback whose captured object's destructor works on the same promise.
class Meddler {
public:
    Meddler(Promise<int>* promise, DoneKey victim, int* late)
        : promise_(promise), victim_(victim), late_(late) {}
    Meddler(Meddler&& other) noexcept
        : promise_(other.promise_), victim_(other.victim_), late_(other.late_) {
        other.promise_ = nullptr;
    }
    ~Meddler() {
        if (!promise_ || !*promise_) return;
        promise_->remove_done_callback(victim_);
        int* const late = late_;
        promise_->add_done_callback([late](const Promise<int>&) { ++*late; });
    }
    void operator()(const Promise<int>&) {}

private:
    Promise<int>* promise_;
    DoneKey victim_;
    int* late_;
};

}  // namespace

// Done callbacks: when they run, and how they are taken back.
BOOST_AUTO_TEST_SUITE(promise_callbacks)

REACTOR_LOOP_TEST(P_05_callbacks_join_the_queue_when_the_promise_is_done) {
    const auto p = loop.create_promise<int>();
    const auto note = [&](const std::string& word) {
        return [this, word, p](const Promise<int>& done) {
            BOOST_TEST((done == p));
            BOOST_TEST(done.done());
            BOOST_TEST(reactor::detail::PromiseAccess::state(done)->first == nullptr);
            say(word)();
        };
    };
    p.add_done_callback(note("c1"));
    p.add_done_callback(note("c2"));
    loop.call_soon(say("x"));
    p.set_result(1);
    loop.call_soon(say("y"));
    BOOST_TEST(heard() == "");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "x c1 c2 y");
}

REACTOR_LOOP_TEST(P_06_a_callback_of_a_done_promise_is_queued_and_not_called) {
    const auto p = loop.create_promise<int>();
    p.set_result(1);
    p.add_done_callback([this](const Promise<int>&) { say("c")(); });
    loop.call_soon(say("y"));
    BOOST_TEST(heard() == "");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "c y");
}

REACTOR_LOOP_TEST(P_07_a_key_may_name_several_callbacks_and_removal_keeps_the_others_order) {
    for (const bool removed : {false, true}) {
        const auto p = loop.create_promise<int>();
        int first = 0;
        const auto count = [&](const Promise<int>&) { ++first; };
        const DoneKey k1 = p.add_done_callback(count);
        p.add_done_callback([this](const Promise<int>&) { say("a")(); });
        for (int i = 0; i < 3; ++i) p.add_done_callback(k1, count);
        const DoneKey k2 = p.add_done_callback([this](const Promise<int>&) { say("b")(); });
        for (int i = 0; i < 2; ++i) p.add_done_callback(k1, count);
        BOOST_TEST((k1 != k2));
        DoneKey strange;
        strange.id = k2.id + 1000;
        BOOST_TEST(p.remove_done_callback(strange) == 0u);
        BOOST_TEST(p.remove_done_callback(DoneKey()) == 0u);
        if (removed) {
            BOOST_TEST(p.remove_done_callback(k1) == 6u);
            BOOST_TEST(p.remove_done_callback(k1) == 0u);
        }
        p.set_result(1);
        loop.run_iterations(1);
        BOOST_TEST(first == (removed ? 0 : 6));
        BOOST_TEST(heard() == "a b");
    }
}

REACTOR_LOOP_TEST(P_08_callbacks_that_are_queued_are_out_of_the_promises_hands) {
    const auto p = loop.create_promise<int>();
    p.add_done_callback([this](const Promise<int>&) { say("c1")(); });
    const DoneKey c2 = p.add_done_callback([this](const Promise<int>&) { say("c2")(); });
    p.set_result(1);
    BOOST_TEST(p.remove_done_callback(c2) == 0u);
    loop.run_iterations(1);
    BOOST_TEST(heard() == "c1 c2");
}

REACTOR_LOOP_TEST(P_09_a_callback_may_remove_and_add_others_of_its_own_promise) {
    const auto p = loop.create_promise<int>();
    DoneKey second;
    p.add_done_callback([&](const Promise<int>& done) {
        say("c1")();
        BOOST_TEST(done.remove_done_callback(second) == 0u);
        done.add_done_callback([this](const Promise<int>&) { say("c3")(); });
    });
    second = p.add_done_callback([this](const Promise<int>&) { say("c2")(); });
    p.set_result(1);
    loop.run_iterations(1);
    BOOST_TEST(heard() == "c1 c2");
    loop.run_iterations(1);
    BOOST_TEST(heard() == "c3");
}

REACTOR_LOOP_TEST(P_10_a_throwing_callback_is_reported_and_harms_nobody) {
    const auto p = loop.create_promise<int>();
    p.add_done_callback([](const Promise<int>&) { throw std::runtime_error("bad"); });
    p.add_done_callback([this](const Promise<int>&) { say("c2")(); });
    p.set_result(1);
    loop.run_iterations(1);
    BOOST_TEST(heard() == "c2");
    expect_report("Exception in callback");
    BOOST_TEST(p.result() == 1);
}

REACTOR_LOOP_TEST(P_17_a_captures_destructor_may_add_and_remove_callbacks_of_its_promise) {
    for (const std::string how : {"remove", "cancel", "complete"}) {
        auto p = loop.create_promise<int>();
        int late = 0;
        int victim_ran = 0;
        const DoneKey victim = p.add_done_callback([&](const Promise<int>&) { ++victim_ran; });
        const DoneKey key = p.add_done_callback(Meddler(&p, victim, &late));
        if (how == "remove") BOOST_TEST(p.remove_done_callback(key) == 1u);
        if (how == "cancel") {
            p.cancel();
        } else {
            p.set_result(1);
        }
        loop.run_iterations(2);
        BOOST_TEST(late == 1);
        BOOST_TEST(victim_ran == (how == "remove" ? 0 : 1));
    }
    // Destroyed while pending: the promise is gone for whoever asks for it by then.
    auto p = loop.create_promise<int>();
    int late = 0;
    p.add_done_callback(Meddler(&p, DoneKey(), &late));
    p = Promise<int>();
    loop.run_iterations(1);
    BOOST_TEST(late == 0);
}

REACTOR_LOOP_TEST(C_08_callbacks_run_in_the_context_of_their_adding) {
    reactor::ContextVar<std::string> v("v");
    const auto p = loop.create_promise<int>();
    const auto note = [&](const Promise<int>&) { say(v.get())(); };
    reactor::Context().run([&] {
        v.set("add");
        p.add_done_callback(note);
        v.set("set");
        p.set_result(1);
        p.add_done_callback(note);
        reactor::Context own = reactor::copy_context();
        own.run([&] { v.set("own"); });
        p.add_done_callback(reactor::Options().context(own), note);
        v.set("later");
        loop.run_iterations(1);
        BOOST_TEST(v.get() == "later");
    });
    BOOST_TEST(heard() == "add set own");
}

REACTOR_LOOP_TEST(callbacks_bind_members_references_and_move_only_arguments) {
    Legacy legacy;
    const auto p = loop.create_promise<int>();
    p.add_done_callback(&Legacy::on_page, &legacy, 10);
    p.add_done_callback(&Legacy::on_page, std::ref(legacy), 20);
    p.add_done_callback([&](const std::unique_ptr<int>& bound,
                            const Promise<int>&) { legacy.seen.push_back(*bound); },
                        std::unique_ptr<int>(new int(30)));
    const std::function<void(Promise<int>)> function = [&](Promise<int> done) {
        legacy.seen.push_back(done.result());
    };
    p.add_done_callback(function);
    p.add_done_callback(reactor::Options().label("any"),
                        [&](const AnyPromise& done) { BOOST_TEST((done == p)); });
    BOOST_CHECK_THROW(p.add_done_callback(std::function<void(Promise<int>)>()),
                      std::invalid_argument);
    const auto v = loop.create_promise<void>();
    v.add_done_callback(&Legacy::on_void, &legacy);
    p.set_result(1);
    v.set_result();
    loop.run_iterations(1);
    BOOST_TEST((legacy.seen == std::vector<int>{11, 21, 30, 1, -1}));
}

BOOST_AUTO_TEST_SUITE_END()
