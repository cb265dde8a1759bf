// SPDX-License-Identifier: BSL-1.0
//
// A whole crawl, seen from outside: the crawler beside this program serves so many pictures, each
// after a tenth of a second, from one process, and fetches all of them at once into an empty
// directory by another one. The figures are those of the latter: the time, its CPU time, its peaks
// of memory and of descriptors. Beside it, where they are installed, curl and aria2c fetch the
// same; curl 300 at a time, as it allows no more. And the crawler's demo, by what it says itself:
// all pictures at once should take as long as the slowest of them.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <test/support/temporary_directory.hpp>

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
        execvp(arguments[0], arguments.data());
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
            throw std::runtime_error("a program failed: wait status " + std::to_string(status));
        }
        return true;
    }

private:
    pid_t process_;
};

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

/// Who fetches the pictures, with what stands before each address in its list.
struct Client {
    const char* name;
    const char* before;
    std::vector<std::string> (*command)(const std::string& program, const std::string& list,
                                        const std::string& directory, const std::string& count);
};

const Client clients[] = {
    {"ours", "",
     [](const std::string& program, const std::string& list, const std::string& directory,
        const std::string& count) {
         return std::vector<std::string>{program,   "--jobs",  count, "--output",
                                         directory, "--input", list};
     }},
    {"curl", "url = ",
     [](const std::string& program, const std::string& list, const std::string& directory,
        const std::string&) {
         return std::vector<std::string>{program,          "--disable",
                                         "--silent",       "--no-progress-meter",
                                         "--parallel",     "--parallel-immediate",
                                         "--parallel-max", "300",
                                         "--create-dirs",  "--output-dir",
                                         directory,        "--remote-name-all",
                                         "--config",       list};
     }},
    {"aria2c", "",
     [](const std::string& program, const std::string& list, const std::string& directory,
        const std::string& count) {
         return std::vector<std::string>{program,
                                         "--no-conf",
                                         "--quiet",
                                         "--split=1",
                                         "--file-allocation=none",
                                         "--max-concurrent-downloads=" + count,
                                         "--dir=" + directory,
                                         "--input-file=" + list};
     }},
};

/// Prints the client's figures.
void crawl(const std::string& crawler, const Client& client, const std::string& program,
           unsigned long count) {
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

    const support::TemporaryDirectory directory;
    const std::string list = directory / "urls";
    std::ofstream urls(list.c_str());
    for (unsigned long i = 1; i <= count; ++i) urls << client.before << base << i << ".png\n";
    urls.close();
    if (!urls) throw std::runtime_error("cannot write " + list);

    const int nowhere = checked(open("/dev/null", O_WRONLY | O_CLOEXEC), "open /dev/null");
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    Child fetching(client.command(program, list, directory / "pic", jobs), nowhere);
    std::size_t most = 0;
    rusage used;
    while (!fetching.ended(used)) {
        most = std::max(
            most, support::names_in("/proc/" + std::to_string(fetching.process()) + "/fd").size());
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const std::chrono::duration<double> took = Clock::now() - begin;
    const std::size_t fetched = support::names_in(directory / "pic").size();
    if (fetched != count) {
        throw std::runtime_error(std::to_string(fetched) + " of " + jobs + " pictures came");
    }
    std::printf("crawl %s %lu seconds=%.3f cpu_seconds=%.3f peak_kib=%ld peak_descriptors=%zu\n",
                client.name, count, took.count(), seconds(used.ru_utime) + seconds(used.ru_stime),
                used.ru_maxrss, most);
}

/// The number of seconds behind `word`; 0 without one.
double seconds_behind(const std::string& word, const std::string& line) {
    const std::string::size_type found = line.find(word);
    return found == std::string::npos ? 0 : std::atof(line.c_str() + found + word.size());
}

/// Prints the figures of the demo: "URL: …, took 0.164s" for each picture, "Total: 0.508s, …".
void crawl_demo(const std::string& crawler) {
    int ends[2];
    checked(pipe2(ends, O_CLOEXEC), "pipe2");
    const support::TemporaryDirectory directory;
    Child demo({crawler, "--demo", "--output", directory / "pic"}, ends[1]);
    close(ends[1]);
    double slowest = 0, total = 0;
    unsigned long pictures = 0;
    std::string line;
    for (char c; read(ends[0], &c, 1) == 1;) {
        if (c != '\n') {
            line += c;
            continue;
        }
        if (line.compare(0, 5, "URL: ") == 0) ++pictures;
        slowest = std::max(slowest, seconds_behind(", took ", line));
        total = std::max(total, seconds_behind("Total: ", line));
        line.clear();
    }
    close(ends[0]);
    rusage used;
    while (!demo.ended(used)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (pictures == 0 || slowest <= 0) throw std::runtime_error("the demo fetched nothing");
    std::printf("crawl-demo ours %lu seconds=%.3f slowest=%.3f seconds/slowest=%.3f\n", pictures,
                total, slowest, total / slowest);
}

/// The crawler beside this program.
std::string crawler_beside(const std::string& program) {
    return program.substr(0, program.rfind('/') + 1) + "crawler";
}

/// A program's path as the shell would find it; empty: there is none.
std::string found(const std::string& name) {
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string candidate = folder + "/" + name;
        if (access(candidate.c_str(), X_OK) == 0) return candidate;
    }
    return std::string();
}

/// The first line of what a program says of its version.
std::string version_of(const std::string& program) {
    int ends[2];
    checked(pipe2(ends, O_CLOEXEC), "pipe2");
    const Child child({program, "--version"}, ends[1]);
    close(ends[1]);
    std::string line;
    for (char c; read(ends[0], &c, 1) == 1 && c != '\n';) line += c;
    close(ends[0]);
    return line;
}

int run(const std::string& crawler, int argc, char** argv) {
    const std::string command = argc > 1 ? argv[1] : "";
    for (const Client& client : clients) {
        const bool ours = std::strcmp(client.name, "ours") == 0;
        const std::string program = ours ? crawler : found(client.name);
        if (argc == 2 && command == "list") {
            if (access(crawler.c_str(), X_OK) == 0 && !program.empty()) {
                std::printf("crawl %s 1000 0 figures\n", client.name);
                if (ours) std::printf("crawl-demo ours 10 0 figures\n");
            } else {
                std::fprintf(stderr, "crawl %s: left out, there is no %s\n", client.name,
                             program.empty() ? client.name : crawler.c_str());
            }
        } else if (argc == 2 && command == "version") {
            if (ours || program.empty()) continue;
            std::printf("%s %s\n", client.name, version_of(program).c_str());
        } else if (argc > 2 && command == "crawl-demo" && ours &&
                   std::strcmp(argv[2], "ours") == 0) {
            crawl_demo(crawler);
            return 0;
        } else if (argc > 2 && command == "crawl" && std::strcmp(argv[2], client.name) == 0) {
            crawl(crawler, client, program, argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1000);
            return 0;
        }
    }
    if (argc == 2 && (command == "list" || command == "version")) return 0;
    std::fprintf(stderr,
                 "usage: %s list | version | crawl ours|curl|aria2c [COUNT] | crawl-demo ours\n",
                 argv[0]);
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(crawler_beside(argv[0]), argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "crawl_bench: %s\n", error.what());
        return 1;
    }
}
