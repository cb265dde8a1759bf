// SPDX-License-Identifier: BSL-1.0
#include <reactor/callback.hpp>

#include <stdexcept>
#include <string>

namespace reactor {

std::string Callback::name() const {
    return ops_ ? detail::callable_text(ops_->name) : std::string();
}

namespace detail {

namespace {

/// Where the first template argument of `text` ends, at the comma: npos if it is the only one.
std::size_t end_of_argument(const std::string& text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == ',' && depth == 0) return i;
        if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
        const bool arrow = c == '>' && i != 0 && text[i - 1] == '-';
        if ((c == '>' && !arrow) || c == ')' || c == '}' || c == ']') --depth;
    }
    return std::string::npos;
}

struct Wrapper {
    const char* name;
    int before;  // how many arguments stand before the user's callable
};

}  // namespace

bool is_null(const Callback& f) noexcept { return !f; }

void throw_null_callable(const char* call) {
    throw std::invalid_argument(std::string(call) +
                                ": the callable is null or empty: give it something to call");
}

std::string callable_text(const char* pretty_function) {
    // "const char* reactor::detail::callable_name() [with F = reactor::detail::BoundOnce<T>]" or
    // "... [F = ...]": what the user wrote is T.
    if (!pretty_function) return std::string();
    std::string text = pretty_function;
    const std::size_t begin = text.find("F = ");
    if (begin == std::string::npos || text.find("callable_name() [") > begin) return text;
    text = text.substr(begin + 4, text.rfind(']') - begin - 4);
    const std::string ours = "reactor::detail::";  // which gcc leaves out: it is in there itself
    // From the outside inwards.
    for (const Wrapper& wrapper :
         {Wrapper{"Scoped", 0}, Wrapper{"OnDone", 1}, Wrapper{"BoundDone", 1}, Wrapper{"Then", 2},
          Wrapper{"Except", 1}, Wrapper{"BoundOnce", 0}, Wrapper{"BoundMany", 0},
          Wrapper{"BoundJob", 0}}) {
        const std::size_t scope = text.compare(0, ours.size(), ours) == 0 ? ours.size() : 0;
        const std::string start = std::string(wrapper.name) + '<';
        if (text.compare(scope, start.size(), start) != 0 || text.back() != '>') continue;
        text = text.substr(scope + start.size(), text.size() - scope - start.size() - 1);
        for (int i = 0; i < wrapper.before; ++i) {
            const std::size_t comma = end_of_argument(text);
            if (comma == std::string::npos) break;
            text.erase(0, text.find_first_not_of(' ', comma + 1));
        }
        text.erase(text.find_last_not_of(' ') + 1);  // a compiler may set the last '>' apart
    }
    return text;
}

}  // namespace detail
}  // namespace reactor
