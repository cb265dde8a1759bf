// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_APPS_SUPERVISOR_HPP
#define REACTOR_TEST_APPS_SUPERVISOR_HPP

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include "program.hpp"

#include <test/support/temporary_directory.hpp>

/// What the tests of the supervisor share.
namespace supervisor_test {

using programs::command;
using programs::contains;
using programs::Exit;
using programs::lines_in;
using programs::number_before;
using programs::Strings;

/// "web restart=never" and a script make a program that a shell runs.
inline std::string shell(const std::string& head, const std::string& script) {
    std::string quoted = script;
    for (std::size_t at = 0; (at = quoted.find('\'', at)) != std::string::npos; at += 4) {
        quoted.replace(at, 1, "'\\''");
    }
    return head + ": sh -c '" + quoted + '\'';
}

inline support::Command supervisor_command(const Strings& all, Strings options = {}) {
    for (const std::string& one : all) options.insert(options.end(), {"--run", one});
    return command("supervisor", options);
}

/// What an output has in front of `part`, or fails.
inline std::size_t position(const std::string& text, const std::string& part) {
    const std::size_t at = text.find(part);
    BOOST_TEST((at != std::string::npos), "no '" << part << "' in: " << text);
    return at;
}

/// A running supervisor.
class Supervisor {
public:
    explicit Supervisor(const Strings& all, const Strings& options = {})
        : process_(supervisor_command(all, options)) {}

    support::ChildProcess& process() { return process_; }
    const std::string& output() const { return process_.output(); }
    void wait_for(const std::string& text) {
        BOOST_TEST_REQUIRE(process_.wait_for_output(text), "no '" << text << "': " << last_words());
    }
    /// Waits until it has been started so often.
    void wait_for_starts(const std::string& name, std::size_t count) {
        const std::string word = name + " * runs, process ";
        std::size_t at = 0;
        for (std::size_t i = 0; i < count; ++i) {
            while ((at = output().find(word, at)) == std::string::npos) {
                at = output().size();
                at -= std::min(at, word.size());
                wait_for_more();
            }
            at += word.size();
        }
    }
    void wait_for_more() {
        const std::size_t size = output().size();
        while (output().size() == size) BOOST_TEST_REQUIRE(process_.pump(), last_words());
    }
    /// Of what may be megabytes, for a failed test's message.
    std::string last_words() const {
        return output().substr(output().size() - std::min<std::size_t>(output().size(), 2000));
    }
    Exit stop(int signal = SIGTERM) {
        process_.send_signal(signal);
        return process_.wait();
    }

private:
    support::ChildProcess process_;
};

/// What its last line says.
struct Summary {
    unsigned long long stopped, killed, succeeded, failed, given_up, starts;

    explicit Summary(const Exit& exit, int status = 0) {
        const std::size_t at = exit.out.rfind("Ended: ");
        BOOST_TEST_REQUIRE((exit.status == status && at != std::string::npos), exit.text());
        BOOST_TEST(exit.err == "");
        const std::string text = exit.out.substr(at);
        stopped = number_before("stopped", text);
        killed = number_before("killed", text);
        succeeded = number_before("succeeded", text);
        failed = number_before("failed", text);
        given_up = number_before("given up", text);
        starts = number_before("starts", text);
    }
};

/// A named pipe that never ends as long as this is there.
class Fifo {
public:
    Fifo() : path_(directory_ / "fifo") {
        BOOST_REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
        fd_ = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
        BOOST_REQUIRE(fd_ >= 0);
    }
    ~Fifo() { ::close(fd_); }
    Fifo(const Fifo&) = delete;
    Fifo& operator=(const Fifo&) = delete;

    const std::string& path() const { return path_; }
    void send(const std::string& bytes) {
        BOOST_REQUIRE(::write(fd_, bytes.data(), bytes.size()) ==
                      static_cast<::ssize_t>(bytes.size()));
    }
    /// Until nothing more has been taken for half a second, at most so many bytes.
    std::size_t send_until_full(const std::string& piece, std::size_t most) {
        std::size_t sent = 0;
        while (sent < most) {
            ::pollfd room = {fd_, POLLOUT, 0};
            if (::poll(&room, 1, 500) == 0) break;
            const ::ssize_t took = ::write(fd_, piece.data(), piece.size());
            if (took > 0) sent += static_cast<std::size_t>(took);
        }
        return sent;
    }

private:
    support::TemporaryDirectory directory_;
    std::string path_;
    int fd_;
};

}  // namespace supervisor_test

#endif
