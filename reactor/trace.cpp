// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/causes.hpp>
#include <reactor/detail/loop_state.hpp>
#include <reactor/detail/trace_file.hpp>
#include <reactor/trace.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <system_error>
#include <unordered_map>
#include <vector>

namespace reactor {
namespace detail {

namespace {

// Who is asked for an ancestor was scheduled a moment ago, or long ago by a chain of timers: a
// power of two, a quarter of a megabyte.
constexpr std::size_t remembered = 8192;

constexpr std::size_t most_ancestors = 16;

// A wait that is worth a write before it.
constexpr Duration long_wait = std::chrono::milliseconds(10);

const char* kind_text(NodeKind kind) noexcept {
    switch (kind) {
        case NodeKind::soon:
            return "soon";
        case NodeKind::timer:
            return "timer";
        case NodeKind::reader:
            return "reader";
        case NodeKind::writer:
            return "writer";
        case NodeKind::urgent:
            return "urgent";
        case NodeKind::done:
            return "done";
    }
    return "";
}

void append_number(std::string& to, std::uint64_t number) {
    char digits[20];
    char* at = digits + sizeof digits;
    do {
        *--at = static_cast<char>('0' + number % 10);
    } while ((number /= 10) != 0);
    to.append(at, digits + sizeof digits);
}

// Chrome's unit is the microsecond; a nanosecond is its third decimal.
void append_time(std::string& to, Duration time) {
    const std::uint64_t ns = static_cast<std::uint64_t>(std::max(time, Duration::zero()).count());
    append_number(to, ns / 1000);
    const unsigned rest = static_cast<unsigned>(ns % 1000);
    to += '.';
    for (const unsigned unit : {100u, 10u, 1u}) to += static_cast<char>('0' + rest / unit % 10);
}

}  // namespace

/// The observer behind a Trace.
class Tracer final : public Observer {
public:
    explicit Tracer(EventLoop& loop)
        : state_(static_cast<LoopState*>(&loop.core())), history_(remembered) {
        state_->check("Trace");
        if (state_->traced) {
            throw StateError("Trace: the loop is traced already: end that trace first");
        }
        begin_ = state_->clock->now();
        causes_.reset(new Causes(*state_));
        state_->add_observer(*this);
        state_->traced = true;
        // Inside a callback: it is the first one, from here on.
        if (const Node* const node = state_->current) {
            start(*node, Causes::Entry{state_->next_trace_id++, Cause()});
        }
    }
    ~Tracer() {
        if (state_) state_->require_thread("a Trace's destructor");
        finish();
        tell_failure();
    }
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    void write_to(const std::string& path) {
        file_.reset(new TraceFile(path));
        process_ = std::to_string(::getpid());
        file_->add("{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":" + process_ +
                   ",\"tid\":1,\"args\":{\"name\":\"event loop\"}}");
    }

    /// Ends the trace; the file is complete afterwards.
    void finish() noexcept {
        if (!state_) return;
        guarded([this] { end_running(); });
        if (file_) file_->finish();
        causes_.reset();
        state_->remove_observer(*this);
        state_->traced = false;
        state_->trace_id = 0;
        loop_of_failure_ = state_;
        state_ = nullptr;
    }
    /// The same, then throws what kept the file from being complete.
    void close() {
        if (!state_) return;
        state_->check_thread("Trace::close");
        finish();
        if (!file_ || !file_->error()) return;
        told_ = true;
        throw std::system_error(file_->error(), "trace file " + file_->path());
    }

    // ---- what the loop tells ----

    void polls(Duration timeout) noexcept override {
        guarded([this] {
            end_running();
            causes_->settle(Cause());
        });
        if (file_ && timeout >= long_wait) file_->flush();
        tell_failure();
    }
    void collected() noexcept override {
        guarded([this] { causes_->collected(); });
    }
    void passes() noexcept override {
        guarded([this] { causes_->take(); });
    }
    void begins(const Node& node) noexcept override {
        guarded([this, &node] {
            const Causes::Entry entry = causes_->take();
            end_running();
            start(node, entry);
        });
    }
    void ends() noexcept override {
        guarded([this] { end_running(); });
    }
    void registered(const Node& watch) noexcept override {
        guarded([this, &watch] {
            causes_->registered(watch, Cause{running_.id, state_->clock->now()});
        });
    }
    void caused_by(std::uint64_t id) noexcept override {
        if (const Past* const past = find(id)) running_.cause = Cause{id, past->scheduled};
    }
    void closes() noexcept override {
        finish();
        tell_failure();
    }

    void explain(Report& report) const override {
        if (running_.id == 0) return;
        std::string text;
        for (const std::string& name : names_from(running_.cause.id)) {
            if (!text.empty()) text += " <- ";
            text += name;
        }
        if (!text.empty()) report.details.emplace_back("scheduled by", text);
    }
    void ancestors(const Node& node, std::vector<std::string>& names) const override {
        if (!causes_) return;
        names = names_from(&node == state_->current ? running_.cause.id : causes_->of(node).id);
    }

private:
    struct Running {
        std::uint64_t id = 0;  // 0: nothing runs
        Cause cause = Cause();
        const char* name = nullptr;
        NodeKind kind = NodeKind::soon;
        TimePoint begin;
    };
    /// A callback that ran.
    struct Past {
        std::uint64_t id;  // 0: none
        std::uint64_t cause;
        const char* name;
        TimePoint scheduled;  // a moment inside it, where the arrows begin
    };

    template <class F>
    void guarded(F f) noexcept {
        if (!state_ || !causes_) return;
        try {
            f();
        } catch (...) {
            // Out of memory. What was noted is incomplete now, and no guide to anything.
            causes_.reset();
            running_ = Running();
            log_to_standard_error(LogLevel::error, "A trace ends: no memory to follow the loop");
        }
    }

    // The log's sink may destroy the trace: nothing of it is touched afterwards.
    void tell_failure() noexcept {
        if (told_ || !file_ || !file_->error()) return;
        told_ = true;
        LoopState& loop = state_ ? *state_ : *loop_of_failure_;
        try {
            loop.log(LogLevel::error, "trace file " + file_->path() + ": " +
                                          file_->error().message() + ": the trace ends here");
        } catch (...) {
            log_to_standard_error(LogLevel::error, "A trace file cannot be written");
        }
    }

    void start(const Node& node, const Causes::Entry& entry) {
        running_.id = state_->trace_id = entry.id;
        running_.cause = entry.cause;
        running_.name = node.raw_name();
        running_.kind = node.kind();
        running_.begin = state_->clock->now();
        remember(running_.begin);
        causes_->begin(Cause{entry.id, running_.begin});
    }

    void end_running() {
        if (running_.id == 0) return;
        const TimePoint end = state_->clock->now();
        // The arrows begin just before the slice's end: at the end itself they would be outside.
        const Duration half = (end - running_.begin) / 2;
        const TimePoint scheduled = end - std::min<Duration>(half, std::chrono::microseconds(1));
        remember(scheduled);
        causes_->settle(Cause{running_.id, scheduled});
        const Running ran = running_;
        running_ = Running();
        state_->trace_id = 0;
        write(ran, end);
    }

    void remember(TimePoint scheduled) {
        history_[running_.id % remembered] =
            Past{running_.id, running_.cause.id, running_.name, scheduled};
    }
    const Past* find(std::uint64_t id) const noexcept {
        const Past& past = history_[id % remembered];
        return id != 0 && past.id == id ? &past : nullptr;
    }
    std::vector<std::string> names_from(std::uint64_t id) const {
        std::vector<std::string> names;
        while (const Past* const past = find(id)) {
            if (names.size() == most_ancestors) break;
            names.push_back(callable_text(past->name));
            id = past->cause;
        }
        return names;
    }

    // ---- the file ----

    void write(const Running& ran, TimePoint end) {
        if (!file_) return;
        event_ = "{\"name\":";
        event_ += json_name(ran.name);
        event_ += ",\"cat\":\"";
        event_ += kind_text(ran.kind);
        event_ += "\",\"ph\":\"X\"";
        append_place(ran.begin);
        event_ += ",\"dur\":";
        append_time(event_, end - ran.begin);
        event_ += ",\"args\":{\"id\":";
        append_number(event_, ran.id);
        event_ += ",\"cause\":";
        append_number(event_, ran.cause.id);
        event_ += "}}";
        file_->add(event_);
        if (ran.cause.id == 0) return;
        // After the slice of the same time: an arrow ends in the slice that it finds there.
        write_arrow("\"s\"", ran.id, ran.cause.when);
        write_arrow("\"f\",\"bp\":\"e\"", ran.id, ran.begin);
    }
    void write_arrow(const char* end, std::uint64_t id, TimePoint when) {
        event_ = "{\"name\":\"schedules\",\"cat\":\"cause\",\"ph\":";
        event_ += end;
        append_place(when);
        event_ += ",\"id\":";
        append_number(event_, id);
        event_ += '}';
        file_->add(event_);
    }
    void append_place(TimePoint when) {
        event_ += ",\"ts\":";
        append_time(event_, when - begin_);
        event_ += ",\"pid\":";
        event_ += process_;
        event_ += ",\"tid\":1";
    }
    const std::string& json_name(const char* name) {
        std::string& text = json_names_[name];
        if (text.empty()) append_json(text, callable_text(name));
        return text;
    }

    LoopState* state_;                      // null once the trace has ended
    LoopState* loop_of_failure_ = nullptr;  // then: for tell_failure(), which follows at once
    TimePoint begin_;
    std::unique_ptr<Causes> causes_;  // null once there was no memory for it
    Running running_;
    std::vector<Past> history_;  // by id
    std::unique_ptr<TraceFile> file_;
    bool told_ = false;
    std::string process_;
    std::string event_;                                        // room to put one together
    std::unordered_map<const char*, std::string> json_names_;  // labels are literals
};

}  // namespace detail

Trace::Trace(EventLoop& loop) : tracer_(new detail::Tracer(loop)) {}

Trace::Trace(EventLoop& loop, const std::string& path) : Trace(loop) { tracer_->write_to(path); }

Trace::~Trace() = default;

void Trace::close() { tracer_->close(); }

std::vector<std::string> scheduled_by(const Handle& handle) {
    std::vector<std::string> names;
    const detail::Node* const node = detail::HandleAccess::node(handle);
    if (!node || node->core->gone) return names;
    node->core->check_thread("scheduled_by");
    static_cast<const detail::LoopState&>(*node->core)
        .observers.ask(&detail::Observer::ancestors, *node, names);
    return names;
}

}  // namespace reactor
