// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SUPERVISOR_SUPERVISE_HPP
#define REACTOR_SUPERVISOR_SUPERVISE_HPP

#include "keeper.hpp"
#include "options.hpp"
#include "output.hpp"

#include <reactor/promise.hpp>
#include <reactor/scope.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace supervisor {

/// The whole run, as an exit status:
///
///     start ──> begin ──(the program runs, or cannot)──> begin … ──(a signal, the output is lost,
///                                                                   all have ended)──> stop
///     stop ──> stop_last ──(it has ended)──> stop_last … ──> close ──(all is printed)──> finish
///                 └──(second signal: all are killed)
class Supervise final : public reactor::Task<int> {
public:
    /// Takes the descriptor of the output over.
    Supervise(const Options& options, int output);
    ~Supervise() override;

private:
    struct Kept {
        Orders orders;
        reactor::Promise<Fate> end;
    };

    reactor::Next start() override;
    reactor::Next opened(std::shared_ptr<Output> output);
    reactor::Next begin();
    reactor::Next stop();
    reactor::Next stop_last();
    reactor::Next stopped(Fate fate);
    reactor::Next close();
    reactor::Next closed();

    void signalled();
    void one_has_ended();
    void end_all();

    const Options& options_;
    int descriptor_;
    std::shared_ptr<Output> output_;
    std::vector<Kept> kept_;  // in the order of their start
    std::size_t running_ = 0;
    std::size_t left_ = 0;  // to be stopped
    reactor::Promise<void> over_ = loop().create_promise<void>();
    bool interrupted_ = false;
    std::vector<int> signals_;

    std::size_t stopped_ = 0, killed_ = 0, succeeded_ = 0, failed_ = 0, given_up_ = 0;
    std::size_t starts_ = 0;
    reactor::Scope scope_;
};

}  // namespace supervisor

#endif
