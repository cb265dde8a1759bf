// SPDX-License-Identifier: BSL-1.0
#include <reactor/callback.hpp>

#include <boost/test/unit_test.hpp>

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Callback;

static_assert(std::is_nothrow_move_constructible<Callback>::value, "kept in vectors");
static_assert(!std::is_copy_constructible<Callback>::value, "its arguments may be move-only");

namespace {

struct Counter {
    void add(int n) { value += n; }
    void add_virtual(int n) { apply(n); }
    int value = 0;
    virtual void apply(int n) { value += n; }
    virtual ~Counter() = default;
};
struct Doubler : Counter {
    void apply(int n) override { value += 2 * n; }
};

int c_calls = 0;
extern "C" void c_function(void* argument) { c_calls += *static_cast<int*>(argument); }

struct OnlyOnce {
    std::unique_ptr<int> left;
    void operator()(std::unique_ptr<int> more) && { *left += *more; }
};

struct ThrowsWhenCopied {
    ThrowsWhenCopied() = default;
    ThrowsWhenCopied(const ThrowsWhenCopied&) { throw std::runtime_error("no copy"); }
    void operator()() const {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(callback)

BOOST_AUTO_TEST_CASE(is_empty_until_given_something_and_after_being_moved_from) {
    Callback empty;
    BOOST_TEST(!empty);
    int calls = 0;
    Callback full([&calls] { ++calls; });
    BOOST_TEST(static_cast<bool>(full));
    empty = std::move(full);
    BOOST_TEST(!full);  // NOLINT
    empty();
    BOOST_TEST(calls == 1);
    empty.reset();
    BOOST_TEST(!empty);
}

BOOST_AUTO_TEST_CASE(holds_what_fits_and_what_does_not) {
    const auto owned = std::make_shared<int>(0);
    const std::array<char, 200> big = {{1, 2, 3}};
    int sum = 0;
    {
        Callback a([owned, &sum] { sum += 1; });
        Callback b([owned, big, &sum] { sum += big[2]; });
        BOOST_TEST(owned.use_count() == 3);
        Callback moved(std::move(a));
        Callback big_moved(std::move(b));
        BOOST_TEST(owned.use_count() == 3);
        moved();
        big_moved();
        Callback& self = moved;
        moved = std::move(self);
        moved = std::move(big_moved);
        BOOST_TEST(owned.use_count() == 2);
    }
    BOOST_TEST(owned.use_count() == 1);
    BOOST_TEST(sum == 4);
}

BOOST_AUTO_TEST_CASE(a_construction_that_throws_leaves_nothing) {
    const ThrowsWhenCopied f;
    BOOST_CHECK_THROW(Callback{f}, std::runtime_error);
    reactor::testing::LoopFixture fixture;
    BOOST_CHECK_THROW(fixture.loop.call_soon(f), std::runtime_error);
    BOOST_CHECK_THROW(fixture.loop.call_later(seconds(1), f), std::runtime_error);
    BOOST_CHECK_THROW(fixture.loop.add_reader(0, f), std::runtime_error);
    BOOST_TEST(fixture.loop.ready_count() == 0u);
    BOOST_TEST(fixture.loop.timer_count() == 0u);
    BOOST_TEST(fixture.loop.watch_count() == 0u);
}

REACTOR_LOOP_TEST(member_functions_are_called_on_every_kind_of_object) {
    Counter counter;
    Doubler doubler;
    const auto shared = std::make_shared<Counter>();
    std::unique_ptr<Counter> unique(new Doubler);
    Counter* const unique_one = unique.get();
    loop.call_soon(&Counter::add, &counter, 1);
    loop.call_soon(&Counter::add, std::ref(counter), 2);
    loop.call_soon(&Counter::add, counter, 100);  // on a copy
    loop.call_soon(&Counter::add_virtual, &doubler, 4);
    loop.call_soon(&Counter::add, shared, 8);
    loop.call_soon(
        [&unique, unique_one](std::unique_ptr<Counter> p) {
            BOOST_TEST(p.get() == unique_one);
            unique = std::move(p);
        },
        std::move(unique));
    loop.run_iterations(1);
    BOOST_TEST(counter.value == 3);
    BOOST_TEST(doubler.value == 8);
    BOOST_TEST(shared->value == 8);
    loop.call_soon(&Counter::add_virtual, std::move(unique), 16);
    BOOST_TEST(unique_one->value == 0);
    BOOST_TEST(!unique);
    loop.run_iterations(1);
}

REACTOR_LOOP_TEST(one_shot_calls_move_their_arguments_into_the_call) {
    int got = 0;
    std::unique_ptr<int> seven(new int(7));
    loop.call_soon([&got](std::unique_ptr<int> p) { got += *p; }, std::move(seven));
    loop.call_later(
        seconds(0), [&got](std::unique_ptr<int>& p) { got += 10 * *p; },
        std::unique_ptr<int>(new int(2)));  // takes only lvalues: gets one
    loop.call_soon(OnlyOnce{std::unique_ptr<int>(new int(1))}, std::unique_ptr<int>(new int(1)));
    loop.run_iterations(1);
    BOOST_TEST(got == 27);
}

REACTOR_LOOP_TEST(watches_and_repeating_timers_pass_lvalues_each_time) {
    SocketPair pair;
    pair.send();
    std::string grown;
    const auto grow = [&grown](std::string& text) {
        text += "+";
        grown = text;
    };
    loop.add_reader(pair.mine, grow, std::string("a"));
    loop.run_iterations(3);
    BOOST_TEST(grown == "a+++");
    loop.remove_reader(pair.mine);
    reactor::TimerHandle every = loop.call_every(seconds(1), grow, std::string("b"));
    loop.run_for(seconds(2));
    BOOST_TEST(grown == "b++");
    every.cancel();
}

REACTOR_LOOP_TEST(references_and_C_functions_are_bound_as_they_are) {
    int target = 0;
    loop.call_soon([](int& t, int n) { t = n; }, std::ref(target), 5);
    loop.run_iterations(1);
    BOOST_TEST(target == 5);

    c_calls = 0;
    void* const argument = &target;
    loop.call_soon(c_function, argument);
    loop.call_soon(&c_function, argument);
    loop.call_soon([](void* p) { BOOST_TEST(p == nullptr); }, nullptr);
    loop.run_iterations(1);
    BOOST_TEST(c_calls == 10);
    const char* const text = "literal";
    loop.call_soon(
        [](const char* given, const std::string& decayed) { BOOST_TEST(given == decayed); }, text,
        "literal");
    loop.run_iterations(1);
}

REACTOR_LOOP_TEST(L_26_a_null_callable_is_refused_by_the_call_that_got_it) {
    SocketPair pair;
    const std::function<void()> null;
    void (*const null_pointer)() = nullptr;
    void (Counter::*const null_member)(int) = nullptr;
    Counter counter;
    BOOST_CHECK_THROW(loop.call_soon(null), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_soon(null_pointer), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_soon(null_member, &counter, 1), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_later(seconds(1), null), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_at(loop.time(), null), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_every(seconds(1), null), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_soon_threadsafe(null), std::invalid_argument);
    BOOST_CHECK_THROW(loop.add_reader(pair.mine, null), std::invalid_argument);
    BOOST_CHECK_THROW(loop.add_writer(pair.mine, null), std::invalid_argument);
    BOOST_CHECK_THROW(loop.poster().post(null), std::invalid_argument);
    BOOST_CHECK_THROW(loop.call_soon(Callback()), std::invalid_argument);
    BOOST_CHECK_THROW(Callback{null}, std::invalid_argument);
    BOOST_TEST(loop.ready_count() + loop.timer_count() + loop.watch_count() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
