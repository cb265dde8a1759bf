// SPDX-License-Identifier: BSL-1.0
#include <net/detail/datagram_transport_state.hpp>

#include <reactor/detail/loop_state.hpp>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::LoopCore;
using reactor::detail::LoopState;
using reactor::detail::NodeFlag;
using reactor::detail::NodeKind;
using reactor::detail::Stored;
using reactor::detail::WatchTable;

namespace {

const char* const label = "net::DatagramTransport";

}  // namespace

// ---- those of a loop ------------------------------------------------------------------------

DatagramTransportService::DatagramTransportService(EventLoop& loop)
    : watches(reactor::detail::watches_of(loop.core())) {}

DatagramTransportService::~DatagramTransportService() {
    while (!transports_.empty()) transports_.back()->loop_closed();
}

void DatagramTransportService::add(DatagramTransportState& transport) {
    transport.place = transports_.size();
    transports_.push_back(&transport);
}

void DatagramTransportService::remove(DatagramTransportState& transport) noexcept {
    DatagramTransportState* const last = transports_.back();
    transports_[transport.place] = last;
    last->place = transport.place;
    transports_.pop_back();
}

// ---- made, and gone -------------------------------------------------------------------------

DatagramTransportState::DatagramTransportState(EventLoop& loop, DatagramDescriptor& socket,
                                               const Endpoint& remote,
                                               std::unique_ptr<DatagramProtocol> protocol)
    : core(loop.core()),
      service_(&loop.service<DatagramTransportService>()),
      protocol_(std::move(protocol)),
      socket_(std::move(socket)),
      remote_(remote) {
    core.retain();
}

DatagramTransportState::~DatagramTransportState() { drop_node(node_); }

void DatagramTransportState::destroy() noexcept {
    core.require_thread("a DatagramTransport's destructor");
    LoopCore& loop_core = core;
    delete this;
    loop_core.forget();
}

DatagramTransportState* DatagramTransportState::make(EventLoop& loop, DatagramDescriptor& socket,
                                                     const Endpoint& remote,
                                                     std::unique_ptr<DatagramProtocol> protocol) {
    LoopState& core = static_cast<LoopState&>(loop.core());
    DatagramTransportService& service = loop.service<DatagramTransportService>();
    // One queue: what was posted before this runs before connection_made().
    if (!core.running.load(std::memory_order_relaxed) && core.has_posts()) core.take_posts();

    struct Unfinished {
        DatagramDescriptor& socket;
        DatagramTransportState* made;
        ~Unfinished() {
            if (!made) return;
            made->service_->watches.let_go(made->socket_.number(), *made);
            socket = std::move(made->socket_);
            made->release();
        }
    } unfinished{socket, nullptr};
    DatagramTransportState* const state =
        new DatagramTransportState(loop, socket, remote, std::move(protocol));
    unfinished.made = state;
    state->node_ = state->make_node(NodeKind::reader, label, &DatagramTransportState::event);
    service.watches.hold("create_datagram_endpoint", state->socket_.number(), *state,
                         WatchTable::Hold::exclusive);
    service.add(*state);
    unfinished.made = nullptr;
    state->add_reference();  // the endpoint's own
    return state;
}

DatagramTransport DatagramTransportAccess::make(EventLoop& loop, DatagramDescriptor& socket,
                                                const Endpoint& remote,
                                                std::unique_ptr<DatagramProtocol> protocol) {
    DatagramTransportState* const state =
        DatagramTransportState::make(loop, socket, remote, std::move(protocol));
    const DatagramTransport transport = share(state);
    state->release();
    state->begin();
    return transport;
}

reactor::detail::Node* DatagramTransportState::make_node(NodeKind kind, const char* text,
                                                         Event::Method method) {
    Node* const node = core.make<Event>(kind, *this, method);
    const Options options = Options().label(text);
    core.set_context(node, &options);
    node->set(NodeFlag::repeating);
    return node;
}

void DatagramTransportState::drop_node(Node*& node) noexcept {
    Node* const gone = node;
    node = nullptr;
    if (!gone) return;
    if (gone->ops) Stored<Event>::get(gone->storage()).state = nullptr;
    LoopCore::cancel(gone);
    core.release(gone);
}

/// Puts the node into the next batch.
void DatagramTransportState::queue() noexcept {
    if (!node_ || core.closed.load(std::memory_order_relaxed)) return;
    if (node_->is(NodeFlag::queued)) {
        again_ = true;
        return;
    }
    node_->set(NodeFlag::queued);
    node_->add_reference();
    core.push(node_);
}

// ---- from connection_made() to connection_lost() --------------------------------------------

void DatagramTransportState::event() {
    const Keep keep(*this);
    if (!started_) {
        start();
    } else if (again_) {
        again_ = false;
        queue();
    } else if (ending_) {
        finish();
    } else if (!held_.empty()) {
        hand_over_held();
    } else {
        receive();
    }
}

void DatagramTransportState::start() {
    struct Begin {
        DatagramTransportState& state;
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
    call("connection_made", [this](DatagramProtocol& protocol) {
        protocol.connection_made(DatagramTransportAccess::share(this));
    });
}

void DatagramTransportState::close() noexcept {
    send_gathered();
    if (closing_) return;
    closing_ = true;
    update_reading();
    if (output_.empty()) end_soon();
}

void DatagramTransportState::end_soon() noexcept {
    ending_ = true;
    write_paused_ = false;
    stop_waiting_for_room();
    if (service_) service_->watches.share(socket_.number(), *this);
    queue();
}

void DatagramTransportState::lose(std::exception_ptr error) noexcept {
    if (ending_ || core.closed.load(std::memory_order_relaxed)) return;
    closing_ = true;
    if (service_->gathering.owner() == this) service_->gathering.clear();
    error_ = std::move(error);
    update_reading();
    drop_queue();
    end_soon();
}

void DatagramTransportState::finish() {
    struct Depart {
        DatagramTransportState& state;
        ~Depart() { state.depart(); }
    } const depart{*this};
    if (!protocol_) return;
    call("connection_lost",
         [this](DatagramProtocol& protocol) { protocol.connection_lost(error_); });
}

void DatagramTransportState::depart() noexcept {
    { const std::unique_ptr<DatagramProtocol> gone = std::move(protocol_); }
    drop_held();
    // Out of the selector before the number is free for others.
    service_->watches.let_go(socket_.number(), *this);
    service_->watches.forget_all(socket_.number());
    service_->remove(*this);
    let_go();
    drop_node(node_);
    release();
}

void DatagramTransportState::let_go() noexcept {
    local_ = socket_.address();  // for those who ask later
    socket_.close();
}

/// Ends without a word; the reference of the endpoint itself, which goes last, keeps it until then.
void DatagramTransportState::loop_closed() noexcept {
    closing_ = ending_ = true;
    drop_queue();
    stop_waiting_for_room();
    drop_held();
    service_->watches.let_go(socket_.number(), *this);
    service_->remove(*this);
    service_ = nullptr;
    let_go();
    drop_node(node_);
    { const std::unique_ptr<DatagramProtocol> gone = std::move(protocol_); }
    release();
}

/// The loop has let go of a node: its selector refuses to watch the descriptor any more; or
/// somebody has closed it, and its number may be that of something else by now.
void DatagramTransportState::unwatched() noexcept {
    if (core.closed.load(std::memory_order_relaxed) || !node_) return;
    const int refusal = service_->watches.refusal();
    const int number = socket_.number();
    // What was not watched has not been lost with its descriptor.
    if (refusal == 0 && (watching_ || writer_)) {
        service_->watches.let_go(number, *this);
        socket_.lose_number();
    }
    watching_ = false;
    const Keep keep(*this);
    try {
        Node* fresh = make_node(NodeKind::reader, label, &DatagramTransportState::event);
        std::swap(fresh, node_);
        drop_node(fresh);
    } catch (...) {
        // No memory: if it was this node that was lost, connection_lost() will not be called.
    }
    if (ending_) {
        queue();  // the one that is gone was on its way to finish()
        return;
    }
    lose_watch(refusal != 0 ? refusal : EBADF, number);
}

void DatagramTransportState::number_lost(int number) noexcept {
    const Keep keep(*this);
    lose_watch(EBADF, number);
}

void DatagramTransportState::lose_watch(int code, int number) noexcept {
    std::exception_ptr error;
    try {
        error = std::make_exception_ptr(
            std::system_error(code, std::system_category(),
                              "watch the endpoint: descriptor " + std::to_string(number)));
    } catch (...) {
        error = std::current_exception();
    }
    lose(std::move(error));
}

/// Throws what WatchTable::add() does.
void DatagramTransportState::watch(const char* call, Node* node) {
    const int number = socket_.number();
    if (number < 0) throw std::system_error(EBADF, std::system_category(), call);
    service_->watches.add(call, number, node, &service_->watch_options);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
