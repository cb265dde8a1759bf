// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_MISUSE_HPP
#define REACTOR_TEST_MISUSE_HPP

#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <vector>

/// Tables of calls that must be refused: each by an exception of one type, whose text begins with
/// the call's name and says what to do instead.
namespace misuse {

struct Call {
    const char* name;
    std::function<void()> make;
};

/// What was wrong with each; empty: nothing. Boost.Test's own macros are for one thread only.
template <class Error>
std::vector<std::string> faults(const std::vector<Call>& calls, const std::string& remedy) {
    std::vector<std::string> wrong;
    for (const Call& call : calls) {
        std::string text = "no error";
        bool right_type = false;
        try {
            call.make();
        } catch (const Error& error) {
            right_type = true;
            text = error.what();
        } catch (const std::exception& error) {
            text = std::string("another type: ") + error.what();
        } catch (...) {
            text = "another type";
        }
        const std::string begin = std::string(call.name) + ": ";
        if (!right_type || text.compare(0, begin.size(), begin) != 0 ||
            text.find(remedy) == std::string::npos) {
            wrong.push_back(begin + "got \"" + text + "\"");
        }
    }
    return wrong;
}

template <class Error>
void expect(const std::vector<Call>& calls, const std::string& remedy) {
    for (const std::string& text : faults<Error>(calls, remedy)) BOOST_ERROR(text);
}

}  // namespace misuse

#endif
