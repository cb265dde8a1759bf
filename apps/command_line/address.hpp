// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_COMMAND_LINE_ADDRESS_HPP
#define REACTOR_COMMAND_LINE_ADDRESS_HPP

#include <apps/command_line/arguments.hpp>

#include <net/endpoint.hpp>
#include <net/port.hpp>

#include <exception>
#include <string>

namespace command_line {

/// Where to connect to: an address as it is, or a host's name and a port. A value.
struct Address {
    std::string text;  // as it was given
    reactor::net::Endpoint endpoint;
    std::string host;  // empty if there is an endpoint
    reactor::net::Port port;
};

/// Where to listen: "127.0.0.1:7777", "[::]:7777", "unix:/run/echo.sock", "unix:@echo". Throws
/// UsageError.
inline reactor::net::Endpoint parse_endpoint(const std::string& option, const std::string& text) {
    try {
        return reactor::net::Endpoint::parse(text);
    } catch (const std::exception& error) {
        throw UsageError(option + ": " + error.what());
    }
}

/// The same or a name, "pictures.example:80"; with a port other than 0. Throws UsageError.
inline Address parse_address(const std::string& option, const std::string& text) {
    Address address;
    address.text = text;
    const std::size_t colon = text.find(':');
    const bool named = colon != std::string::npos && colon == text.rfind(':') &&
                       text.compare(0, 5, "unix:") != 0 &&
                       text.find_first_not_of("0123456789.") < colon;
    if (!named) {
        address.endpoint = parse_endpoint(option, text);
        if (address.endpoint.is_ip()) address.port = address.endpoint.port();
    } else {
        try {
            address.host = text.substr(0, colon);
            address.port = reactor::net::Port(text.substr(colon + 1));
        } catch (const std::exception& error) {
            throw UsageError(option + ": \"" + text + "\": " + error.what());
        }
    }
    const bool somewhere = named || address.endpoint.is_ip();
    if (somewhere && address.port.is_number() && address.port.number() == 0) {
        throw UsageError(option + ": \"" + text + "\" needs a port");
    }
    return address;
}

}  // namespace command_line

#endif
