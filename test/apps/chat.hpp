// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_APPS_CHAT_HPP
#define REACTOR_TEST_APPS_CHAT_HPP

#include <csignal>
#include <string>

#include "plain_socket.hpp"
#include "program.hpp"

/// What the tests of the chat room share.
namespace chat_test {

using programs::command;
using programs::contains;
using programs::Exit;
using programs::lines_in;
using programs::number_before;
using programs::Strings;

/// With time for thousands of members on a machine that has other work.
inline support::Command chat(const Strings& arguments) {
    support::Command called = command("chat", arguments);
    called.time_limit = std::chrono::seconds(300);
    return called;
}

/// A running room, on a port of 127.0.0.1 that the system chooses unless it is told otherwise.
class Room : public programs::Serving {
public:
    explicit Room(const Strings& arguments)
        : Serving(chat(programs::with_mode("serve", arguments))) {}
};

/// A connection that reads line by line.
class Member {
public:
    explicit Member(const std::string& address) : socket_(address) {}
    /// One that has been welcomed, and has a name.
    Member(const std::string& address, const std::string& name) : Member(address) {
        BOOST_TEST(contains(line(), "* you are guest-"));
        say("/name " + name);
        BOOST_TEST(line() == "* you are " + name + " now");
    }

    void say(const std::string& text) { socket_.send(text + '\n'); }
    /// The next line, without its end; what there is at the end of the stream.
    std::string line() {
        std::size_t end;
        while ((end = input_.find('\n')) == std::string::npos) {
            char part[4096];
            const ::ssize_t got = ::recv(socket_.fd(), part, sizeof part, 0);
            if (got < 0) plain::fail("recv");
            if (got == 0) {
                ended_ = true;
                return std::move(input_);
            }
            input_.append(part, static_cast<std::size_t>(got));
        }
        const std::string text = input_.substr(0, end);
        input_.erase(0, end + 1);
        return text;
    }
    /// Waits until everything that it has said was looked at.
    void settle() {
        say("/who");
        BOOST_TEST(contains(line(), "* you are "));
    }
    bool at_end() { return line().empty() && ended_; }
    plain::Socket& socket() { return socket_; }

private:
    plain::Socket socket_;
    std::string input_;
    bool ended_ = false;
};

inline Exit load(const Strings& arguments) {
    const Exit exit = support::run(chat(programs::with_mode("load", arguments)));
    BOOST_TEST_REQUIRE(!exit.timed_out, exit.text());
    return exit;
}

/// What the last line of a room says.
struct Summary {
    unsigned long long told, cut_off, joined, turned_away, dropped, lines, refused;

    explicit Summary(const Exit& exit) {
        const std::size_t at = exit.out.find("Ended: ");
        BOOST_TEST_REQUIRE((exit.status == 0 && at != std::string::npos), exit.text());
        const std::string text = exit.out.substr(at);
        told = number_before("told", text);
        cut_off = number_before("cut off", text);
        joined = number_before("joined", text);
        turned_away = number_before("turned away", text);
        dropped = number_before("dropped", text);
        lines = number_before("lines said", text);
        refused = number_before("refused", text);
    }
};

}  // namespace chat_test

#endif
