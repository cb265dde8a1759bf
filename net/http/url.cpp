// SPDX-License-Identifier: BSL-1.0
#include <net/http/url.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstddef>
#include <cstring>
#include <net/http/detail/quoted.hpp>

namespace reactor {
namespace net {
namespace {

constexpr std::size_t npos = std::string::npos;

// <cctype> depends on the locale of the program, a URL does not.
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_one_of(char c, const char* set) { return c != '\0' && std::strchr(set, c) != nullptr; }
bool is_unreserved(char c) { return is_alpha(c) || is_digit(c) || is_one_of(c, "-._~"); }
bool is_sub_delim(char c) { return is_one_of(c, "!$&'()*+,;="); }

bool is_escape(const std::string& text, std::size_t at) {
    return at + 2 < text.size() && text[at] == '%' && hex_value(text[at + 1]) >= 0 &&
           hex_value(text[at + 2]) >= 0;
}

std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

// Escapes what may stand neither in a path segment nor in one of `also`. A '%' that begins no
// escape was meant as itself (urllib3#1683 and others escaped the good ones a second time).
std::string escape_illegal(const std::string& text, const char* also) {
    static const char digits[] = "0123456789ABCDEF";
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (is_unreserved(c) || is_sub_delim(c) || is_one_of(c, ":@") || is_one_of(c, also) ||
            is_escape(text, i)) {
            out += c;
        } else {
            const unsigned char byte = static_cast<unsigned char>(c);
            out += '%';
            out += digits[byte >> 4];
            out += digits[byte & 15];
        }
    }
    return out;
}

std::uint16_t default_port(const std::string& scheme) {
    return scheme == "https" ? std::uint16_t{443} : std::uint16_t{80};
}

// RFC 3986 5.2.4 for a path that begins with '/', one segment per turn.
std::string remove_dot_segments(const std::string& path) {
    std::string out;
    for (std::size_t slash = 0; slash < path.size();) {
        std::size_t end = path.find('/', slash + 1);
        const bool last = end == npos;
        if (last) end = path.size();
        const std::string segment = path.substr(slash + 1, end - slash - 1);
        const bool up = segment == "..";
        if (up && !out.empty()) out.erase(out.rfind('/'));
        if (!up && segment != ".")
            out.append(path, slash, end - slash);
        else if (last)
            out += '/';
        slash = end;
    }
    return out;
}

// The five parts of RFC 3986 appendix B. The views are offsets, so that an error can tell where.
struct Parts {
    std::size_t scheme_end = 0;    // 0: no scheme
    std::size_t authority = npos;  // first byte behind "//", npos: no authority
    std::size_t path = 0;          // also where the authority ends
    std::size_t query = npos;      // first byte behind '?'
    std::size_t path_end = 0;
    std::size_t query_end = 0;
    std::size_t fragment = npos;  // first byte behind '#'
};

Parts split(const std::string& text) {
    Parts at;
    std::size_t i = 0;
    while (i < text.size() && (is_alpha(text[i]) || (i > 0 && is_digit(text[i])) ||
                               (i > 0 && is_one_of(text[i], "+-."))))
        ++i;
    if (i > 0 && i < text.size() && text[i] == ':') at.scheme_end = i;
    at.path = at.scheme_end ? at.scheme_end + 1 : 0;
    if (text.compare(at.path, 2, "//") == 0) {
        at.authority = at.path + 2;
        at.path = text.find_first_of("/?#", at.authority);
        if (at.path == npos) at.path = text.size();
    }
    at.path_end = at.query_end = text.size();
    const std::size_t hash = text.find('#', at.path);
    if (hash != npos) {
        at.fragment = hash + 1;
        at.path_end = at.query_end = hash;
    }
    const std::size_t mark = text.find('?', at.path);
    if (mark < at.query_end) {
        at.query = mark + 1;
        at.path_end = mark;
    }
    return at;
}

[[noreturn]] void refuse(const std::string& text, std::size_t at, const std::string& why) {
    throw UrlError("URL " + detail::quoted(text, 200) + ", offset " + std::to_string(at) + ": " +
                   why);
}

void refuse_control_bytes(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const unsigned char c = static_cast<unsigned char>(text[i]);
        if (c < 0x20 || c == 0x7f)
            refuse(text, i, "a control byte; write it as %HH if it is meant");
    }
}

std::uint16_t parse_port(const std::string& text, std::size_t from, std::size_t to) {
    unsigned long port = 0;
    for (std::size_t i = from; i < to; ++i) {
        if (!is_digit(text[i])) refuse(text, i, "a port consists of digits, 1 to 65535");
        port = port * 10 + static_cast<unsigned long>(text[i] - '0');
        if (port > 65535) refuse(text, from, "the port is beyond 65535");
    }
    if (port == 0) refuse(text, from, "port 0 cannot be connected to; expected 1 to 65535");
    return static_cast<std::uint16_t>(port);
}

// The host between '[' and ']': an IPv6 address in the spelling of inet_ntop, with "%zone".
std::string parse_ipv6(const std::string& text, std::size_t from, std::size_t to) {
    std::string address = text.substr(from, to - from);
    std::string zone;
    const std::size_t mark = address.find('%');
    if (mark != npos) {
        if (address.compare(mark, 3, "%25") != 0 || mark + 3 == address.size())
            refuse(text, from + mark,
                   "a zone is written as %25 and its name, as in [fe80::1%25eth0]");
        zone = address.substr(mark + 3);
        for (std::size_t i = 0; i < zone.size(); ++i)
            if (!is_unreserved(zone[i]))
                refuse(text, from + mark + 3 + i, "not allowed in the name of a zone");
        address.resize(mark);
    }
    in6_addr binary;
    char canonical[INET6_ADDRSTRLEN];
    if (::inet_pton(AF_INET6, address.c_str(), &binary) != 1 ||
        ::inet_ntop(AF_INET6, &binary, canonical, sizeof canonical) == nullptr)
        refuse(text, from, "no IPv6 address between the brackets");
    return zone.empty() ? canonical : std::string(canonical) + '%' + zone;
}

std::string parse_name(const std::string& text, std::size_t from, std::size_t to) {
    if (from == to) refuse(text, from, "no host; expected http://host/path");
    for (std::size_t i = from; i < to; ++i) {
        const char c = text[i];
        if (is_unreserved(c) || is_sub_delim(c)) continue;
        if (static_cast<unsigned char>(c) >= 0x80)
            refuse(text, i, "a non-ASCII host name; write its ASCII form (xn--...)");
        if (c == ':')
            refuse(text, i, "a second ':' in the host; an IPv6 address belongs in brackets: [::1]");
        refuse(text, i, "not allowed in a host name");
    }
    return lower(text.substr(from, to - from));
}

}  // namespace

Url Url::parse(const std::string& text) {
    refuse_control_bytes(text);
    const Parts at = split(text);
    if (at.scheme_end == 0) refuse(text, 0, "no scheme; expected http:// or https://");
    Url url;
    url.scheme_ = lower(text.substr(0, at.scheme_end));
    if (url.scheme_ != "http" && url.scheme_ != "https")
        refuse(text, 0, "the scheme " + detail::quoted(url.scheme_) + " is neither http nor https");
    if (at.authority == npos)
        refuse(text, at.scheme_end + 1, "expected // and a host behind " + url.scheme_ + ":");

    std::size_t host = at.authority;
    const std::size_t sign = text.find('@', host);
    if (sign < at.path) {
        for (std::size_t i = host; i < sign; ++i)
            if (!is_unreserved(text[i]) && !is_sub_delim(text[i]) && text[i] != ':' &&
                !is_escape(text, i))
                refuse(text, i, "not allowed before the '@'; write it as %HH");
        url.userinfo_ = text.substr(host, sign - host);
        host = sign + 1;
    }

    std::size_t host_end;
    if (host < at.path && text[host] == '[') {
        const std::size_t bracket = text.find(']', host);
        if (bracket >= at.path) refuse(text, host, "no ']' behind the IPv6 address");
        url.host_ = parse_ipv6(text, host + 1, bracket);
        url.ipv6_ = true;
        host_end = bracket + 1;
        if (host_end != at.path && text[host_end] != ':')
            refuse(text, host_end, "only :port or the path may follow the ']'");
    } else {
        // The last ':' begins the port, so that http://::1/ fails for its host instead of being
        // taken for an empty host and the port ":1".
        const std::size_t colon = text.rfind(':', at.path == 0 ? 0 : at.path - 1);
        host_end = colon != npos && colon >= host ? colon : at.path;
        url.host_ = parse_name(text, host, host_end);
    }
    const bool has_port = host_end + 1 < at.path;  // "host:" is allowed and means the default
    url.port_ = has_port ? parse_port(text, host_end + 1, at.path) : default_port(url.scheme_);

    const std::string path = text.substr(at.path, at.path_end - at.path);
    url.path_ = path.empty() ? "/" : remove_dot_segments(escape_illegal(path, "/"));
    url.has_query_ = at.query != npos;
    if (url.has_query_)
        url.query_ = escape_illegal(text.substr(at.query, at.query_end - at.query), "/?");
    url.has_fragment_ = at.fragment != npos;
    if (url.has_fragment_) url.fragment_ = escape_illegal(text.substr(at.fragment), "/?");
    return url;
}

std::string Url::target() const { return has_query_ ? path_ + '?' + query_ : path_; }

std::string Url::host_header() const {
    std::string out = ipv6_ ? '[' + host_.substr(0, host_.find('%')) + ']' : host_;
    if (port_ != default_port(scheme_)) out += ':' + std::to_string(port_);
    return out;
}

std::string Url::origin() const {
    return scheme_ + "://" + (ipv6_ ? '[' + host_ + ']' : host_) + ':' + std::to_string(port_);
}

std::string Url::str() const {
    if (scheme_.empty()) return std::string();
    std::string out = scheme_ + "://";
    if (!userinfo_.empty()) out += userinfo_ + '@';
    std::string authority = host_header();
    const std::size_t zone = ipv6_ ? host_.find('%') : npos;
    if (zone != npos) authority.insert(authority.find(']'), "%25" + host_.substr(zone + 1));
    out += authority + target();
    if (has_fragment_) out += '#' + fragment_;
    return out;
}

Url Url::resolve(const std::string& reference) const {
    if (scheme_.empty())
        throw UrlError("URL " + detail::quoted(reference) + " resolved against an empty URL");
    refuse_control_bytes(reference);
    const Parts at = split(reference);
    if (at.scheme_end != 0) return parse(reference);
    if (at.authority != npos) return parse(scheme_ + ':' + reference);

    Url out = *this;
    const std::string path = escape_illegal(reference.substr(0, at.path_end), "/");
    if (!path.empty()) {
        const bool absolute = path[0] == '/';
        out.path_ =
            remove_dot_segments(absolute ? path : path_.substr(0, path_.rfind('/') + 1) + path);
    }
    if (!path.empty() || at.query != npos) {
        out.has_query_ = at.query != npos;
        out.query_ = out.has_query_
                         ? escape_illegal(reference.substr(at.query, at.query_end - at.query), "/?")
                         : std::string();
    }
    out.has_fragment_ = at.fragment != npos;
    out.fragment_ =
        out.has_fragment_ ? escape_illegal(reference.substr(at.fragment), "/?") : std::string();
    return out;
}

Url Url::redirect(const std::string& location) const {
    Url out = resolve(location);
    if (!out.has_fragment_) {
        out.has_fragment_ = has_fragment_;
        out.fragment_ = fragment_;
    }
    return out;
}

std::string percent_decode(const std::string& text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_escape(text, i)) {
            out += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

}  // namespace net
}  // namespace reactor
