// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_APPS_PROXY_HPP
#define REACTOR_TEST_APPS_PROXY_HPP

#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>

#include "plain_socket.hpp"
#include "program.hpp"

/// What the tests of the proxy share.
namespace proxy_test {

using programs::command;
using programs::contains;
using programs::Exit;
using programs::lines_in;
using programs::number_before;
using programs::Strings;

/// A running proxy, on a port of 127.0.0.1 that the system chooses unless it is told otherwise.
class Proxy {
public:
    explicit Proxy(Strings arguments, const std::string& listen = "127.0.0.1:0")
        : process_(command("proxy", with_listen(std::move(arguments), listen))) {
        BOOST_REQUIRE(process_.wait_for_output("\n"));
        address_ = process_.output().substr(0, process_.output().find('\n'));
    }

    const std::string& address() const { return address_; }
    std::string port() const { return address_.substr(address_.rfind(':') + 1); }
    support::ChildProcess& process() { return process_; }

    /// SIGTERM; from then on nobody else is let in.
    void begin_to_end() {
        process_.send_signal(SIGTERM);
        BOOST_TEST(process_.wait_for_output("Ending: "));
        BOOST_TEST(plain::refuses(address_));
    }
    Exit stop() {
        process_.send_signal(SIGTERM);
        return process_.wait();
    }

    /// Its memory, in bytes.
    std::size_t resident() const {
        std::ifstream status("/proc/" + std::to_string(process_.pid()) + "/status");
        for (std::string line; std::getline(status, line);) {
            if (line.compare(0, 6, "VmRSS:") == 0) return std::stoul(line.substr(6)) * 1024;
        }
        throw std::runtime_error("no VmRSS");
    }

private:
    static Strings with_listen(Strings arguments, const std::string& listen) {
        if (!listen.empty()) arguments.insert(arguments.end(), {"--listen", listen});
        return arguments;
    }

    support::ChildProcess process_;
    std::string address_;
};

/// What its last two lines say.
struct Summary {
    unsigned long long finished, closed, aborted;
    unsigned long long open, accepted, forwarded, unreached, refused;
    unsigned long long from_clients, to_targets, from_targets, to_clients;

    explicit Summary(const Exit& exit) {
        const std::size_t at = exit.out.find("Ended: ");
        BOOST_TEST_REQUIRE((exit.status == 0 && at != std::string::npos), exit.text());
        const std::string text = exit.out.substr(at);
        finished = number_before("finished", text);
        closed = number_before("closed", text);
        aborted = number_before("aborted", text);
        open = number_before("open", text);
        accepted = number_before("accepted", text);
        forwarded = number_before("forwarded", text);
        unreached = number_before("unreached", text);
        refused = number_before("refused", text);
        from_clients = number_before("from clients", text);
        to_targets = number_before("to targets", text);
        from_targets = number_before("from targets", text);
        to_clients = number_before("to clients", text);
    }

    /// What came in on one side has gone out on the other.
    void check_nothing_lost() const {
        BOOST_TEST(open == 0u);
        BOOST_TEST(from_clients == to_targets);
        BOOST_TEST(from_targets == to_clients);
    }
};

/// A client and what the proxy has connected it with.
struct Pair {
    plain::Socket client;
    plain::Socket target;

    Pair(const Proxy& proxy, plain::Listener& listener)
        : client(proxy.address()), target(listener.accept()) {}
};

inline std::string noise(std::size_t size, std::uint32_t n = 1) {
    std::string bytes;
    bytes.reserve(size);
    while (bytes.size() < size) {
        n = n * 1664525 + 1013904223;
        bytes += static_cast<char>(static_cast<unsigned char>(n >> 24));
    }
    return bytes;
}

}  // namespace proxy_test

#endif
