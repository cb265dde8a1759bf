// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_PIPE_HPP
#define REACTOR_NET_PIPE_HPP

#include <net/protocol.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/here.hpp>
#include <reactor/promise.hpp>

#include <memory>

namespace reactor {
namespace net {

// One end of a pipe as a transport, or as a stream: of a pipe, a FIFO, a terminal, a character
// device, whatever else can be waited for, and of a stream socket that somebody uses as a pipe, as
// one may find it at descriptor 0. On the loop's thread. Everything is as for connections, apart
// from this:
//
// - A read end has no sending half: write() throws StateError, can_write_eof() is false. At the end
//   of the stream it closes by itself, whatever eof_received() answers. A Stream gives what it has
//   kept, and then its end.
// - A write end receives nothing: is_reading() is false; reads of a Stream give the end of the
//   stream at once. write_eof() is close(). Never SIGPIPE: when the last reader goes, the
//   connection is lost with EPIPE, of pipes and FIFOs at once, else with the next write.
// - There are no addresses: local_endpoint() and remote_endpoint() are empty. Closing never lingers
//   and abort() resets nothing: what a reader has not read yet stays in the pipe.
//
// The descriptor is taken over, also 0, 1 or 2, and closed at the end: to keep the number, give a
// dup() of it. It becomes close-on-exec and non-blocking. Other processes, and a dup(), share the
// latter with it, and few programs bear it: a shell whose terminal does not block is one of the
// known victims. So unless it is non-blocking already, a pipe, a FIFO or a terminal is opened anew,
// by way of /proc, and put under the same number: what others have is left as it is. Where that is
// not possible (no /proc, another user's pipe, a socket, another device) the flag is set for all,
// and stays. Children that inherit such a descriptor 0, 1 or 2 (ChildIo::inherit()) get one that
// blocks, if it can be opened anew, and share what comes and goes.

/// The end to read from. Done behind connection_made(), as make_transport(). Throws
/// std::invalid_argument for a null protocol, for a descriptor that is open for writing only, for
/// what is never waited for (a regular file, a directory: run_in_executor() is for those), and for
/// a socket that listens or has no stream; StateError for a descriptor that a transport of this
/// loop has; std::system_error; the descriptor stays the caller's then. asyncio: connect_read_pipe.
Promise<Transport> connect_read_pipe(EventLoop& loop, int descriptor,
                                     std::unique_ptr<Protocol> protocol, Here here = Here());
/// The same for the end to write to. asyncio: connect_write_pipe.
Promise<Transport> connect_write_pipe(EventLoop& loop, int descriptor,
                                      std::unique_ptr<Protocol> protocol, Here here = Here());

/// The same as streams. Cancelled, they close the descriptor.
Promise<Stream> open_read_pipe(EventLoop& loop, int descriptor, Here here = Here());
Promise<Stream> open_write_pipe(EventLoop& loop, int descriptor, Here here = Here());

}  // namespace net
}  // namespace reactor

#endif
