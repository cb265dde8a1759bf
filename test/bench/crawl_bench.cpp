// SPDX-License-Identifier: BSL-1.0
//
// A whole crawl, seen from outside: `crawl_bench CRAWLER DIRECTORY [COUNT [LATENCY]]` serves COUNT
// pictures (1000), each after LATENCY seconds (0.1), from one process, fetches all of them at once
// into the empty DIRECTORY by another one, and prints "seconds cpu_seconds peak_kib
// peak_descriptors" of the latter. As it is no workload of its own, `crawl_bench list` is empty.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

int checked(int result, const std::string& what) {
    if (result < 0) throw std::system_error(errno, std::system_category(), what);
    return result;
}

/// A program whose standard output is `output`. Killed if it has not been waited for.
class Child {
public:
    Child(const std::vector<std::string>& command, int output) {
        std::vector<char*> arguments;
        for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.data()));
        arguments.push_back(nullptr);
        process_ = checked(fork(), "fork");
        if (process_ != 0) return;
        dup2(output, STDOUT_FILENO);
        execv(arguments[0], arguments.data());
        _exit(127);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        if (process_ == 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }

    pid_t process() const noexcept { return process_; }

    /// Whether it has ended, and then what it has used. Throws if it did not end well.
    bool ended(rusage& used) {
        int status = 0;
        if (checked(wait4(process_, &status, WNOHANG, &used), "wait4") == 0) return false;
        process_ = 0;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            throw std::runtime_error("the crawler failed: wait status " + std::to_string(status));
        }
        return true;
    }

private:
    pid_t process_;
};

std::size_t open_descriptors(pid_t process) {
    const std::string path = "/proc/" + std::to_string(process) + "/fd";
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), &closedir);
    std::size_t count = 0;
    while (directory && readdir(directory.get())) ++count;
    return count < 2 ? 0 : count - 2;  // "." and ".."
}

/// The first line that the server prints.
std::string base_url(int output) {
    std::string line;
    for (char c; read(output, &c, 1) == 1 && c != '\n';) line += c;
    if (line.compare(0, 7, "http://") != 0) throw std::runtime_error("the server does not start");
    return line;
}

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void crawl(const std::string& crawler, const std::string& directory, const std::string& count,
           const std::string& latency) {
    // One descriptor for each visitor; the crawler raises its limit by itself, and gets the same.
    rlimit limit;
    checked(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    checked(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");

    int ends[2];
    checked(pipe2(ends, O_CLOEXEC), "pipe2");
    const Child server({crawler, "--serve", "--count", count, "--latency", latency}, ends[1]);
    close(ends[1]);
    const std::string base = base_url(ends[0]);

    const std::string list = directory + "/urls";
    std::ofstream urls(list.c_str());
    const unsigned long last = std::strtoul(count.c_str(), nullptr, 10);
    for (unsigned long i = 1; i <= last; ++i) urls << base << i << ".png\n";
    urls.close();
    if (!urls) throw std::runtime_error("cannot write " + list);

    const int nowhere = checked(open("/dev/null", O_WRONLY | O_CLOEXEC), "open /dev/null");
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    Child client({crawler, "--jobs", count, "--output", directory + "/pic", "--input", list},
                 nowhere);
    std::size_t most = 0;
    rusage used;
    while (!client.ended(used)) {
        most = std::max(most, open_descriptors(client.process()));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const std::chrono::duration<double> took = Clock::now() - begin;
    std::printf("%.3f %.3f %ld %zu\n", took.count(),
                seconds(used.ru_utime) + seconds(used.ru_stime), used.ru_maxrss, most);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "list") == 0) return 0;
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s CRAWLER DIRECTORY [COUNT [LATENCY]]\n", argv[0]);
        return 2;
    }
    try {
        crawl(argv[1], argv[2], argc > 3 ? argv[3] : "1000", argc > 4 ? argv[4] : "0.1");
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "crawl_bench: %s\n", error.what());
        return 1;
    }
}
