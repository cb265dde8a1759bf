// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_DATAGRAM_TRANSPORT_STATE_HPP
#define REACTOR_NET_DETAIL_DATAGRAM_TRANSPORT_STATE_HPP

#include <net/datagram_transport.hpp>
#include <net/detail/datagram_descriptor.hpp>
#include <net/detail/datagram_transport_service.hpp>
#include <net/detail/room_pause.hpp>
#include <reactor/detail/descriptor_holder.hpp>
#include <reactor/detail/loop_core.hpp>
#include <reactor/event_loop.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <cxxabi.h>

namespace reactor {
namespace net {
namespace detail {

/// What the DatagramTransports of one endpoint share, in the states that datagram_transport.hpp
/// draws. Counted and made as a TransportState: by each DatagramTransport, by the endpoint itself
/// until it is lost, and by what runs or waits in the queue; with one node for its whole life, so
/// that ending needs no memory. Its life is in datagram_transport_state.cpp; what goes to the
/// protocol, receiving and sending have sources of their own.
class DatagramTransportState final : public reactor::detail::DescriptorHolder {
public:
    /// Takes the socket over, for begin(). With one reference, the caller's. If it throws, the
    /// socket is the caller's still. `remote`: where send() sends to, or empty.
    static DatagramTransportState* make(EventLoop& loop, DatagramDescriptor& socket,
                                        const Endpoint& remote,
                                        std::unique_ptr<DatagramProtocol> protocol);
    /// Puts connection_made() into the queue.
    void begin() noexcept { queue(); }

    void add_reference() noexcept { ++references_; }
    void release() noexcept {
        if (--references_ == 0) destroy();
    }

    // What DatagramTransport says of the methods of the same names.
    void send(ByteView bytes);
    void send_to(ByteView bytes, const Endpoint& to);
    std::size_t unsent() noexcept {
        send_gathered();
        return unsent_;
    }
    void set_limits(const WriteLimits& limits);
    const WriteLimits& limits() const noexcept { return limits_; }
    bool write_paused() const noexcept { return write_paused_; }
    void close() noexcept;
    void abort() noexcept {
        send_gathered();
        lose(nullptr);
    }
    bool is_closing() const noexcept { return closing_; }
    void set_longest(std::size_t bytes) noexcept { longest_ = bytes; }
    std::size_t longest() const noexcept { return longest_; }
    Endpoint local() {
        send_gathered();
        return socket_.number() >= 0 ? socket_.local() : local_;
    }
    const Endpoint& remote() const noexcept {
        return socket_.peer().empty() ? remote_ : socket_.peer();
    }
    const DatagramDescriptor& socket() const noexcept { return socket_; }
    DatagramProtocol* protocol() const noexcept { return protocol_.get(); }
    void set_protocol(std::unique_ptr<DatagramProtocol> protocol);

    /// Inside a batch: what was sent goes out before anything happens that would make a difference
    /// to it, or tell that it has not yet.
    void send_gathered() noexcept {
        if (!core.on_thread()) return;  // some who only look may be asked by anybody
        if (service_ && service_->gathering.owner() == this) flush_gathered();
    }
    /// The loop is closing: ends without connection_lost().
    void loop_closed() noexcept;
    // As DescriptorHolder.
    void number_taken(int) noexcept override { socket_.lose_number(); }
    void number_lost(int number) noexcept override;

    reactor::detail::LoopCore& core;
    std::size_t place = 0;  // among those of its DatagramTransportService

private:
    using Node = reactor::detail::Node;

    /// Keeps the state while it lives.
    class Keep {
    public:
        explicit Keep(DatagramTransportState& state) noexcept : state_(&state) {
            state.add_reference();
        }
        Keep(Keep&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
        Keep(const Keep& other) noexcept : Keep(*other.state_) {}
        Keep& operator=(const Keep&) = delete;
        ~Keep() {
            if (state_) state_->release();
        }
        DatagramTransportState* operator->() const noexcept { return state_; }

    private:
        DatagramTransportState* state_;
    };

    /// The callable of a node of this transport. If it goes without our doing, the descriptor
    /// cannot be watched any more.
    struct Event {
        using Method = void (DatagramTransportState::*)();
        Event(DatagramTransportState& s, Method m) noexcept : state(&s), method(m) {}
        Event(const Event&) = delete;
        Event& operator=(const Event&) = delete;
        ~Event() {
            if (state) state->unwatched();
        }
        void operator()() const { (state->*method)(); }

        DatagramTransportState* state;
        Method method;
    };

    /// Received, but not handed over: a LoopExit came in between.
    struct Held {
        std::string bytes;
        Arrival arrival;
    };
    class Handing;

    DatagramTransportState(EventLoop& loop, DatagramDescriptor& socket, const Endpoint& remote,
                           std::unique_ptr<DatagramProtocol> protocol);
    ~DatagramTransportState();
    void destroy() noexcept;
    /// Nothing has an effect any more.
    bool over() const noexcept { return closing_ || core.closed.load(std::memory_order_relaxed); }

    // life
    Node* make_node(reactor::detail::NodeKind kind, const char* label, Event::Method method);
    void drop_node(Node*& node) noexcept;
    void queue() noexcept;
    void event();
    void start();
    void end_soon() noexcept;
    void lose(std::exception_ptr error) noexcept;
    void finish();
    void depart() noexcept;
    void vanish() noexcept;
    void let_go() noexcept;
    void unwatched() noexcept;
    void lose_watch(int code, int number) noexcept;
    void watch(const char* call, Node* node);

    // receiving
    void update_reading() noexcept;
    void receive();
    void hand_over(ByteView bytes, const Arrival& arrival);
    void hand_over_held();
    void drop_held() noexcept;

    // sending
    /// What waits, in memory, of which an empty datagram costs some, too. For the limits.
    std::size_t weight() const noexcept {
        return unsent_ + output_.size() * sizeof(OutgoingDatagram);
    }
    void send_soon(ByteView bytes, const Endpoint& to);
    bool gather(ByteView bytes, const Endpoint& to) noexcept;
    void flush_gathered() noexcept;
    void refused(int code, std::size_t size, const Endpoint& to);
    void enqueue(ByteView bytes, const Endpoint& to);
    void append(ByteView bytes, const Endpoint& to);
    void count_dropped();
    void writable();
    void flush();
    void drop_first() noexcept;
    void wait_for_room();
    void stop_waiting_for_room() noexcept;
    void drop_queue() noexcept;

    // the protocol
    /// Calls a method of the protocol, and reports what it throws.
    template <class F>
    void call(const char* method, F f);
    void failed(const char* method, const std::exception_ptr& error);
    std::string name() const;
    void tell_error(const std::system_error& error);
    void tell_error_soon(const std::system_error& error);
    void update_flow();
    void tell_flow();

    DatagramTransportService* service_;  // null once the loop is closed
    Node* node_ = nullptr;               // null once it is lost
    Node* writer_ = nullptr;             // while a datagram waits, and an event tells of room
    std::unique_ptr<DatagramProtocol> protocol_;
    std::vector<std::unique_ptr<DatagramProtocol>> retired_;  // replaced inside a method of theirs
    DatagramDescriptor socket_;
    Endpoint remote_;           // as it was asked for; empty if there is none
    Endpoint local_;            // once it is lost
    std::exception_ptr error_;  // for connection_lost()
    std::deque<OutgoingDatagram> output_;
    std::size_t unsent_ = 0;  // bytes of it
    WriteLimits limits_;
    TimerHandle retry_;
    RoomPause pause_;
    std::deque<Held> held_;
    std::size_t longest_ = 64 * 1024;
    std::uint32_t references_ = 1;
    unsigned errors_queued_ = 0;  // of tell_error_soon()
    std::uint8_t dropped_ = 0;
    bool started_ = false;   // connection_made() was called,
    bool begun_ = false;     // and receiving may be watched for
    bool watching_ = false;  // node_ is registered as a reader
    bool again_ = false;     // node_ is to be queued once more when its turn in this batch has come
    bool inside_ = false;    // a method of the protocol
    bool closing_ = false;
    bool ending_ = false;  // connection_lost() is next
    bool asking_ = false;  // by `retry_`, since an event does not tell of room
    bool write_paused_ = false;
    bool told_paused_ = false;  // what the protocol knows of that
    bool flow_queued_ = false;
    bool flood_told_ = false;  // that datagrams are dropped
};

/// Between DatagramTransport and its state, and for those who make endpoints.
struct DatagramTransportAccess {
    static DatagramTransport share(DatagramTransportState* state) noexcept {
        return DatagramTransport(state);
    }
    /// See DatagramTransportState::make(); connection_made() is queued.
    static DatagramTransport make(EventLoop& loop, DatagramDescriptor& socket,
                                  const Endpoint& remote,
                                  std::unique_ptr<DatagramProtocol> protocol);
};

template <class F>
void DatagramTransportState::call(const char* method, F f) {
    struct Inside {
        explicit Inside(DatagramTransportState& s) noexcept : state(s) { state.inside_ = true; }
        ~Inside() {
            state.inside_ = false;
            state.retired_.clear();
        }
        DatagramTransportState& state;
    };
    std::exception_ptr error;
    try {
        const Inside inside(*this);
        f(*protocol_);
        return;
    } catch (const LoopExit&) {
        throw;
    } catch (const abi::__forced_unwind&) {
        throw;  // pthread_cancel(): swallowing it would abort the process
    } catch (...) {
        error = std::current_exception();
    }
    failed(method, error);
}

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
