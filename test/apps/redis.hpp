// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_APPS_REDIS_HPP
#define REACTOR_TEST_APPS_REDIS_HPP

#include <csignal>
#include <memory>
#include <string>

#include <test/support/temporary_directory.hpp>

#include "program.hpp"

/// A real database server, and the load that comes with it.
namespace redis {

constexpr const char* program = "/usr/bin/redis-server";
constexpr const char* benchmark = "/usr/bin/redis-benchmark";

/// On a Unix socket of its own and nowhere else, without files: nothing to do with the service that
/// the package starts.
class Server {
public:
    Server() {
        process_.reset(new support::ChildProcess(support::Command(
            {program, "--port", "0", "--unixsocket", own_ / "redis.sock", "--save", "",
             "--appendonly", "no", "--daemonize", "no", "--dir", own_.path()})));
        BOOST_REQUIRE(process_->wait_for_output("eady to accept connections"));
    }

    std::string address() const { return "unix:" + (own_ / "redis.sock"); }

    /// Ends it; what it had to say.
    std::string stop() {
        process_->send_signal(SIGTERM);
        return process_->wait().text();
    }

private:
    support::TemporaryDirectory own_;
    std::unique_ptr<support::ChildProcess> process_;
};

}  // namespace redis

#endif
