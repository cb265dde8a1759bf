// SPDX-License-Identifier: BSL-1.0
#include <net/protocol.hpp>

namespace reactor {
namespace net {

void Protocol::connection_made(const Transport&) {}
bool Protocol::eof_received() { return false; }
void Protocol::connection_lost(std::exception_ptr) {}
void Protocol::pause_writing() {}
void Protocol::resume_writing() {}
const char* Protocol::protocol_name() const noexcept { return "a Protocol"; }
BufferedProtocol* Protocol::buffered() noexcept { return nullptr; }

// Never called: a transport asks for the buffer.
void BufferedProtocol::data_received(ByteView) {}
BufferedProtocol* BufferedProtocol::buffered() noexcept { return this; }

}  // namespace net
}  // namespace reactor
