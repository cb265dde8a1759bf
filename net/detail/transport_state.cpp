// SPDX-License-Identifier: BSL-1.0
#include <net/detail/transport_state.hpp>

#include <net/detail/lingering.hpp>
#include <net/detail/standard_pipes.hpp>
#include <reactor/detail/loop_state.hpp>

#include <cerrno>
#include <new>
#include <system_error>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::LoopCore;
using reactor::detail::LoopState;
using reactor::detail::NodeFlag;
using reactor::detail::NodeKind;
using reactor::detail::Stored;
using reactor::detail::WatchTable;

// ---- made, and gone -------------------------------------------------------------------------

TransportState::TransportState(EventLoop& loop, int descriptor, const Endpoint& remote,
                               std::unique_ptr<Protocol> protocol, bool accepted)
    : core(loop.core()),
      service_(&loop.service<TransportService>()),
      remote_(remote),
      descriptor_(descriptor),
      started_(false),
      again_(false),
      ending_(false),
      pipe_(false),
      buffered_(false),
      read_paused_(false),
      eof_(false),
      closing_(false),
      watches_readers_(false),
      eof_written_(false),
      inside_(false),
      timed_(false),
      wrote_(false),
      accepted_(accepted),
      begun_(false),
      watching_(false),
      flushed_late_(false),
      unread_(false),
      reset_(false),
      write_paused_(false),
      told_paused_(false),
      flow_queued_(false),
      hears_nothing_(false) {
    adopt(std::move(protocol));
    core.retain();
}

TransportState::~TransportState() { drop_node(node_); }

void TransportState::destroy() noexcept {
    core.require_thread("a Transport's destructor");
    LoopCore& loop_core = core;
    this->~TransportState();
    loop_core.pool.put(this, sizeof(TransportState));
    loop_core.forget();
}

TransportState* TransportState::make(EventLoop& loop, int descriptor, const Endpoint& remote,
                                     std::unique_ptr<Protocol> protocol, Origin origin,
                                     const char* call) {
    LoopState& core = static_cast<LoopState&>(loop.core());
    core.check(call);
    TransportService& service = loop.service<TransportService>();
    if (service.find(descriptor)) {
        if (origin == Origin::given) {
            throw StateError(std::string(call) + ": descriptor " + std::to_string(descriptor) +
                             " belongs to a transport of this loop already");
        }
        service.make_room_to_part();
    }
    // One queue: what was posted before this runs before connection_made().
    if (!core.running.load(std::memory_order_relaxed) && core.has_posts()) core.take_posts();

    struct Unfinished {
        LoopCore& core;
        void* memory;
        TransportState* made;
        ~Unfinished() {
            if (made) {
                made->release();
            } else if (memory) {
                core.pool.put(memory, sizeof(TransportState));
            }
        }
    } unfinished{core, core.pool.get(sizeof(TransportState)), nullptr};
    TransportState* const state = ::new (unfinished.memory)
        TransportState(loop, descriptor, remote, std::move(protocol), origin == Origin::accepted);
    unfinished.made = state;
    state->node_ = state->make_node<&TransportState::event>(NodeKind::reader, "net::Transport");
    // First of all: it has whoever had the number before part from it.
    service.watches.hold(call, descriptor, *state, WatchTable::Hold::exclusive);
    try {
        service.add(descriptor, *state);
    } catch (...) {
        service.watches.let_go(descriptor, *state);
        throw;
    }
    unfinished.made = nullptr;
    unfinished.memory = nullptr;
    state->add_reference();  // the connection's own
    return state;
}

Transport TransportAccess::make(EventLoop& loop, int descriptor, const Endpoint& remote,
                                std::unique_ptr<Protocol> protocol, bool accepted) {
    using Origin = TransportState::Origin;
    TransportState* const state =
        TransportState::make(loop, descriptor, remote, std::move(protocol),
                             accepted ? Origin::accepted : Origin::opened);
    const Transport transport = share(state);
    state->release();
    state->begin();
    return transport;
}

void TransportState::drop_node(Node*& node) noexcept {
    Node* const gone = node;
    node = nullptr;
    if (!gone) return;
    if (gone->ops) Stored<Event>::get(gone->storage()).state = nullptr;
    LoopCore::cancel(gone);
    core.release(gone);
}

/// Puts the node into the next batch.
void TransportState::queue() noexcept {
    if (!node_ || core.closed.load(std::memory_order_relaxed)) return;
    if (node_->is(NodeFlag::queued)) {
        again_ = true;
        return;
    }
    node_->set(NodeFlag::queued);
    node_->add_reference();
    core.push(node_);
}

TransportState::Extras& TransportState::extras() {
    if (!extras_) extras_.reset(new Extras);
    return *extras_;
}

// ---- from connection_made() to connection_lost() --------------------------------------------

/// The usual one is a byte of flags, and no more. Whatever a read calls, it ends with the
/// connection's own reference in place: only finish() lets go of that, in a turn of its own.
void TransportState::event() {
    if (started_ && !again_ && !ending_ && !pipe_ && !buffered_ && !read_paused_ && !eof_ &&
        !closing_) {
        receive_for_protocol();
    } else {
        other_event();
    }
}

void TransportState::other_event() {
    if (started_ && !again_ && !ending_) {
        read();
    } else {
        end_or_begin();
    }
}

void TransportState::end_or_begin() {
    const Keep keep(*this);
    if (!started_) {
        start();
    } else if (again_) {
        again_ = false;
        queue();
    } else {
        finish();
    }
}

void TransportState::start() {
    struct Begin {
        TransportState& state;
        ~Begin() {
            // Also when a LoopExit leaves: the loop may run again.
            state.begun_ = true;
            state.update_reading();
            if (state.again_) {  // it was closed before it began
                state.again_ = false;
                state.queue();
            }
        }
    } const begin{*this};
    started_ = true;
    call("connection_made", Weight::vital,
         [this](Protocol& protocol) { protocol.connection_made(TransportAccess::share(this)); });
    if (accepted_) read();
}

void TransportState::close(bool unread) noexcept {
    unread_ = unread_ || unread;
    if (closing_) return;
    closing_ = true;
    update_reading();
    if (output_) {
        flushed_late_ = true;
    } else {
        end_soon();
    }
}

void TransportState::abort() noexcept {
    if (ending_) return;
    reset_ = true;
    lose(nullptr);
}

void TransportState::end_soon() noexcept {
    ending_ = true;
    write_paused_ = false;
    if (service_) service_->watches.share(descriptor_, *this);
    if (extras_) extras_->timer.cancel();
    queue();
}

void TransportState::lose(std::exception_ptr error) noexcept {
    if (ending_ || core.closed.load(std::memory_order_relaxed)) return;
    const Keep keep(*this);
    closing_ = true;
    error_ = std::move(error);
    update_reading();
    const std::unique_ptr<Output> unsent = take_output();
    if (unsent) reset_ = true;
    end_soon();
    // Last: a promise that nobody holds may be reported, and the handler do anything.
    if (unsent) end_files(*unsent);
}

void TransportState::lose_by_system(const char* step, int code) noexcept {
    std::exception_ptr error;
    try {
        error = std::make_exception_ptr(
            std::system_error(code, std::system_category(), std::string(step) + ' ' + peer()));
    } catch (...) {
        error = std::current_exception();
    }
    lose(std::move(error));
}

void TransportState::finish() {
    struct Depart {
        TransportState& state;
        ~Depart() { state.depart(); }
    } const depart{*this};
    if (!protocol_) return;
    call("connection_lost", Weight::light,
         [this](Protocol& protocol) { protocol.connection_lost(error_); });
}

void TransportState::depart() noexcept {
    { const std::unique_ptr<Protocol> gone = std::move(protocol_); }
    // The connection's own reference and the one of the event that runs: anybody else may ask.
    if (references_ > 2) {
        try {
            local();
        } catch (...) {
            // No memory for it, or the descriptor is gone: there is no name then.
        }
    }
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (pipe_) forget_standard_pipe(descriptor, this);
    const bool lingers = descriptor >= 0 && is_to_linger(descriptor);
    // Out of the selector before the number is free for others.
    service_->watches.let_go(descriptor, *this);
    service_->watches.forget_all(descriptor);
    service_->remove(descriptor, *this);
    if (descriptor >= 0) farewell(descriptor, lingers);
    drop_node(node_);
    if (owner_) owner_->connection_gone(*this);
    release();
}

/// Whether the peer would not see all that was written if the descriptor were closed at once.
bool TransportState::is_to_linger(int descriptor) noexcept {
    if (pipe_ || reset_ || !wrote_ || eof_) return false;  // in a pipe, what is unread stays
    return unread_ || flushed_late_ || input_waits(descriptor);
}

void TransportState::farewell(int descriptor, bool lingers) noexcept {
    if (lingers) {
        try {
            core.loop->service<Lingering>().take(descriptor);
            return;
        } catch (...) {
            // No memory: closed at once, as most programs do.
        }
    } else if (reset_ && !pipe_) {
        service_->calls.reset_on_close(descriptor);
    }
    service_->close(descriptor);
}

bool TransportState::input_waits(int descriptor) noexcept {
    char* const room = service_->buffer.open();
    const ::ssize_t got = service_->calls.receive(descriptor, room, ReadBuffer::size);
    service_->buffer.keep(0);
    return got > 0;
}

/// Ends without a word.
void TransportState::vanish() noexcept {
    const Keep keep(*this);
    closing_ = ending_ = true;
    const std::unique_ptr<Output> unsent = take_output();
    if (extras_) extras_->timer.cancel();
    service_->watches.let_go(descriptor_, *this);
    service_->remove(descriptor_, *this);
    service_ = nullptr;
    if (pipe_) forget_standard_pipe(descriptor_, this);
    descriptor_ = -1;
    drop_node(node_);
    { const std::unique_ptr<Protocol> gone = std::move(protocol_); }
    if (unsent) end_files(*unsent);
    if (owner_) owner_->connection_gone(*this);
    release();
}

void TransportState::loop_closed() noexcept {
    // Only closed, nothing else: in a forked child the connection is the parent's.
    const int descriptor = descriptor_;
    if (references_ > 1) {
        try {
            local();  // for those who ask later
        } catch (...) {
        }
    }
    SocketCalls calls = service_->calls;
    vanish();
    if (descriptor >= 0) calls.close(descriptor);
}

/// The loop has let go of a node: its selector refuses to watch the descriptor any more; or
/// somebody has closed it, and its number may be that of something else by now.
void TransportState::unwatched() noexcept {
    if (core.closed.load(std::memory_order_relaxed) || !node_) return;
    const int refusal = service_->watches.refusal();
    // What was not watched has not been lost with its descriptor.
    if (refusal == 0 && (watching_ || (output_ && output_->writer))) {
        service_->watches.let_go(descriptor_, *this);
        number_taken(descriptor_);
    }
    watching_ = false;
    try {
        Node* fresh = make_node<&TransportState::event>(NodeKind::reader, "net::Transport");
        std::swap(fresh, node_);
        drop_node(fresh);
    } catch (...) {
        // No memory: if it was this node that was lost, connection_lost() will not be called.
    }
    if (ending_) {
        queue();  // the one that is gone was on its way to finish()
        return;
    }
    lose_by_system("watch the connection to", refusal != 0 ? refusal : EBADF);
}

/// From here on every call of the system's fails with EBADF, reading and writing need not ask.
void TransportState::number_taken(int number) noexcept {
    if (descriptor_ < 0) return;
    service_->part(number, *this);
    if (pipe_) forget_standard_pipe(number, this);
    descriptor_ = -1;
}

void TransportState::number_lost(int) noexcept { lose_by_system("watch the connection to", EBADF); }

/// Throws what WatchTable::add() does.
void TransportState::watch(const char* call, Node* node) {
    if (descriptor_ < 0) throw std::system_error(EBADF, std::system_category(), call);
    service_->watches.add(call, descriptor_, node, &service_->watch_options);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
