// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CRAWLER_PICTURE_FILE_HPP
#define REACTOR_CRAWLER_PICTURE_FILE_HPP

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace crawler {

/// Gives each URL of a run a file name of its own in one directory.
class FileNames {
public:
    /// A name after the last segment of a URL's path: without escapes, separators, control bytes
    /// and leading dots, at most 200 bytes, and different from every name given before.
    std::string choose(const std::string& url_path);

private:
    std::unordered_map<std::string, unsigned> taken_;  // and the number to try next for each
};

/// Set from the loop's thread when a run is broken off; a writer that sees it leaves no file.
using GiveUp = std::shared_ptr<std::atomic<bool>>;

/// Writes `directory/name` through a temporary file beside it and a rename, so that the final name
/// never shows half a picture. On every failure, and when `give_up` is set, the temporary file is
/// removed. Throws std::system_error that names the step and the file. For a thread that may block.
void write_picture(const std::string& directory, const std::string& name, const std::string& body,
                   const GiveUp& give_up);

/// Makes the directory if it is not there; throws std::system_error.
void make_directory(const std::string& directory);

}  // namespace crawler

#endif
