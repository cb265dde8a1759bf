// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_PORT_HPP
#define REACTOR_NET_PORT_HPP

#include <cstdint>
#include <string>
#include <type_traits>

namespace reactor {
namespace net {

/// A TCP port, as a number or as the name of a service ("http"), which the Resolver looks up. Made
/// of either, so that a call reads connect("pics.example", "http") or connect("pics.example",
/// 8080). A value: any thread may hold one.
class Port {
public:
    /// 0, which stands for no port.
    Port() noexcept = default;
    /// Throws std::invalid_argument for a number that no port has.
    template <class N, class = typename std::enable_if<std::is_integral<N>::value>::type>
    Port(N number)
        : number_(in_range(number >= N() && static_cast<std::uintmax_t>(number) <= most,
                           static_cast<std::uint16_t>(number))) {}
    /// Digits are a number, and nothing is 0; anything else is a name. Throws std::invalid_argument
    /// for a number that no port has and for a name with a zero byte.
    Port(const std::string& text);
    Port(const char* text) : Port(std::string(text)) {}

    bool is_number() const noexcept { return service_.empty(); }
    /// 0 if it has a name.
    std::uint16_t number() const noexcept { return number_; }
    /// The name; empty if it is a number.
    const std::string& service() const noexcept { return service_; }
    /// Either, as a text for messages.
    std::string str() const { return is_number() ? std::to_string(number_) : service_; }

private:
    static constexpr std::uintmax_t most = 0xffff;

    static std::uint16_t in_range(bool fits, std::uint16_t number);

    std::string service_;
    std::uint16_t number_ = 0;
};

}  // namespace net
}  // namespace reactor

#endif
