// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_TRANSPORT_STATE_HPP
#define REACTOR_NET_DETAIL_TRANSPORT_STATE_HPP

#include <net/detail/compact_endpoint.hpp>
#include <net/detail/output_queue.hpp>
#include <net/detail/pipe_calls.hpp>
#include <net/detail/pipe_end.hpp>
#include <net/detail/time_limits.hpp>
#include <net/detail/transport_service.hpp>
#include <net/transport.hpp>
#include <reactor/detail/descriptor_holder.hpp>
#include <reactor/detail/loop_core.hpp>
#include <reactor/event_loop.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <cxxabi.h>

namespace reactor {
namespace net {
namespace detail {

class TransportState;

/// Whose a connection is: a server.
class TransportOwner {
public:
    /// It is lost, and its protocol has gone; also when the loop closes.
    virtual void connection_gone(TransportState& transport) noexcept = 0;

protected:
    TransportOwner() = default;
    TransportOwner(const TransportOwner&) = default;
    TransportOwner& operator=(const TransportOwner&) = default;
    ~TransportOwner() = default;
};

/// What the Transports of one connection share, in the states that transport.hpp draws. Counted,
/// plainly: by each Transport, by the connection itself until it is lost, and by what runs or waits
/// in the queue. So it is never destroyed under a running method of the protocol.
///
/// It has one node, made at the beginning and kept: as the reader of the descriptor while reading,
/// and put into the ready queue by hand for connection_made() and connection_lost(). So ending a
/// connection needs no memory and cannot fail. Its life is in transport_state.cpp; what goes to the
/// protocol, reading, writing, files, pipes and time limits have sources of their own.
class TransportState final : public reactor::detail::DescriptorHolder {
public:
    /// Whose descriptor it is made of: the program's, or one that the library itself has opened or
    /// accepted just now, whose number can be nobody else's any more.
    enum class Origin { given, opened, accepted };
    /// Takes over a non-blocking descriptor, for begin(). With one reference, the caller's. If it
    /// throws, the descriptor is the caller's still.
    static TransportState* make(EventLoop& loop, int descriptor, const Endpoint& remote,
                                std::unique_ptr<Protocol> protocol, Origin origin,
                                const char* call = "make_transport");
    /// Before begin(): it is one end of a pipe.
    void become_pipe(PipeEnd&& end);
    /// Puts connection_made() into the queue.
    void begin() noexcept { queue(); }
    /// Gives the descriptor back to the caller of make(), before anything has run.
    void disown() noexcept { vanish(); }

    void add_reference() noexcept { ++references_; }
    void release() noexcept {
        if (--references_ == 0) destroy();
    }

    // What Transport says of the methods of the same names.
    void write(ByteView bytes, std::string* owned,
               const std::shared_ptr<const std::string>* shared = nullptr) {
        if (closing_ || pipe_ || eof_written_ || timed_ || output_ || bytes.empty() || over()) {
            write_otherwise(bytes, owned, shared);
            return;
        }
        const ::ssize_t took = service_->calls.send(descriptor_, bytes.data(), bytes.size());
        if (took == static_cast<::ssize_t>(bytes.size())) {
            wrote_ = true;
        } else {
            settle_write(took, bytes, owned, shared);
        }
    }
    void write_lines(const std::vector<ByteView>& pieces);
    Promise<std::uint64_t> send_file(int file, std::uint64_t offset, std::uint64_t count,
                                     const Here& here);
    void write_eof();
    bool can_write() const noexcept { return !pipe_ || hears_nothing_; }
    std::size_t unsent() const noexcept { return output_ ? output_->queue.bytes() : 0; }
    void set_limits(const WriteLimits& limits);
    const WriteLimits& limits() const noexcept;
    bool write_paused() const noexcept { return write_paused_; }
    void pause_reading() noexcept;
    void resume_reading();
    bool is_reading() const noexcept { return !read_paused_ && !eof_ && !closing_; }
    void close(bool unread) noexcept;
    void abort() noexcept;
    bool is_closing() const noexcept { return closing_; }
    void set_time_limit(Duration TimeLimits::*which, Duration length);
    Endpoint local();
    Endpoint remote() const { return remote_.get(); }
    /// How messages call it: by its address, or a pipe by its name.
    std::string peer() const;
    /// The write end of a pipe: nothing will ever come.
    bool hears_nothing() const noexcept { return hears_nothing_; }
    int descriptor() const noexcept { return descriptor_; }
    Protocol* protocol() const noexcept { return protocol_.get(); }
    void set_protocol(std::unique_ptr<Protocol> protocol);
    TransportOwner* owner() const noexcept { return owner_; }
    void set_owner(TransportOwner& owner) noexcept { owner_ = &owner; }

    /// The loop is closing: ends without connection_lost().
    void loop_closed() noexcept;
    // As DescriptorHolder.
    void number_taken(int number) noexcept override;
    void number_lost(int number) noexcept override;
    /// A send_file() was cancelled.
    void forget(FileOperation& file) noexcept;

    reactor::detail::LoopCore& core;

private:
    using Node = reactor::detail::Node;

    /// Keeps the state while it lives.
    class Keep {
    public:
        explicit Keep(TransportState& state) noexcept : state_(&state) { state.add_reference(); }
        Keep(Keep&& other) noexcept : state_(other.state_) { other.state_ = nullptr; }
        Keep(const Keep& other) noexcept : Keep(*other.state_) {}
        Keep& operator=(const Keep&) = delete;
        ~Keep() {
            if (state_) state_->release();
        }
        TransportState* operator->() const noexcept { return state_; }

    private:
        TransportState* state_;
    };

    /// The callable of a node of this transport. If it goes without our doing, the descriptor
    /// cannot be watched any more.
    struct Event {
        explicit Event(TransportState& s) noexcept : state(&s) {}
        Event(const Event&) = delete;
        Event& operator=(const Event&) = delete;
        ~Event() {
            if (state) state->unwatched();
        }

        TransportState* state;
    };
    template <void (TransportState::*method)()>
    struct EventFor : Event {
        using Event::Event;
        void operator()() const { (state->*method)(); }
    };

    /// There while something waits to be sent.
    struct Output {
        OutputQueue queue;
        Node* writer = nullptr;
    };

    /// What most connections do without.
    struct Extras {
        WriteLimits limits;
        TimeLimits times;
        TimerHandle timer;
        std::unique_ptr<const Endpoint> local;
        std::vector<std::unique_ptr<Protocol>> retired;  // replaced inside a method of their own
        std::string pipe_name;
    };

    TransportState(EventLoop& loop, int descriptor, const Endpoint& remote,
                   std::unique_ptr<Protocol> protocol, bool accepted);
    ~TransportState();
    void destroy() noexcept;
    /// Nothing has an effect any more.
    bool over() const noexcept { return closing_ || core.closed.load(std::memory_order_relaxed); }

    // life
    template <void (TransportState::*method)()>
    Node* make_node(reactor::detail::NodeKind kind, const char* label);
    void drop_node(Node*& node) noexcept;
    void queue() noexcept;
    void event();
    __attribute__((noinline)) void other_event();  // or every event pays for its registers
    void end_or_begin();
    void start();
    void end_soon() noexcept;
    void lose(std::exception_ptr error) noexcept;
    void lose_by_system(const char* step, int code) noexcept;
    std::system_error watch_refused(const std::system_error& refusal, const char* step) const;
    void finish();
    void depart() noexcept;
    bool is_to_linger(int descriptor) noexcept;
    void farewell(int descriptor, bool lingers) noexcept;
    bool input_waits(int descriptor) noexcept;
    void vanish() noexcept;
    void unwatched() noexcept;
    void watch(const char* call, Node* node);
    Extras& extras();

    // the protocol
    /// Calls a method of the protocol. What it throws is reported, and ends the connection if the
    /// method is `vital`; false then.
    enum class Weight { vital, light };
    template <class F>
    bool call(const char* method, Weight weight, F f);
    void failed(const char* method, Weight weight, const std::exception_ptr& error);
    std::string name() const;
    void adopt(std::unique_ptr<Protocol> protocol) noexcept;
    void update_flow();
    void tell_flow();

    // reading
    void read();
    void read_otherwise();
    void receive_for_protocol();
    void read_for_protocol();
    void nothing_received(::ssize_t got);
    void received_end();
    void update_reading() noexcept;
    void look_for_readers() noexcept;
    ::ssize_t receive(char* room, std::size_t size) const noexcept {
        return pipe_ ? read_pipe(descriptor_, room, size)
                     : service_->calls.receive(descriptor_, room, size);
    }

    // writing
    ::ssize_t send(const char* bytes, std::size_t size) const noexcept {
        if (!pipe_) return service_->calls.send(descriptor_, bytes, size);
        const ::iovec piece = {const_cast<char*>(bytes), size};
        return write_pipe(descriptor_, &piece, 1);
    }
    ::ssize_t send(::iovec* pieces, std::size_t count) const noexcept {
        return pipe_ ? write_pipe(descriptor_, pieces, count)
                     : service_->calls.send(descriptor_, pieces, count);
    }
    [[noreturn]] void refuse_write(const char* call) const;
    void write_otherwise(ByteView bytes, std::string* owned,
                         const std::shared_ptr<const std::string>* shared);
    void settle_write(::ssize_t took, ByteView bytes, std::string* owned,
                      const std::shared_ptr<const std::string>* shared);
    std::size_t send_at_once(const std::vector<ByteView>& pieces, std::size_t& index);
    void write_rest(ByteView bytes, std::size_t sent, std::string* owned,
                    const std::shared_ptr<const std::string>* shared);
    void count_dropped_write();
    Output& open_output();
    bool refuse_flood() noexcept;
    void writable();
    bool flush();
    bool flush_file(FileOperation& file);
    void output_empty() noexcept;
    std::unique_ptr<Output> take_output() noexcept;
    void end_files(Output& output) noexcept;
    void shut_down() noexcept;
    enum class Progress { done, some, blocked, lost };
    Progress advance(FileOperation& file);
    ::ssize_t copy_part(FileOperation& file);

    // time limits
    void touch(TimePoint TimeLimits::*what);
    void arm();
    void time_out();

    TransportService* service_;  // null once the loop is closed
    Node* node_ = nullptr;       // null once it is lost
    TransportOwner* owner_ = nullptr;
    std::unique_ptr<Protocol> protocol_;
    std::unique_ptr<Output> output_;
    std::unique_ptr<Extras> extras_;
    std::exception_ptr error_;  // for connection_lost()
    CompactEndpoint remote_;
    std::uint32_t references_ = 1;
    int descriptor_;  // -1 once it is lost, or its number another file's

    // Together what an event asks, what a read does, and what a write does.
    bool started_ : 1;   // connection_made() was called,
    bool again_ : 1;     // node_ is to be queued once more when its turn in this batch has come
    bool ending_ : 1;    // connection_lost() is next
    bool pipe_ : 1;      // one end of one, or a socket that is used as such
    bool buffered_ : 1;  // protocol_ is a BufferedProtocol
    bool read_paused_ : 1;
    bool eof_ : 1;  // of the peer
    bool closing_ : 1;
    bool watches_readers_ : 1;  // node_ looks whether anybody reads: of a pipe's write end
    bool eof_written_ : 1;
    bool inside_ : 1;  // a method of the protocol
    bool timed_ : 1;   // there is a time limit
    bool wrote_ : 1;
    bool accepted_ : 1;
    bool begun_ : 1;         // after `started_`: reading may be watched for
    bool watching_ : 1;      // node_ is registered as a reader
    bool flushed_late_ : 1;  // what was unsent at close() had to wait
    bool unread_ : 1;        // close_unread()
    bool reset_ : 1;         // the peer shall see that something is missing
    bool write_paused_ : 1;
    bool told_paused_ : 1;  // what the protocol knows of that
    bool flow_queued_ : 1;
    bool hears_nothing_ : 1;  // a pipe's write end
    std::uint8_t dropped_writes_ = 0;
};

/// Between Transport and its state, and for those who accept and connect.
struct TransportAccess {
    static Transport share(TransportState* state) noexcept { return Transport(state); }
    static TransportState* state(const Transport& transport) noexcept { return transport.state_; }
    static std::string peer(const Transport& transport) { return transport.state_->peer(); }
    /// For a descriptor that is non-blocking and close-on-exec already, and whose peer is known.
    /// The client of an `accepted` one has spoken by then as a rule: the first read comes right
    /// after connection_made(), before the descriptor is watched.
    static Transport make(EventLoop& loop, int descriptor, const Endpoint& remote,
                          std::unique_ptr<Protocol> protocol, bool accepted);
};

template <void (TransportState::*method)()>
reactor::detail::Node* TransportState::make_node(reactor::detail::NodeKind kind,
                                                 const char* label) {
    Node* const node = core.make<EventFor<method>>(kind, *this);
    const Options options = Options(Here("", "", 0)).label(label);
    core.set_context(node, &options);
    node->set(reactor::detail::NodeFlag::repeating);
    return node;
}

template <class F>
bool TransportState::call(const char* method, Weight weight, F f) {
    struct Inside {
        explicit Inside(TransportState& s) noexcept : state(s) { state.inside_ = true; }
        ~Inside() {
            state.inside_ = false;
            if (state.extras_ && !state.extras_->retired.empty()) state.extras_->retired.clear();
        }
        TransportState& state;
    };
    std::exception_ptr error;
    try {
        const Inside inside(*this);
        f(*protocol_);
        return true;
    } catch (const LoopExit&) {
        throw;
    } catch (const abi::__forced_unwind&) {
        throw;  // pthread_cancel(): swallowing it would abort the process
    } catch (...) {
        error = std::current_exception();
    }
    failed(method, weight, error);
    return false;
}

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
