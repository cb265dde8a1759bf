// SPDX-License-Identifier: BSL-1.0
#include <net/exit_status.hpp>

#include <signal.h>

namespace reactor {
namespace net {

namespace {

// Those that end programs, as a rule. The system's own texts depend on the language, and come from
// a function that threads must not share.
struct Name {
    int signal;
    const char* text;
};
constexpr Name names[] = {
    {SIGHUP, "SIGHUP"},       {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"},     {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"},     {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},       {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"},     {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"},     {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"},     {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"},     {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"},     {SIGSYS, "SIGSYS"},   {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"},
    {SIGIO, "SIGIO"},
#ifdef SIGPWR
    {SIGPWR, "SIGPWR"},
#endif
#ifdef SIGSTKFLT
    {SIGSTKFLT, "SIGSTKFLT"},
#endif
};

}  // namespace

std::string ExitStatus::str() const {
    if (exited()) return "exit code " + std::to_string(code_);
    std::string text = "signal " + std::to_string(signal_);
    for (const Name& name : names) {
        if (name.signal == signal_) text = std::string(name.text) + " (" + text + ')';
    }
    if (dumped_core_) text += ", core dumped";
    return text;
}

}  // namespace net
}  // namespace reactor
