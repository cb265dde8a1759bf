// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_HTTP_MESSAGE_HPP
#define REACTOR_NET_HTTP_MESSAGE_HPP

#include <cstddef>
#include <reactor/error.hpp>  // stops -fno-exceptions with a sentence
#include <stdexcept>
#include <string>
#include <vector>

namespace reactor {
namespace net {

// The head of an HTTP/1.x message as a value. Values: any thread may hold one.

/// Why a message of a peer could not be taken. The kind is for programs, what() is a sentence that
/// says where and what was expected.
struct HttpError : std::runtime_error {
    enum class Kind {
        incomplete,  ///< the connection ended before the message did; asking again may help
        framing,     ///< the length or a chunk is invalid: where the body ends is not known
        malformed,   ///< the start line or a field is not HTTP
        too_large,   ///< a limit of ours was reached
        redirects,   ///< more redirects than the caller allows
        unsupported  ///< what the URL asks for is not offered (https)
    };

    HttpError(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}

    Kind kind() const noexcept { return kind_; }

private:
    Kind kind_;
};

/// One header field. The value has no white space at its ends.
struct HeaderField {
    std::string name;
    std::string value;
};

/// Header fields in the order of the wire, found by name without regard to ASCII case. A name may
/// occur several times (Set-Cookie). What is put in is checked when it is serialized, not before.
class HeaderFields {
public:
    using const_iterator = std::vector<HeaderField>::const_iterator;

    /// Appends a field, also where the name exists.
    HeaderFields& add(std::string name, std::string value);

    /// Makes the field the only one of its name, at the place of the first one if there was one.
    HeaderFields& set(const std::string& name, std::string value);

    /// Removes all fields of this name; how many there were.
    std::size_t remove(const std::string& name);

    /// The first value of this name, nullptr if there is none. Valid until the fields change.
    const std::string* find(const std::string& name) const noexcept;

    /// All values of this name, in order.
    std::vector<std::string> all(const std::string& name) const;

    std::size_t count(const std::string& name) const noexcept;

    const_iterator begin() const noexcept { return fields_.begin(); }
    const_iterator end() const noexcept { return fields_.end(); }
    std::size_t size() const noexcept { return fields_.size(); }
    bool empty() const noexcept { return fields_.empty(); }
    void clear() noexcept { fields_.clear(); }

private:
    std::vector<HeaderField> fields_;
};

/// Whether two names, or a value and a token such as "chunked", agree but for ASCII case. Never
/// depends on the locale.
bool equals_ignoring_case(const std::string& a, const std::string& b) noexcept;

/// HTTP version as major * 10 + minor: 10 or 11.
struct RequestHead {
    std::string method = "GET";
    std::string target = "/";
    int version = 11;
    HeaderFields fields;
};

struct ResponseHead {
    int status = 200;
    std::string reason;
    int version = 11;
    HeaderFields fields;
};

/// The head as bytes, blank line included. std::invalid_argument, naming the part, for what would
/// change the structure on the wire: CR, LF or NUL in a value or reason, a method or name that is
/// no token (RFC 9110 5.6.2), a target that is empty or holds a space, a control or a non-ASCII
/// byte, a status outside 100..999, a version other than 10 and 11. Adds no field by itself.
std::string serialize(const RequestHead& head);
std::string serialize(const ResponseHead& head);

}  // namespace net
}  // namespace reactor

#endif
