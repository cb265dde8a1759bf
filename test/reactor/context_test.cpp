// SPDX-License-Identifier: BSL-1.0
#include <reactor/context.hpp>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

using reactor::Context;
using reactor::ContextVar;
using reactor::LookupError;
using reactor::StateError;

namespace {

// Each test case runs in a context of its own, so that none sees what another has set.
struct Fresh {
    template <class F>
    explicit Fresh(F f) {
        Context().run(f);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(context)

BOOST_AUTO_TEST_CASE(C_01_values_defaults_and_fallbacks) {
    ContextVar<std::string> plain("plain");
    ContextVar<std::string> with_default("with_default", "d");
    Fresh([&] {
        BOOST_CHECK_EXCEPTION(plain.get(), LookupError, [](const LookupError& error) {
            return std::string(error.what()).find("plain") != std::string::npos;
        });
        BOOST_TEST(plain.get("x") == "x");
        BOOST_TEST(with_default.get() == "d");
        BOOST_TEST(with_default.get("x") == "x");
        plain.set("1");
        with_default.set("1");
        BOOST_TEST(plain.get() == "1");
        BOOST_TEST(plain.get("x") == "1");
        BOOST_TEST(with_default.get() == "1");
        BOOST_TEST(with_default.get("x") == "1");
    });
}

BOOST_AUTO_TEST_CASE(C_02_tokens_take_a_set_back) {
    ContextVar<int> var("var");
    ContextVar<int> other("other");
    Fresh([&] {
        auto t0 = var.set(1);
        auto t1 = var.set(2);
        BOOST_TEST(!t0.had_value());
        BOOST_TEST(t1.had_value());
        BOOST_CHECK_THROW(other.reset(t1), std::invalid_argument);
        var.reset(t1);
        BOOST_TEST(var.get() == 1);
        BOOST_CHECK_THROW(var.reset(t1), StateError);
        var.reset(t0);
        BOOST_CHECK_THROW(var.get(), LookupError);
    });
}

BOOST_AUTO_TEST_CASE(C_03_a_copy_is_of_its_own) {
    ContextVar<int> var("var");
    Fresh([&] {
        var.set(1);
        Context c = reactor::copy_context();
        var.set(2);
        const int seen = c.run([&] {
            const int before = var.get();
            var.set(3);
            return before;
        });
        BOOST_TEST(seen == 1);
        BOOST_TEST(var.get() == 2);
        BOOST_TEST(*c.get(var) == 3);
        Context copy = c.copy();
        copy.run([&] { var.set(4); });
        BOOST_TEST(*c.get(var) == 3);
        BOOST_TEST(*copy.get(var) == 4);
        BOOST_TEST((copy != c));
        const Context same = c;
        BOOST_TEST((same == c));
    });
}

BOOST_AUTO_TEST_CASE(C_04_a_context_is_entered_once_at_a_time) {
    ContextVar<int> var("var");
    Context c;
    Context d;
    BOOST_CHECK_THROW(c.run([&] {
        var.set(1);
        BOOST_CHECK_THROW(c.run([] {}), StateError);
        d.run([&] {
            BOOST_CHECK_THROW(var.get(), LookupError);
            var.set(9);
        });
        BOOST_TEST(var.get() == 1);
        var.set(2);
        throw std::runtime_error("out");
    }),
                      std::runtime_error);
    BOOST_TEST(c.run([&] { return var.get(); }) == 2);
    BOOST_TEST(*d.get(var) == 9);
}

BOOST_AUTO_TEST_CASE(C_05_defaults_are_no_content) {
    ContextVar<int> var("var", 42);
    Context c;
    c.run([&] {
        BOOST_TEST(var.get() == 42);
        BOOST_TEST(c.get(var) == nullptr);
        BOOST_TEST(!c.contains(var));
        BOOST_TEST(c.size() == 0u);
        auto token = var.set(1);
        BOOST_TEST(*c.get(var) == 1);
        BOOST_TEST(c.contains(var));
        BOOST_TEST(c.size() == 1u);
        var.reset(token);
        BOOST_TEST(c.get(var) == nullptr);
        BOOST_TEST(c.size() == 0u);
    });
}

BOOST_AUTO_TEST_CASE(C_12_each_thread_has_a_context_of_its_own) {
    ContextVar<int> var("var");
    Fresh([&] {
        var.set(-1);
        // Boost.Test is not for several threads: they count, and the test looks at the sum.
        std::atomic<int> strange{0};
        const auto work = [&var, &strange](int first) {
            if (var.get(0) != 0) ++strange;
            for (int i = 0; i < 1000; ++i) {
                var.set(first + i);
                if (var.get() != first + i) ++strange;
            }
        };
        std::thread a(work, 10000);
        std::thread b(work, 20000);
        a.join();
        b.join();
        BOOST_TEST(strange.load() == 0);
        BOOST_TEST(var.get() == -1);
    });
}

BOOST_AUTO_TEST_CASE(values_may_set_variables_while_they_are_destroyed) {
    static ContextVar<int> count("count", 0);
    struct Noisy {
        Noisy() = default;
        Noisy(const Noisy&) = default;
        ~Noisy() { count.set(count.get() + 1); }
    };
    ContextVar<std::shared_ptr<Noisy>> var("var");
    Fresh([&] {
        var.set(std::make_shared<Noisy>());
        var.set(std::make_shared<Noisy>());
        BOOST_TEST(count.get() == 1);
        var.set(nullptr);
        BOOST_TEST(count.get() == 2);
    });
}

BOOST_AUTO_TEST_SUITE_END()
