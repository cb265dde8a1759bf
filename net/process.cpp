// SPDX-License-Identifier: BSL-1.0
#include <net/detail/child_launch.hpp>
#include <net/detail/child_service.hpp>
#include <net/detail/child_state.hpp>
#include <net/detail/pipe_end.hpp>
#include <net/process.hpp>
#include <reactor/task.hpp>

#include <csignal>
#include <cstddef>
#include <utility>

#include <sys/wait.h>

namespace reactor {
namespace net {

using detail::ChildCommand;
using detail::ChildService;
using detail::ChildState;
using detail::OwnedDescriptor;
using detail::PipeEnd;

// ---- Process --------------------------------------------------------------------------------

Process::Process() noexcept = default;
Process::Process(std::shared_ptr<ChildState> state) noexcept : state_(std::move(state)) {}
Process::Process(Process&& other) noexcept = default;

Process& Process::operator=(Process&& other) noexcept {
    Process moved(std::move(other));
    std::swap(state_, moved.state_);
    std::swap(input_, moved.input_);
    std::swap(output_, moved.output_);
    std::swap(errors_, moved.errors_);
    return *this;
}

Process::~Process() {
    if (state_) state_->dropped();
}

ChildState& Process::state(const char* call) const {
    if (!state_) {
        throw StateError(std::string(call) + ": the Process is empty: start_process() makes one");
    }
    return *state_;
}

ChildState& Process::on_thread(const char* call) const {
    ChildState& child = state(call);
    child.core.check_thread(call);
    return child;
}

int Process::pid() const { return state("pid").pid(); }

Stream& Process::input() {
    state("input");
    return input_;
}

Stream& Process::output() {
    state("output");
    return output_;
}

Stream& Process::errors() {
    state("errors");
    return errors_;
}

Promise<ExitStatus> Process::wait(Here here) { return state("wait").wait(here); }
bool Process::running() const { return state("running").running(); }
bool Process::send_signal(int signal) { return state("send_signal").send_signal(signal); }
bool Process::terminate() { return on_thread("terminate").send_signal(SIGTERM); }
bool Process::kill() { return on_thread("kill").send_signal(SIGKILL); }
Promise<ExitStatus> Process::stop(Duration grace, Here here) {
    return on_thread("stop").stop(grace, here);
}
void Process::detach() { on_thread("detach").detach(); }

EventLoop& Process::loop() const {
    EventLoop* const loop = state("loop").core.loop;
    if (!loop) throw StateError("loop: the event loop of this Process is gone");
    return *loop;
}

struct ProcessAccess {
    static Process make(std::shared_ptr<ChildState> state) noexcept {
        return Process(std::move(state));
    }
    static ChildState& state(const Process& process) noexcept { return *process.state_; }
};

// ---- starting -------------------------------------------------------------------------------

namespace {

constexpr std::size_t longest_report = 1024;

/// Owns the child until its program runs. Destroyed before that, it kills it: the loop takes its
/// status.
///
///     start: fork ──> listen ──> reported: it runs, or ──> refused: the failed child is gone, too
class Starting final : public Task<Process> {
public:
    explicit Starting(ChildCommand command) : command_(std::move(command)) {}

private:
    Next start() override {
        ChildCommand::Started started = command_.start();
        adopt(started.pid);
        process_.input() = stream(started.input, PipeEnd::write, "standard input of ");
        process_.output() = stream(started.output, PipeEnd::read, "standard output of ");
        process_.errors() = stream(started.errors, PipeEnd::read, "standard error of ");
        report_ = stream(started.report, PipeEnd::read, "start of ");
        return yield(&Starting::listen);  // behind connection_made(), in the same batch
    }

    Next listen() { return await(report_.read_all(longest_report), &Starting::reported); }

    Next reported(std::string said) {
        if (ChildCommand::is_ready(said)) {
            ProcessAccess::state(process_).handed_over();
            return finish(std::move(process_));
        }
        said_ = std::move(said);
        return await(process_.wait(), &Starting::refused, &Starting::refused_and_taken);
    }

    Next refused(const ExitStatus& status) {
        return fail(std::make_exception_ptr(command_.error_of(said_, status)));
    }
    /// Its status was taken by somebody else.
    Next refused_and_taken(const std::system_error& error) {
        if (said_.empty()) return fail(std::make_exception_ptr(error));
        return refused(ExitStatus::of_code(127));
    }

    void adopt(::pid_t pid) {
        try {
            const std::string name = command_.program() + ", process " + std::to_string(pid);
            const auto child =
                std::make_shared<ChildState>(loop(), pid, name, command_.options().kill_group());
            ChildService& service = loop().service<ChildService>();
            service.add(child);
            try {
                child->watch(service);
            } catch (...) {
                service.take(*child);
                throw;
            }
            process_ = ProcessAccess::make(child);
        } catch (...) {
            // Nobody would notice its end, and it has hardly begun.
            ::kill(pid, SIGKILL);
            ::siginfo_t info;
            while (::waitid(P_PID, static_cast<::id_t>(pid), &info, WEXITED) != 0 &&
                   errno == EINTR) {
            }
            throw;
        }
    }

    Stream stream(OwnedDescriptor& end, PipeEnd::Direction direction, const char* what) {
        if (!end) return Stream();
        Stream made =
            detail::pipe_stream("start_process", loop(), end.get(),
                                PipeEnd{direction, what + ProcessAccess::state(process_).name(),
                                        direction == PipeEnd::write});
        end.release();
        return made;
    }

    const ChildCommand command_;
    Process process_;
    Stream report_;
    std::string said_;  // by the child
};

}  // namespace

Promise<Process> start_process(EventLoop& loop, const std::string& program,
                               const std::vector<std::string>& arguments,
                               const ProcessOptions& options, Here here) {
    loop.core().check("start_process");
    return loop.create_task<Starting>(Options(here), ChildCommand(program, arguments, options));
}

}  // namespace net
}  // namespace reactor
