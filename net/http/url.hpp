// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_HTTP_URL_HPP
#define REACTOR_NET_HTTP_URL_HPP

#include <cstdint>
#include <reactor/error.hpp>
#include <stdexcept>
#include <string>

namespace reactor {
namespace net {

/// A text is no URL that this library can fetch. what() gives the text, the offset of the byte at
/// fault, what is wrong there and what was expected. Not a logic_error: URLs come from users and
/// peers.
struct UrlError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// An absolute http or https URL, taken apart as RFC 3986 says and ready for the wire.
///
/// A value: any thread may hold one. Scheme, host and port are put into one spelling (lower case,
/// IPv6 as inet_ntop writes it, default port left out, empty path as "/", dot segments resolved),
/// so that equal origins compare equal. Path, query and fragment go out as they came in: an escape
/// is never undone, a legal byte never escaped, since a signed query must not change by one byte;
/// what RFC 3986 does not allow there (space, quotes, non-ASCII, a stray '%') is escaped once.
///
///     http://ann:pw@pics.example:8080/a/b.png?size=2#top
///     \__/   \____/ \__________/ \__/\______/ \____/ \_/
///    scheme userinfo    host     port  path   query fragment
///                                    \_____________/ target()
class Url {
public:
    /// Takes an absolute URL apart. UrlError for: no scheme or another than http and https; no
    /// host, one with non-ASCII bytes (write the xn-- form) or escapes, brackets that do not hold
    /// an IPv6 address; a port that is not in 1..65535; a control byte anywhere (a line break
    /// would become a header of its own).
    static Url parse(const std::string& text);

    /// The empty URL: all parts empty, port 0. For members that are assigned later.
    Url() = default;

    const std::string& scheme() const noexcept { return scheme_; }  ///< "http" or "https"
    bool is_tls() const noexcept { return scheme_ == "https"; }

    /// As written before the '@', still escaped; empty if there was none.
    const std::string& userinfo() const noexcept { return userinfo_; }

    /// What to connect to: a name (its final dot kept), an IPv4 address, or an IPv6 address without
    /// brackets, followed by "%zone" if a zone was given (RFC 6874: "%25" in the URL).
    const std::string& host() const noexcept { return host_; }
    bool is_ipv6() const noexcept { return ipv6_; }

    /// The port to connect to: the one given, else 80 for http and 443 for https.
    std::uint16_t port() const noexcept { return port_; }

    const std::string& path() const noexcept { return path_; }          ///< begins with '/'
    const std::string& query() const noexcept { return query_; }        ///< without the '?'
    const std::string& fragment() const noexcept { return fragment_; }  ///< without the '#'

    /// What follows the method in a request line: path and query, never empty, no fragment.
    std::string target() const;

    /// The value of the Host field: brackets around an IPv6 address, no zone (it means something on
    /// this machine only), no default port, no userinfo.
    std::string host_header() const;

    /// "scheme://host:port", port always written: what a connection may be shared by, and what
    /// credentials must not leave.
    std::string origin() const;

    /// The whole URL as text, userinfo included: mind the password before you log it.
    std::string str() const;

    /// RFC 3986 5.2: what `reference` means on a page at this URL. The fragment is the reference's.
    /// UrlError as in parse().
    REACTOR_NODISCARD Url resolve(const std::string& reference) const;

    /// Where a Location value sends a client that asked for this URL (RFC 9110 10.2.2): resolve(),
    /// and this URL's fragment where the value has none. Bytes that servers send raw (spaces,
    /// UTF-8, Latin-1) are escaped byte for byte.
    REACTOR_NODISCARD Url redirect(const std::string& location) const;

    friend bool operator==(const Url& a, const Url& b) { return a.str() == b.str(); }
    friend bool operator!=(const Url& a, const Url& b) { return !(a == b); }

private:
    std::string scheme_, userinfo_, host_, path_, query_, fragment_;
    std::uint16_t port_ = 0;
    bool ipv6_ = false;
    bool has_query_ = false;  // "/a?" and "/a" are two resources
    bool has_fragment_ = false;
};

/// Undoes %HH escapes; a '%' without two digits stays. For names shown or given to files only: the
/// result may hold any byte ('/', NUL, "..", line breaks), so check it before using it as a name.
/// Never decode what goes into a URL again.
REACTOR_NODISCARD std::string percent_decode(const std::string& text);

}  // namespace net
}  // namespace reactor

#endif
