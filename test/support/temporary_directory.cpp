// SPDX-License-Identifier: BSL-1.0
#include "temporary_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

namespace support {

namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::system_category(), what);
}

void remove_all(const std::string& path) {
    struct ::stat found;
    if (::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) {
        for (const std::string& name : names_in(path)) remove_all(path + "/" + name);
        ::rmdir(path.c_str());
    } else {
        ::unlink(path.c_str());
    }
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
    const char* const parent = std::getenv("TMPDIR");
    path_ = std::string(parent ? parent : "/tmp") + "/reactor-test-XXXXXX";
    if (!::mkdtemp(&path_[0])) fail("mkdtemp " + path_);
}

TemporaryDirectory::~TemporaryDirectory() { remove_all(path_); }

std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    ::DIR* const open = ::opendir(directory.c_str());
    if (!open) return names;
    while (const ::dirent* const entry = ::readdir(open)) {
        const std::string name = entry->d_name;
        if (name != "." && name != "..") names.push_back(name);
    }
    ::closedir(open);
    std::sort(names.begin(), names.end());
    return names;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) fail("read " + path);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

void write_file(const std::string& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file) fail("write " + path);
}

}  // namespace support
