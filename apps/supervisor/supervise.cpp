// SPDX-License-Identifier: BSL-1.0
#include "supervise.hpp"

#include <apps/command_line/arguments.hpp>

#include <reactor/event_loop.hpp>
#include <reactor/signals.hpp>

#include <chrono>
#include <csignal>
#include <string>
#include <utility>

namespace supervisor {

using reactor::Next;

namespace {

// A reader that takes nothing does not keep us for longer, once there is an end to be told.
constexpr std::chrono::seconds flush_time{5};

/// The signals that end us. nohup has its word kept.
std::vector<int> ending_signals() {
    std::vector<int> signals = {SIGINT, SIGTERM};
    struct ::sigaction hangup;
    if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
        signals.push_back(SIGHUP);
    }
    return signals;
}

}  // namespace

Supervise::Supervise(const Options& options, int output)
    : options_(options), descriptor_(output), scope_(loop()) {}

Supervise::~Supervise() {
    for (const int signal : signals_) loop().remove_signal_handler(signal);
}

// ---- beginning ------------------------------------------------------------------------------

Next Supervise::start() { return await(Output::open(loop(), descriptor_), &Supervise::opened); }

Next Supervise::opened(std::shared_ptr<Output> output) {
    output_ = std::move(output);
    output_->ended().add_done_callback(scope_,
                                       [this](const reactor::Promise<void>&) { end_all(); });
    for (const int signal : ending_signals()) {
        loop().add_signal_handler(signal, &Supervise::signalled, this);
        signals_.push_back(signal);
    }
    return begin();
}

Next Supervise::begin() {
    if (kept_.size() == options_.programs.size() || over_.done()) {
        return await(over_, &Supervise::stop);
    }
    const ProgramOptions& program = options_.programs[kept_.size()];
    const Orders orders(loop());
    const reactor::TaskHandle<Fate> end =
        loop().create_task<Keeper>(program, options_.output, output_, orders);
    end.set_name("keeper of " + program.name);
    ++running_;
    end.add_done_callback(scope_, [this](const reactor::Promise<Fate>&) { one_has_ended(); });
    kept_.push_back(Kept{orders, end});
    return await(orders.tried, &Supervise::begin);
}

void Supervise::one_has_ended() {
    --running_;
    if (running_ == 0 && kept_.size() == options_.programs.size()) end_all();
}

void Supervise::end_all() {
    if (!over_.done()) over_.set_result();
}

void Supervise::signalled() {
    if (!over_.done()) {
        interrupted_ = true;
        return end_all();
    }
    for (const Kept& one : kept_) {
        if (!one.orders.kill.done()) one.orders.kill.set_result();
    }
}

// ---- ending ---------------------------------------------------------------------------------

Next Supervise::stop() {
    if (running_ > 0) {
        output_->write("Ending: " + std::to_string(running_) +
                       (running_ == 1 ? " program runs\n" : " programs run\n"));
    }
    output_->hurry(flush_time);
    // While the last one is being stopped, none of the others comes back.
    for (const Kept& one : kept_) one.orders.start_no_more.set_result();
    left_ = kept_.size();
    return stop_last();
}

Next Supervise::stop_last() {
    if (left_ == 0) return close();
    const Kept& last = kept_[--left_];
    last.orders.stop.set_result();
    return await(last.end, &Supervise::stopped);
}

Next Supervise::stopped(Fate fate) {
    starts_ += fate.starts;
    switch (fate.kind) {
        case Fate::Kind::succeeded:
            ++succeeded_;
            break;
        case Fate::Kind::failed:
            ++failed_;
            break;
        case Fate::Kind::given_up:
            ++given_up_;
            break;
        case Fate::Kind::stopped:
            ++stopped_;
            break;
        case Fate::Kind::killed:
            ++killed_;
            break;
    }
    return stop_last();
}

Next Supervise::close() {
    output_->write("Ended: " + std::to_string(stopped_) + " stopped, " + std::to_string(killed_) +
                   " killed, " + std::to_string(succeeded_) + " succeeded, " +
                   std::to_string(failed_) + " failed, " + std::to_string(given_up_) +
                   " given up; " + std::to_string(starts_) + " starts in all\n");
    output_->close();
    return await(output_->ended(), &Supervise::closed);
}

Next Supervise::closed() {
    const bool well = interrupted_ || failed_ + given_up_ == 0;
    return finish(well ? 0 : command_line::exit_failed);
}

}  // namespace supervisor
