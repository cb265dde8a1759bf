// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_STATE_GRAPH_HPP
#define REACTOR_STATE_GRAPH_HPP

#include <reactor/detail/stored.hpp>
#include <reactor/event_loop.hpp>

#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace reactor {

/// The declared transitions of a task class: from which wait to which waits it may go. Optional; a
/// machine shows its table by overriding Task::states(), and a loop in debug mode then fails a task
/// with StateError at an undeclared transition. Not checked: the first wait, and finally() with
/// what follows it. A value; the names are those of the functions that wait, as string literals,
/// which are not copied.
///
///     const StateTable* states() const override {
///         static const StateTable table{{"resolve", {"connect"}},
///                                       {"connect", {"connect", "send"}}};
///         return &table;
///     }
class StateTable {
public:
    struct Row {
        const char* name;
        std::vector<const char*> to;
    };

    StateTable(std::initializer_list<Row> rows) : rows_(rows) {}

    bool allows(const char* from, const char* to) const noexcept;
    /// The table as a graph in the language of Graphviz.
    std::string dot(const std::string& title) const;

private:
    std::vector<Row> rows_;
};

/// The transitions that the tasks of one class made, with how often: running the tests in debug
/// mode draws the machine. A value.
class StateGraph {
public:
    bool empty() const noexcept { return waits_.empty(); }
    /// How often a task that had waited in `from` waited next in `to`.
    std::size_t count(const std::string& from, const std::string& to) const;
    /// How often a task waited in `state`, from wherever it came.
    std::size_t count(const std::string& state) const;
    /// The graph in the language of Graphviz: one node for each wait, edges labelled with counts.
    /// `now` says how many tasks wait in a state at the moment (task_states() of inspect.hpp):
    /// those states are filled, and say so.
    std::string dot(const std::string& title, const std::map<std::string, std::size_t>& now =
                                                  std::map<std::string, std::size_t>()) const;

    /// For tasks. `from` is null at the first wait.
    void add(const char* from, const char* to);

private:
    std::map<std::string, std::size_t> waits_;
    std::map<std::pair<std::string, std::string>, std::size_t> edges_;
};

namespace detail {

/// A loop's recorded graphs, by the name of the class as the compiler prints it.
class StateGraphs {
public:
    explicit StateGraphs(EventLoop&) {}
    StateGraph& of(const char* class_name) { return graphs_[class_name]; }

private:
    std::map<std::string, StateGraph> graphs_;
};

/// The type in what callable_name() gives: "[with F = Fetch]" is "Fetch".
std::string type_text(const char* pretty_function);

}  // namespace detail

/// What the tasks of class S did so far on this loop while it was in debug mode. The reference is
/// good until the loop is closed. Throws StateError on a closed loop.
template <class S>
const StateGraph& state_graph(EventLoop& loop) {
    return loop.service<detail::StateGraphs>().of(detail::callable_name<S>());
}

}  // namespace reactor

#endif
