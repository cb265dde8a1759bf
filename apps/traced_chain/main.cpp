// SPDX-License-Identifier: BSL-1.0
//
// Follows a small program through the loop: every callback and who scheduled it, in a file for
// Perfetto. While it runs a watchdog looks out for callbacks that block the loop.
#include "chain.hpp"

#include <reactor/event_loop.hpp>
#include <reactor/stats.hpp>
#include <reactor/trace.hpp>
#include <reactor/watchdog.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <thread>

namespace {

const char* const usage =
    "usage: traced_chain [FILE]\n"
    "Runs a chain of timers, descriptors, threads, promises and a task, and writes who scheduled\n"
    "whom into FILE (default: traced_chain.json), for https://ui.perfetto.dev or "
    "chrome://tracing.\n"
    "\n"
    "  --help  this text\n"
    "\n"
    "Exit status: 0 done, 1 the file cannot be written, 2 wrong usage.\n";

int refuse(const std::string& why) {
    std::fprintf(stderr, "traced_chain: %s\n\n%s", why.c_str(), usage);
    return 2;
}

void run(const std::string& path) {
    reactor::EventLoop loop;
    reactor::enable_timing(loop);
    const reactor::StallWatchdog watchdog(loop, std::chrono::milliseconds(200));
    reactor::Trace trace(loop, path);

    traced_chain::Chain chain(loop);
    const auto sum =
        loop.create_task<traced_chain::Adder>(reactor::Options().label("Adder"), std::ref(chain));
    // What comes from another thread has no callback that scheduled it.
    std::thread other(
        [&loop] { loop.call_soon_threadsafe(reactor::Options().label("post"), [] {}); });
    other.join();
    const long primes = loop.run_until_complete(sum);
    trace.close();

    const reactor::Stats stats = reactor::stats(loop);
    const auto lag = std::chrono::duration_cast<std::chrono::microseconds>(stats.lag.at_most(0.9));
    std::printf("%ld primes; %llu callbacks in %llu iterations, nine in ten at most %lld us late\n",
                primes, static_cast<unsigned long long>(stats.callbacks),
                static_cast<unsigned long long>(stats.iterations),
                static_cast<long long>(lag.count()));
    std::printf("trace: %s\n", path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    std::string path = "traced_chain.json";
    if (argc > 2) return refuse("one file, not " + std::to_string(argc - 1));
    if (argc == 2) {
        path = argv[1];
        if (path == "--help") {
            std::fputs(usage, stdout);
            return 0;
        }
        if (path.empty() || path[0] == '-') return refuse("'" + path + "' is no file's name");
    }
    try {
        run(path);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "traced_chain: %s\n", error.what());
        return 1;
    }
}
