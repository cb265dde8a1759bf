// SPDX-License-Identifier: BSL-1.0
#include <net/datagram_protocol.hpp>

#include <net/detail/socket_service.hpp>

#include <cerrno>
#include <string>

namespace reactor {
namespace net {

void DatagramProtocol::connection_made(const DatagramTransport&) {}
void DatagramProtocol::error_received(const std::system_error&) {}
void DatagramProtocol::connection_lost(std::exception_ptr) {}
void DatagramProtocol::pause_writing() {}
void DatagramProtocol::resume_writing() {}
const char* DatagramProtocol::protocol_name() const noexcept { return "a DatagramProtocol"; }

void DatagramProtocol::datagram_truncated(ByteView beginning, const Endpoint& from,
                                          std::size_t full_size) {
    error_received(std::system_error(EMSGSIZE, std::system_category(),
                                     "receive " + std::to_string(full_size) + " bytes from " +
                                         detail::in_words(from) + ", with room for " +
                                         std::to_string(beginning.size())));
}

}  // namespace net
}  // namespace reactor
