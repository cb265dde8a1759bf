// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_PIPE_END_HPP
#define REACTOR_NET_DETAIL_PIPE_END_HPP

#include <net/protocol.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>

#include <memory>
#include <string>

namespace reactor {
namespace net {
namespace detail {

/// What a transport over one end of a pipe is told of it.
struct PipeEnd {
    enum Direction { read, write };

    Direction direction;
    /// How messages call it: "read from <name>".
    std::string name;
    /// For a write end: the descriptor becomes readable, or hangs up, when the last reader goes.
    bool tells_of_readers;
};

/// Takes over a descriptor that is non-blocking and close-on-exec by the next batch, in which
/// connection_made() comes. If it throws, the descriptor is the caller's still. `call` is for
/// messages. `opened`: by the library, not by the program.
Transport pipe_transport(const char* call, EventLoop& loop, int descriptor, PipeEnd end,
                         std::unique_ptr<Protocol> protocol, bool opened = false);

/// The same as a Stream, of one that the library has opened; good for use once connection_made()
/// has run; one that may be dropped while open.
Stream pipe_stream(const char* call, EventLoop& loop, int descriptor, PipeEnd end);

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
