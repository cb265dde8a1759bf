// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEER_PROCESS_HPP
#define REACTOR_TEST_BENCH_PEER_PROCESS_HPP

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

inline int checked(int result, const char* what) {
    if (result < 0) throw std::system_error(errno, std::system_category(), what);
    return result;
}

/// The load generator of a server: this program once more, as `PROGRAM ROLE NUMBERS…`, so that only
/// the server's CPU time is measured; on the server's CPU, as affinity is inherited: on two, the
/// wake-up of an idle CPU would be all one sees. Killed if it has not been waited for, and with the
/// thread that made it: whoever reads what this program prints reads until both have ended.
class PeerProcess {
public:
    PeerProcess(const char* program, const std::vector<std::uint64_t>& numbers,
                const char* role = "peer") {
        std::vector<std::string> words = {program, role};
        for (const std::uint64_t number : numbers) words.push_back(std::to_string(number));
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(&word[0]);
        arguments.push_back(nullptr);
        process_ = checked(fork(), "fork");
        if (process_ != 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(program, arguments.data());
        _exit(127);
    }
    PeerProcess(const PeerProcess&) = delete;
    PeerProcess& operator=(const PeerProcess&) = delete;
    ~PeerProcess() {
        if (process_ == 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }

    /// Waits for its end; throws if it was not a good one.
    void join() {
        int status = 0;
        checked(waitpid(process_, &status, 0), "waitpid");
        process_ = 0;
        if (status != 0) throw std::runtime_error("the peer of the server failed");
    }

private:
    pid_t process_;
};

/// A port of the loopback, on which every process listens that wants to.
inline sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// A listening socket on the loopback, on a port that the system has chosen.
inline int listen_on_loopback(std::uint16_t& port) {
    const int listener = checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    sockaddr_in address = loopback(0);
    sockaddr* const bytes = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    checked(bind(listener, bytes, size), "bind");
    checked(listen(listener, 4096), "listen");
    checked(getsockname(listener, bytes, &size), "getsockname");
    port = ntohs(address.sin_port);
    return listener;
}

/// Lets this process, and those it starts, have as many descriptors as the system allows; how many
/// that are.
inline std::uint64_t raise_descriptor_limit() {
    rlimit limit;
    checked(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    checked(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
    return limit.rlim_max;
}

}  // namespace bench

#endif
