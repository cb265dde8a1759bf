// SPDX-License-Identifier: BSL-1.0
#include <reactor/state_graph.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

#include "task_fixture.hpp"

namespace {

using namespace task_test;
using reactor::StateTable;

class Dialogue : public Task<int> {
public:
    explicit Dialogue(int questions) : left_(questions) {}

private:
    Next start() override { return greet(); }
    Next greet() { return yield(&Dialogue::ask); }
    Next ask() { return left_-- > 0 ? wait_for_answer() : quit(); }
    Next wait_for_answer() {
        auto promise = loop().create_promise<int>();
        promise.set_result(1);
        return await(std::move(promise), &Dialogue::ask);
    }
    Next quit() { return yield(&Dialogue::gone); }
    Next gone() { return finish(0); }

    int left_;
};

class Declared : public Task<int> {
public:
    explicit Declared(bool strays) : strays_(strays) {}
    static const StateTable& table() {
        static const StateTable table{{"first", {"second", "third"}}, {"second", {}}};
        return table;
    }

private:
    const StateTable* states() const override { return &table(); }
    Next start() override { return first(); }
    Next first() { return yield(&Declared::second); }
    Next second() { return yield(strays_ ? &Declared::third : &Declared::last); }
    Next third() { return yield(&Declared::last); }
    Next last() { return finish(1); }
    Next finally() override { return yield(&Declared::closed); }  // not checked
    Next closed() { return end(); }

    bool strays_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(state_graph, TaskFixture)

BOOST_AUTO_TEST_CASE(debug_mode_records_the_transitions_of_a_class) {
    loop.run_until_complete<Dialogue>(1);
    BOOST_TEST(reactor::state_graph<Dialogue>(loop).empty());
    loop.set_debug(true);
    loop.run_until_complete<Dialogue>(2);
    loop.run_until_complete<Dialogue>(0);
    const auto& graph = reactor::state_graph<Dialogue>(loop);
    BOOST_TEST(graph.count("greet") == 2u);
    BOOST_TEST(graph.count("greet", "wait_for_answer") == 1u);
    BOOST_TEST(graph.count("wait_for_answer", "wait_for_answer") == 1u);
    BOOST_TEST(graph.count("wait_for_answer", "quit") == 1u);
    BOOST_TEST(graph.count("greet", "quit") == 1u);
    BOOST_TEST(graph.count("quit", "greet") == 0u);
    BOOST_TEST(reactor::state_graph<Declared>(loop).empty());
    BOOST_TEST(graph.dot("Dialogue") ==
               "digraph \"Dialogue\" {\n"
               "  \"greet\";\n"
               "  \"quit\";\n"
               "  \"wait_for_answer\";\n"
               "  \"greet\" -> \"quit\" [label=1];\n"
               "  \"greet\" -> \"wait_for_answer\" [label=1];\n"
               "  \"wait_for_answer\" -> \"quit\" [label=1];\n"
               "  \"wait_for_answer\" -> \"wait_for_answer\" [label=1];\n"
               "}\n");
}

BOOST_AUTO_TEST_CASE(an_undeclared_transition_fails_the_task_in_debug_mode) {
    BOOST_TEST(loop.run_until_complete<Declared>(true) == 1);
    loop.set_debug(true);
    BOOST_TEST(loop.run_until_complete<Declared>(false) == 1);
    auto task = loop.create_task<Declared>(true);
    settle();
    BOOST_TEST(throws<reactor::StateError>([&] { task.result(); }));
    BOOST_TEST(text_of(task.exception()) == "undeclared transition second -> third");
}

BOOST_AUTO_TEST_CASE(a_declared_table_is_drawn_without_running) {
    BOOST_TEST(Declared::table().allows("first", "third"));
    BOOST_TEST(!Declared::table().allows("second", "third"));
    BOOST_TEST(!Declared::table().allows("third", "first"));
    BOOST_TEST(Declared::table().dot("a \"b\"") ==
               "digraph \"a \\\"b\\\"\" {\n"
               "  \"first\";\n"
               "  \"first\" -> \"second\";\n"
               "  \"first\" -> \"third\";\n"
               "  \"second\";\n"
               "}\n");
}

BOOST_AUTO_TEST_CASE(class_names_are_read_from_what_the_compiler_prints) {
    using reactor::detail::type_text;
    BOOST_TEST(type_text("const char* callable_name() [with F = a::Fetch]") == "a::Fetch");
    BOOST_TEST(type_text("const char *callable_name() [F = a::Fetch]") == "a::Fetch");
    BOOST_TEST(type_text("callable") == "callable");
    BOOST_TEST(type_text(reactor::detail::callable_name<Script>()) == "task_test::Script");
}

BOOST_AUTO_TEST_SUITE_END()
