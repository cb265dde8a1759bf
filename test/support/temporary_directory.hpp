// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_TEMPORARY_DIRECTORY_HPP
#define REACTOR_TEST_TEMPORARY_DIRECTORY_HPP

#include <string>
#include <vector>

namespace support {

/// A directory of its own for a test, removed with all that is in it.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::string& path() const noexcept { return path_; }
    std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

/// The names in a directory, hidden ones included, in order; of none if there is no directory.
std::vector<std::string> names_in(const std::string& directory);

/// A file's bytes, or the bytes into a file; throws std::system_error.
std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& bytes);

}  // namespace support

#endif
