// SPDX-License-Identifier: BSL-1.0
#include <net/port.hpp>

#include <stdexcept>

namespace reactor {
namespace net {

constexpr std::uintmax_t Port::most;

std::uint16_t Port::in_range(bool fits, std::uint16_t number) {
    if (!fits) throw std::invalid_argument("a port is a number from 0 to 65535");
    return number;
}

Port::Port(const std::string& text) {
    if (text.find('\0') != std::string::npos) {
        throw std::invalid_argument("a port is a number or a service's name, without zero bytes");
    }
    if (text.find_first_not_of("0123456789") != std::string::npos) {
        service_ = text;
        return;
    }
    // Leading zeros are no reason to refuse, and 20 digits none to overflow.
    std::uintmax_t number = 0;
    for (const char digit : text) {
        number = number * 10 + static_cast<std::uintmax_t>(digit - '0');
        if (number > most) break;
    }
    number_ = in_range(number <= most, static_cast<std::uint16_t>(number));
}

}  // namespace net
}  // namespace reactor
