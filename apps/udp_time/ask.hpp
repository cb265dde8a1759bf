// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_UDP_TIME_ASK_HPP
#define REACTOR_UDP_TIME_ASK_HPP

#include "options.hpp"

#include <reactor/clock.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace udp_time {

/// What came of all questions together.
struct Tally {
    std::size_t asked = 0;    // addresses
    std::size_t answers = 0;  // times that were told
    std::size_t failed = 0;   // addresses from which there was none, and names without one
    std::uint64_t requests = 0;
    std::uint64_t ignored = 0;  // datagrams that were no answers
};

/// Asks all servers at once, and prints what each says as soon as it is there:
///
///     start ──> Server for each argument ──> Question for each address      all done ──> ended
///
/// The result is the exit status. SIGINT and SIGTERM end the questions.
class Ask final : public reactor::Task<int> {
public:
    explicit Ask(const Options& options) : options_(options) {}
    ~Ask() override;

private:
    class Question;
    class Server;

    reactor::Next start() override;
    void interrupt(int signal);
    reactor::Next ended(const std::vector<reactor::Promise<bool>>& servers);

    const Options& options_;
    Tally tally_;
    int interrupted_by_ = 0;
    std::vector<reactor::TaskHandle<bool>> servers_;
};

}  // namespace udp_time

#endif
