// SPDX-License-Identifier: BSL-1.0
#include "keeper.hpp"

#include <reactor/combinators.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/report.hpp>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <utility>

namespace supervisor {

namespace net = reactor::net;
using reactor::Next;

namespace {

std::string seconds_text(reactor::Duration length) {
    char text[32];
    const double seconds = std::chrono::duration<double>(length).count();
    std::snprintf(text, sizeof text, "%.10g s", std::round(seconds * 100) / 100);
    return text;
}

}  // namespace

Keeper::Keeper(const ProgramOptions& program, const OutputOptions& printing,
               std::shared_ptr<Output> output, const Orders& orders)
    : program_(program),
      printing_(printing),
      output_(std::move(output)),
      orders_(orders),
      backoff_(net::BackoffOptions().first(program.pause).most(program.longest)),
      scope_(loop()) {
    orders_.start_no_more.add_done_callback(
        scope_, [this](const reactor::Promise<void>&) { start_no_more(); });
    orders_.stop.add_done_callback(scope_, [this](const reactor::Promise<void>&) { stop(); });
    orders_.kill.add_done_callback(scope_, [this](const reactor::Promise<void>&) { kill(); });
}

// ---- one run --------------------------------------------------------------------------------

Next Keeper::launch() {
    if (starts_no_more_) return finish_as(Fate::Kind::stopped);
    ++starts_;
    return await(net::start_process(
                     loop(), program_.command[0],
                     std::vector<std::string>(program_.command.begin() + 1, program_.command.end()),
                     net::ProcessOptions()
                         .input(net::ChildIo::null())
                         .output(net::ChildIo::pipe())
                         .errors(net::ChildIo::pipe())
                         .kill_group()),
                 &Keeper::launched, &Keeper::refused);
}

Next Keeper::launched(net::Process process) {
    process_ = std::move(process);
    launched_at_ = loop().time();
    say("runs, process " + std::to_string(process_.pid()));
    if (!orders_.tried.done()) orders_.tried.set_result();
    const auto forward = [this](net::Stream& pipe, const char* mark) {
        return loop().create_task<Forwarder>(std::move(pipe), process_.wait(), output_,
                                             program_.name + mark, printing_);
    };
    out_ = forward(process_.output(), " | ");
    err_ = forward(process_.errors(), " ! ");
    if (kills_) {
        kill();
    } else if (stops_) {
        ask_to_end();
    }
    return await(process_.wait(), &Keeper::ended, &Keeper::status_lost);
}

Next Keeper::ended(const net::ExitStatus& status) {
    return drain(
        "has ended after " + seconds_text(loop().time() - launched_at_) + ": " + status.str(),
        status.success());
}

Next Keeper::status_lost(const std::system_error& error) {
    return drain(std::string("has ended, nobody knows how: ") + error.what(), false);
}

/// Its end is told behind its last words.
Next Keeper::drain(std::string what, bool success) {
    ran_ = loop().time() - launched_at_;
    grace_.cancel();
    end_ = std::move(what);
    success_ = success;
    return await(reactor::gather_settled(std::move(out_), std::move(err_)), &Keeper::drained);
}

Next Keeper::drained() {
    process_ = net::Process();
    return go_on();
}

Next Keeper::refused(const std::system_error& error) {
    if (!orders_.tried.done()) orders_.tried.set_result();
    ran_ = reactor::Duration::zero();
    end_ = std::string("cannot be started: ") + error.what();
    success_ = false;
    return go_on();
}

// ---- between two runs -----------------------------------------------------------------------

Next Keeper::go_on() {
    if (ran_ < program_.stable) {
        ++unstable_;
    } else {
        unstable_ = 0;
        backoff_.reset();
    }
    if (starts_no_more_) {
        say(end_);
        return finish_as(was_killed_ ? Fate::Kind::killed : Fate::Kind::stopped);
    }
    const bool again = program_.restart == ProgramOptions::Restart::always ||
                       (program_.restart == ProgramOptions::Restart::on_failure && !success_);
    if (!again) {
        say(end_);
        return finish_as(success_ ? Fate::Kind::succeeded : Fate::Kind::failed);
    }
    if (program_.tries > 0 && unstable_ >= program_.tries) {
        say(end_ + "; given up, as that was number " + std::to_string(unstable_) +
            " in a row within " + seconds_text(program_.stable));
        return finish_as(Fate::Kind::given_up);
    }
    const reactor::Duration pause = backoff_.next();
    say(end_ + "; again in " + seconds_text(pause));
    pause_ = loop().create_promise<void>();
    scope_.call_later(reactor::Options().label("supervisor: pause"), pause, [this] {
        if (!pause_.done()) pause_.set_result();
    });
    return await(pause_, &Keeper::launch);
}

Next Keeper::finish_as(Fate::Kind kind) { return finish(Fate{kind, starts_}); }

Next Keeper::finally() {
    if (!orders_.tried.done()) orders_.tried.set_result();
    return end();
}

// ---- orders ---------------------------------------------------------------------------------

void Keeper::start_no_more() {
    starts_no_more_ = true;
    if (pause_ && !pause_.done()) pause_.set_result();
}

void Keeper::stop() {
    start_no_more();
    if (stops_) return;
    stops_ = true;
    if (process_ && !kills_) ask_to_end();
}

void Keeper::kill() {
    start_no_more();
    kills_ = true;
    if (!process_ || !process_.running()) return;
    say("is killed");
    if (send(SIGKILL)) was_killed_ = true;
}

void Keeper::ask_to_end() {
    if (!process_.running()) return;
    say("is asked to end: " + signal_name(program_.stop));
    send(program_.stop);
    grace_ = scope_.call_later(reactor::Options().label("supervisor: grace"), program_.grace,
                               &Keeper::end_of_grace, this);
}

void Keeper::end_of_grace() {
    if (!process_ || !process_.running()) return;
    say("has not ended within " + seconds_text(program_.grace) + ": is killed");
    if (send(SIGKILL)) was_killed_ = true;
}

/// Whether it was sent.
bool Keeper::send(int signal) {
    try {
        return process_.send_signal(signal);
    } catch (const std::system_error& error) {
        say(error.what());  // it runs as somebody else
        return false;
    }
}

void Keeper::say(const std::string& what) { output_->write(program_.name + " * " + what + '\n'); }

}  // namespace supervisor
