// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SUPERVISOR_KEEPER_HPP
#define REACTOR_SUPERVISOR_KEEPER_HPP

#include "configuration.hpp"
#include "forwarder.hpp"
#include "output.hpp"

#include <net/backoff.hpp>
#include <net/exit_status.hpp>
#include <net/process.hpp>
#include <reactor/clock.hpp>
#include <reactor/handle.hpp>
#include <reactor/promise.hpp>
#include <reactor/scope.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <system_error>

namespace supervisor {

/// What a Keeper is told, and what it tells. Each is done at most once. A value: copies share the
/// promises.
struct Orders {
    explicit Orders(reactor::EventLoop& loop)
        : start_no_more(loop.create_promise<void>()),
          stop(loop.create_promise<void>()),
          kill(loop.create_promise<void>()),
          tried(loop.create_promise<void>()) {}

    reactor::Promise<void> start_no_more;  // when it ends by itself, that is it
    reactor::Promise<void> stop;           // its signal, its grace, SIGKILL
    reactor::Promise<void> kill;           // SIGKILL

    reactor::Promise<void> tried;  // told: it runs, or could not be started
};

/// What has become of a program in the end.
struct Fate {
    enum class Kind { succeeded, failed, given_up, stopped, killed };

    Kind kind;
    std::size_t starts;  // also those that failed
};

/// Keeps one program running:
///
///                ┌───────────────────(pause)───────────────────────────┐
///                v                                                     │
///     start ──> launch ──> launched ──(it ends)──> ended ──> drained ──┴──> finish
///                  └──(cannot be started)────────────────────────^
///
/// stop: in launched, it is asked to end; in a pause, that is over; in between, as soon as may be.
class Keeper final : public reactor::Task<Fate> {
public:
    Keeper(const ProgramOptions& program, const OutputOptions& printing,
           std::shared_ptr<Output> output, const Orders& orders);

private:
    reactor::Next start() override { return launch(); }
    reactor::Next launch();
    reactor::Next launched(reactor::net::Process process);
    reactor::Next refused(const std::system_error& error);
    reactor::Next ended(const reactor::net::ExitStatus& status);
    reactor::Next status_lost(const std::system_error& error);
    reactor::Next drain(std::string what, bool success);
    reactor::Next drained();
    reactor::Next go_on();
    reactor::Next finish_as(Fate::Kind kind);
    reactor::Next finally() override;

    void start_no_more();
    void stop();
    void kill();
    void ask_to_end();
    void end_of_grace();
    bool send(int signal);
    void say(const std::string& what);

    const ProgramOptions program_;
    const OutputOptions printing_;
    const std::shared_ptr<Output> output_;
    const Orders orders_;
    reactor::net::Backoff backoff_;

    reactor::net::Process process_;
    reactor::Promise<void> out_, err_;  // what forwards its lines
    reactor::TimePoint launched_at_;
    reactor::TimerHandle grace_;

    // The last run.
    std::string end_;
    bool success_ = false;
    reactor::Duration ran_ = reactor::Duration::zero();

    reactor::Promise<void> pause_;
    std::size_t starts_ = 0;
    std::size_t unstable_ = 0;  // runs in a row
    bool starts_no_more_ = false, stops_ = false, kills_ = false;
    bool was_killed_ = false;
    reactor::Scope scope_;
};

}  // namespace supervisor

#endif
