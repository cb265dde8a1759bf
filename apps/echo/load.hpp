// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_ECHO_LOAD_HPP
#define REACTOR_ECHO_LOAD_HPP

#include "options.hpp"

#include <reactor/clock.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace echo {

/// What all connections of a load have seen together.
struct Totals {
    std::uint64_t round_trips = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t bytes_back = 0;
    std::size_t connected = 0;
    std::map<std::string, std::size_t> errors;  // how often each text
    reactor::TimePoint begun;                   // when the first one was connected
};

/// Connects many times to an echo server, sends, and compares what comes back:
///
///     start ──(every Visitor done)──> ended
///
/// The result is the exit status. SIGINT and SIGTERM end the visits.
class Load final : public reactor::Task<int> {
public:
    explicit Load(const Options& options);
    ~Load() override;

private:
    class Visitor;

    reactor::Next start() override;
    void interrupt(int signal);
    reactor::Next ended();

    const Options& options_;
    std::string pattern_;
    Totals totals_;
    int interrupted_by_ = 0;
    std::vector<reactor::TaskHandle<void>> visitors_;
};

}  // namespace echo

#endif
