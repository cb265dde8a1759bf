// SPDX-License-Identifier: BSL-1.0
#include "picture_file.hpp"

#include <net/http/url.hpp>
#include <reactor/error.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace crawler {

namespace {

// Most file systems end names at 255 bytes; the temporary file's affixes and a counter must fit.
constexpr std::size_t longest_name = 200;

// Between two pieces a writer looks whether the run is broken off.
constexpr std::size_t piece = 1024 * 1024;

[[noreturn]] void fail(const std::string& step) {
    throw std::system_error(errno, std::system_category(), step);
}

std::string safe(const std::string& segment) {
    std::string name = reactor::net::percent_decode(segment);
    for (char& c : name) {
        const unsigned char byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f || c == '/' || c == '\\') c = '_';
    }
    if (!name.empty() && name[0] == '.') name[0] = '_';  // neither hidden nor "." nor ".."
    return name.empty() ? "index" : name;
}

/// A file under construction: closed and removed unless it was renamed.
class TemporaryFile {
public:
    TemporaryFile(const std::string& directory, const std::string& name) {
        // The names of a run are all different; a number in use is the rest of a run that was
        // killed. Not mkstemp(), whose files are private: a picture is as public as umask says.
        const std::string stem = directory + "/." + name + ".part-" + std::to_string(::getpid());
        for (int n = 0; fd_ < 0; ++n) {
            path_ = stem + (n == 0 ? "" : "-" + std::to_string(n));
            fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (fd_ < 0 && (errno != EEXIST || n == 100)) fail("create a file in " + directory);
        }
    }
    ~TemporaryFile() {
        if (fd_ >= 0) ::close(fd_);
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    void write(const char* data, std::size_t size) {
        while (size > 0) {
            const ssize_t written = ::write(fd_, data, size);
            if (written < 0) {
                if (errno == EINTR) continue;
                fail("write to " + path_);
            }
            data += written;
            size -= static_cast<std::size_t>(written);
        }
    }

    void rename_to(const std::string& path) {
        const int fd = fd_;
        fd_ = -1;
        if (::close(fd) != 0) fail("write to " + path_);  // where a quota shows
        if (::rename(path_.c_str(), path.c_str()) != 0) fail("rename to " + path);
        path_.clear();
    }

private:
    std::string path_;
    int fd_ = -1;
};

}  // namespace

std::string FileNames::choose(const std::string& url_path) {
    const std::string wanted = safe(url_path.substr(url_path.rfind('/') + 1));
    const std::size_t dot = wanted.rfind('.');
    std::string ending = dot == std::string::npos ? "" : wanted.substr(dot);
    if (ending.size() > 20) ending.clear();  // no ending, but a name with a dot in it
    const std::string stem =
        wanted.substr(0, std::min(wanted.size() - ending.size(), longest_name - ending.size()));

    std::string name = stem + ending;
    const auto first = taken_.emplace(name, 2u);
    if (first.second) return name;
    // No number is tried twice: the time for many equal names would grow with their square.
    unsigned& next = first.first->second;
    do {
        name = stem + "-" + std::to_string(next++) + ending;
    } while (!taken_.emplace(name, 2u).second);
    return name;
}

void write_picture(const std::string& directory, const std::string& name, const std::string& body,
                   const GiveUp& give_up) {
    TemporaryFile file(directory, name);
    for (std::size_t at = 0; at < body.size(); at += piece) {
        if (*give_up) throw reactor::CancelledError();
        file.write(body.data() + at, std::min(piece, body.size() - at));
    }
    if (*give_up) throw reactor::CancelledError();
    file.rename_to(directory + "/" + name);
}

void make_directory(const std::string& directory) {
    if (::mkdir(directory.c_str(), 0777) == 0) return;
    const int error = errno;
    struct stat found;
    if (error == EEXIST && ::stat(directory.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return;
    errno = error;
    fail("make the directory " + directory);
}

}  // namespace crawler
