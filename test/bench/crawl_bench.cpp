// SPDX-License-Identifier: BSL-1.0
//
// A whole crawl, seen from outside: the crawler beside this program serves so many pictures, each
// after a tenth of a second, from one process, and fetches all of them at once into an empty
// directory by another one. The figures are those of the latter: the time, its CPU time, its peaks
// of memory and of descriptors.
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

/// A directory of its own, removed with what a crawl leaves in it: files, and one level of folders.
class Directory {
public:
    Directory() {
        if (!mkdtemp(&path_[0])) throw std::system_error(errno, std::system_category(), "mkdtemp");
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory() { remove(path_); }

    const std::string& path() const noexcept { return path_; }

private:
    static void remove(const std::string& path) {
        if (unlink(path.c_str()) == 0) return;
        const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), &closedir);
        while (const dirent* const entry = directory ? readdir(directory.get()) : nullptr) {
            const std::string name = entry->d_name;
            if (name != "." && name != "..") remove(path + "/" + name);
        }
        rmdir(path.c_str());
    }

    std::string path_ = "/tmp/crawl-bench-XXXXXX";
};

/// Prints its figures.
void crawl(const std::string& crawler, unsigned long count) {
    // One descriptor for each visitor; the crawler raises its limit by itself, and gets the same.
    rlimit limit;
    checked(getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
    limit.rlim_cur = limit.rlim_max;
    checked(setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");

    int ends[2];
    checked(pipe2(ends, O_CLOEXEC), "pipe2");
    const std::string jobs = std::to_string(count);
    const Child server({crawler, "--serve", "--count", jobs, "--latency", "0.1"}, ends[1]);
    close(ends[1]);
    const std::string base = base_url(ends[0]);

    const Directory directory;
    const std::string list = directory.path() + "/urls";
    std::ofstream urls(list.c_str());
    for (unsigned long i = 1; i <= count; ++i) urls << base << i << ".png\n";
    urls.close();
    if (!urls) throw std::runtime_error("cannot write " + list);

    const int nowhere = checked(open("/dev/null", O_WRONLY | O_CLOEXEC), "open /dev/null");
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    Child client({crawler, "--jobs", jobs, "--output", directory.path() + "/pic", "--input", list},
                 nowhere);
    std::size_t most = 0;
    rusage used;
    while (!client.ended(used)) {
        most = std::max(most, open_descriptors(client.process()));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const std::chrono::duration<double> took = Clock::now() - begin;
    std::printf("crawl ours %lu seconds=%.3f cpu_seconds=%.3f peak_kib=%ld peak_descriptors=%zu\n",
                count, took.count(), seconds(used.ru_utime) + seconds(used.ru_stime),
                used.ru_maxrss, most);
}

/// The crawler beside this program.
std::string crawler_beside(const std::string& program) {
    return program.substr(0, program.rfind('/') + 1) + "crawler";
}

}  // namespace

int main(int argc, char** argv) {
    const std::string crawler = crawler_beside(argv[0]);
    if (argc == 2 && std::strcmp(argv[1], "list") == 0) {
        if (access(crawler.c_str(), X_OK) == 0) {
            std::printf("crawl ours 1000 0 figures\n");
        } else {
            std::fprintf(stderr, "crawl: left out, there is no %s\n", crawler.c_str());
        }
        return 0;
    }
    if (argc == 2 && std::strcmp(argv[1], "version") == 0) return 0;
    if (argc < 3 || std::strcmp(argv[1], "crawl") != 0 || std::strcmp(argv[2], "ours") != 0) {
        std::fprintf(stderr, "usage: %s list | version | crawl ours [COUNT]\n", argv[0]);
        return 2;
    }
    try {
        crawl(crawler, argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1000);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "crawl_bench: %s\n", error.what());
        return 1;
    }
}
