// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SUPPORT_JSON_HPP
#define REACTOR_TEST_SUPPORT_JSON_HPP

#include <map>
#include <string>
#include <vector>

namespace support {

/// A value of RFC 8259, to be read by tests.
struct Json {
    enum class Kind { null, boolean, number, string, array, object };

    Kind kind = Kind::null;
    std::string text;  ///< of a string, in UTF-8; of a number, as it was written; "true", "false"
    std::vector<Json> items;
    std::map<std::string, Json> members;

    /// Throws std::runtime_error if there is none of that name.
    const Json& operator[](const std::string& name) const;
    bool has(const std::string& name) const { return members.count(name) != 0; }
};

/// Strict: the whole text is one value, and nothing is forgiven; names must not be there twice.
/// Throws std::runtime_error with the place.
Json parse_json(const std::string& text);

}  // namespace support

#endif
