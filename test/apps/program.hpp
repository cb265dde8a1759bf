// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_APPS_PROGRAM_HPP
#define REACTOR_TEST_APPS_PROGRAM_HPP

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <test/support/child_process.hpp>

/// What tests of programs share.
namespace programs {

using support::Command;
using support::Exit;
using Strings = std::vector<std::string>;

/// The path of one of our programs, from those that the build gives on the command line.
inline std::string path_of(const std::string& name) {
    const auto& suite = boost::unit_test::framework::master_test_suite();
    for (int i = 1; i < suite.argc; ++i) {
        const std::string path = suite.argv[i];
        if (path.substr(path.rfind('/') + 1) != name) continue;
        const std::unique_ptr<char, void (*)(void*)> absolute(::realpath(path.c_str(), nullptr),
                                                              &std::free);
        BOOST_REQUIRE_MESSAGE(absolute, "no program " << path);
        return absolute.get();
    }
    throw std::runtime_error("the path of " + name + " must follow -- on the command line");
}

inline Command command(const std::string& name, const Strings& arguments) {
    Strings argv = {path_of(name)};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return Command(argv);
}

/// What such a program serves or does comes first on its command line.
inline Strings with_mode(const std::string& mode, Strings arguments) {
    arguments.insert(arguments.begin(), mode);
    return arguments;
}

/// A running program that serves: the first lines that it prints are its addresses.
class Serving {
public:
    explicit Serving(const Command& command) : process_(command) {
        BOOST_REQUIRE(process_.wait_for_output("\n"));
        std::string text = process_.output();
        for (std::size_t end; (end = text.find('\n')) != std::string::npos;) {
            addresses_.push_back(text.substr(0, end));
            text.erase(0, end + 1);
        }
    }

    const std::string& address(std::size_t index = 0) const { return addresses_.at(index); }
    const Strings& addresses() const { return addresses_; }
    support::ChildProcess& process() { return process_; }
    Exit stop(int signal = SIGTERM) {
        process_.send_signal(signal);
        return process_.wait();
    }

private:
    support::ChildProcess process_;
    Strings addresses_;
};

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline std::size_t lines_in(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// The number that stands before `word`: 5 of "5 finished". Fails if there is none.
inline unsigned long long number_before(const std::string& word, const std::string& text) {
    const std::size_t at = text.find(" " + word);
    BOOST_TEST_REQUIRE((at != std::string::npos && at > 0), "no '" << word << "' in: " << text);
    const std::size_t begin = text.find_last_not_of("0123456789", at - 1) + 1;
    BOOST_TEST_REQUIRE((begin < at), "no number before '" << word << "' in: " << text);
    return std::strtoull(text.c_str() + begin, nullptr, 10);
}

/// A call of the program that ends with status 2 (wrong usage) or 1, and one clear line.
inline void check_refused(const std::string& name, const Strings& arguments, int status,
                          const std::string& part) {
    const Exit exit = support::run(command(name, arguments));
    BOOST_TEST(exit.status == status, part << ": " << exit.text());
    BOOST_TEST(exit.out == "");
    BOOST_TEST(exit.err.compare(0, name.size() + 2, name + ": ") == 0, exit.text());
    const std::string line = exit.err.substr(0, exit.err.find('\n'));
    BOOST_TEST(contains(line, part), "no '" << part << "' in: " << line);
    if (status == 2) {
        BOOST_TEST(contains(exit.err, "\n\nusage: " + name), exit.text());
    } else {
        BOOST_TEST(lines_in(exit.err) == 1u, exit.text());
    }
}

/// For cases that need another program: without it they are skipped, and reported so.
class Installed {
public:
    explicit Installed(std::string path) : path_(std::move(path)) {}
    boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const {
        boost::test_tools::assertion_result installed(::access(path_.c_str(), X_OK) == 0);
        if (!installed) installed.message() << path_ << " is not installed";
        return installed;
    }

private:
    std::string path_;
};

}  // namespace programs

#endif
