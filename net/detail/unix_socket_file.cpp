// SPDX-License-Identifier: BSL-1.0
#include <net/detail/unix_socket_file.hpp>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace reactor {
namespace net {
namespace detail {

namespace {

long own_process() noexcept { return static_cast<long>(::getpid()); }

struct Descriptor {
    explicit Descriptor(int opened) noexcept : fd(opened) {}
    ~Descriptor() {
        if (fd >= 0) ::close(fd);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    const int fd;
};

bool is_file(const std::string& path, ::dev_t device, ::ino_t inode) noexcept {
    struct ::stat found;
    return ::lstat(path.c_str(), &found) == 0 && found.st_dev == device && found.st_ino == inode;
}

/// Never over a file that exists, where the file system can do that.
bool rename_to_new(const std::string& from, const std::string& to) noexcept {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
        return true;
    }
    return (errno == EINVAL || errno == ENOSYS) && ::rename(from.c_str(), to.c_str()) == 0;
}

/// A path beside this one that nobody else uses.
std::string beside(const std::string& path) {
    static std::atomic<unsigned> made{0};
    return path + ".gone-" + std::to_string(::getpid()) + '-' + std::to_string(++made);
}

/// Removes exactly that file. Between a look at the path and its removal another server may have
/// put its own there; so what the path names is moved aside first, which is one step, looked at
/// there, and moved back if it is another's.
bool remove_file(const std::string& path, ::dev_t device, ::ino_t inode) noexcept {
    if (!is_file(path, device, inode)) return false;
    try {
        const std::string aside = beside(path);
        if (!rename_to_new(path, aside)) return false;
        if (is_file(aside, device, inode)) return ::unlink(aside.c_str()) == 0;
        rename_to_new(aside, path);
    } catch (...) {
        // No memory for the name: it stays, as after a crash.
    }
    return false;
}

/// Whether no socket is bound to it any more. The question is asked with a socket of another type:
/// the system looks for the socket first and at its type next, so a server, listening or not, with
/// a full backlog or not, is EPROTOTYPE and never hears of us.
bool nobody_is_bound_to(const std::string& path) noexcept {
    ::sockaddr_un address = ::sockaddr_un();
    if (path.size() >= sizeof address.sun_path) return false;
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size());
    const Descriptor probe(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    return probe.fd >= 0 &&
           ::connect(probe.fd, static_cast<const ::sockaddr*>(static_cast<const void*>(&address)),
                     sizeof address) != 0 &&
           errno == ECONNREFUSED;
}

/// True if nothing is at the path, or nothing any more.
bool make_way(const std::string& path) noexcept {
    // As long as it is open no other file can have its device and inode.
    const Descriptor file(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (file.fd < 0) return errno == ENOENT;
    struct ::stat found;
    return ::fstat(file.fd, &found) == 0 && S_ISSOCK(found.st_mode) && nobody_is_bound_to(path) &&
           remove_file(path, found.st_dev, found.st_ino);
}

std::string directory_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

// How long a server that starts waits for another one that is at the same in its directory. It is a
// matter of microseconds, so a lock that stays is somebody else's, who has nothing to do with this.
constexpr int lock_attempts = 50;
constexpr int lock_pause = 1;  // ms

/// -1: without.
int lock_directory(const std::string& path) noexcept {
    try {
        const int directory =
            ::open(directory_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (directory < 0) return -1;
        for (int i = 0; i < lock_attempts; ++i) {
            if (::flock(directory, LOCK_EX | LOCK_NB) == 0) return directory;
            if (errno != EWOULDBLOCK && errno != EINTR) break;
            ::poll(nullptr, 0, lock_pause);
        }
        ::close(directory);
    } catch (...) {
    }
    return -1;
}

}  // namespace

UnixSocketFile::UnixSocketFile(const std::string& path, int permissions)
    : path_(path), process_(own_process()) {
    struct ::stat made;
    if (::lstat(path.c_str(), &made) != 0) {
        throw std::system_error(errno, std::system_category(), "stat");
    }
    device_ = made.st_dev;
    inode_ = made.st_ino;
    const auto mode = static_cast<::mode_t>(permissions);
    if (permissions >= 0 && (made.st_mode & 07777) != mode && ::chmod(path.c_str(), mode) != 0) {
        const int code = errno;
        remove();
        throw std::system_error(code, std::system_category(), "chmod");
    }
}

UnixSocketFile::UnixSocketFile(UnixSocketFile&& other) noexcept
    : path_(std::move(other.path_)),
      device_(other.device_),
      inode_(other.inode_),
      process_(other.process_) {
    other.path_.clear();
}

UnixSocketFile& UnixSocketFile::operator=(UnixSocketFile&& other) noexcept {
    path_.swap(other.path_);
    other.path_.clear();
    device_ = other.device_;
    inode_ = other.inode_;
    process_ = other.process_;
    return *this;
}

void UnixSocketFile::remove() noexcept {
    if (!path_.empty() && own_process() == process_) remove_file(path_, device_, inode_);
    path_.clear();
}

StaleSocketRemoval::StaleSocketRemoval(const std::string& path) noexcept
    : directory_(lock_directory(path)), made_way_(make_way(path)) {}

StaleSocketRemoval::~StaleSocketRemoval() {
    if (directory_ >= 0) ::close(directory_);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
