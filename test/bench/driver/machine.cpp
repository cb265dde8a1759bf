// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/machine.hpp>

#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>

#include <sys/utsname.h>
#include <unistd.h>

namespace bench {

namespace {

std::string compiler() {
#if defined(__clang__)
    return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
    return "gcc " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
}

std::string now_as(const char* format) {
    const std::time_t now = std::time(nullptr);
    std::tm parts;
    localtime_r(&now, &parts);
    char text[64];
    return std::string(text, std::strftime(text, sizeof text, format, &parts));
}

}  // namespace

std::string parse_processor(const std::string& cpuinfo) {
    std::istringstream lines(cpuinfo);
    for (std::string line; std::getline(lines, line);) {
        if (line.compare(0, 10, "model name") != 0) continue;
        const std::string::size_type colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::string::size_type begin = line.find_first_not_of(" \t", colon + 1);
        if (begin != std::string::npos) return line.substr(begin);
    }
    return "unknown processor";
}

std::string machine() {
    std::ifstream file("/proc/cpuinfo");
    const std::string cpuinfo((std::istreambuf_iterator<char>(file)),
                              std::istreambuf_iterator<char>());
    utsname name;
    const std::string kernel =
        uname(&name) == 0 ? std::string(name.sysname) + " " + name.release : "unknown kernel";
    return parse_processor(cpuinfo) + ", " + std::to_string(sysconf(_SC_NPROCESSORS_ONLN)) +
           " CPUs, " + kernel + ", " + compiler();
}

std::string today() { return now_as("%Y-%m-%d"); }

std::string time_stamp() { return now_as("%Y-%m-%d-%H%M%S"); }

}  // namespace bench
