// SPDX-License-Identifier: BSL-1.0
#include <reactor/state_graph.hpp>

#include <cstring>

namespace reactor {

namespace {

std::string quoted(const std::string& text) {
    std::string all = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') all += '\\';
        all += c;
    }
    return all + "\"";
}

std::string begin(const std::string& title) { return "digraph " + quoted(title) + " {\n"; }

}  // namespace

bool StateTable::allows(const char* from, const char* to) const noexcept {
    for (const Row& row : rows_) {
        if (std::strcmp(row.name, from) != 0) continue;
        for (const char* const target : row.to) {
            if (std::strcmp(target, to) == 0) return true;
        }
    }
    return false;
}

std::string StateTable::dot(const std::string& title) const {
    std::string text = begin(title);
    for (const Row& row : rows_) {
        text += "  " + quoted(row.name) + ";\n";
        for (const char* const target : row.to) {
            text += "  " + quoted(row.name) + " -> " + quoted(target) + ";\n";
        }
    }
    return text + "}\n";
}

void StateGraph::add(const char* from, const char* to) {
    ++waits_[to];
    if (from) ++edges_[std::make_pair(std::string(from), std::string(to))];
}

std::size_t StateGraph::count(const std::string& from, const std::string& to) const {
    const auto at = edges_.find(std::make_pair(from, to));
    return at == edges_.end() ? 0 : at->second;
}

std::size_t StateGraph::count(const std::string& state) const {
    const auto at = waits_.find(state);
    return at == waits_.end() ? 0 : at->second;
}

std::string StateGraph::dot(const std::string& title,
                            const std::map<std::string, std::size_t>& now) const {
    std::string text = begin(title);
    std::map<std::string, std::size_t> states = now;
    for (const auto& wait : waits_) states.emplace(wait.first, 0);
    for (const auto& state : states) {
        text += "  " + quoted(state.first);
        if (state.second != 0) {
            text += " [style=filled label=" +
                    quoted(state.first + " (" + std::to_string(state.second) + " now)") + "]";
        }
        text += ";\n";
    }
    for (const auto& edge : edges_) {
        text += "  " + quoted(edge.first.first) + " -> " + quoted(edge.first.second) +
                " [label=" + std::to_string(edge.second) + "];\n";
    }
    return text + "}\n";
}

namespace detail {

std::string type_text(const char* pretty_function) {
    const std::string text(pretty_function);
    // gcc: "… [with F = Fetch]", clang: "… [F = Fetch]". Other compilers: as it is.
    const std::size_t begin = text.find("F = ");
    if (begin == std::string::npos || text.back() != ']') return text;
    return text.substr(begin + 4, text.size() - begin - 5);
}

}  // namespace detail
}  // namespace reactor
