// SPDX-License-Identifier: BSL-1.0
#include "load.hpp"

#include <apps/command_line/arguments.hpp>
#include <apps/lines/lines.hpp>

#include <net/create_connection.hpp>
#include <net/transport.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/report.hpp>
#include <reactor/signals.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

namespace chat {

namespace net = reactor::net;
using net::ByteView;
using reactor::Next;

namespace {

// So many connect at the same time: more would not fit into the queue of many a server.
constexpr std::size_t most_connecting = 64;
// Who reads nothing hears of its end by writing: an empty line, which no room passes on.
constexpr reactor::Duration knock_every = std::chrono::milliseconds(100);
// The room may put a name before a line, and has longer ones of its own.
constexpr std::size_t longer_than_said = 1024;
// What the system keeps for somebody who does not read would hide that for long.
constexpr int stalled_buffer = 4096;

double seconds_of(reactor::Duration length) {
    return std::chrono::duration<double>(length).count();
}

}  // namespace

// ---- what all of them share -----------------------------------------------------------------

/// The state of the load; shared by the visitors, which belong to the loop and may outlive the
/// task.
class Load::Crowd {
public:
    Crowd(reactor::EventLoop& l, const Options& o);

    void connect_more(const std::shared_ptr<Crowd>& self);
    void joined();
    void came(std::size_t speaker, std::size_t index);
    void dropped();
    void fail(const std::string& what);
    void interrupt(int signal);
    int report() const;

    std::string line(std::size_t speaker, std::size_t index) const;
    /// Takes the text of a line of ours apart.
    bool is_ours(const std::string& text, std::size_t& speaker) const;

    reactor::EventLoop& loop;
    const Options options;
    reactor::Promise<void> over;
    std::vector<Visitor*> visitors;  // by number: speakers first, those who stall last

private:
    struct Said {
        reactor::TimePoint at;
        std::size_t came = 0;  // to so many
    };
    struct Speech {
        std::deque<Said> under_way;
        std::size_t said = 0;  // lines
        std::size_t everywhere = 0;
    };

    void speak(std::size_t speaker);
    void expect();
    void late();
    void knock();
    void end_if_all_is_done();
    void end();

    std::size_t listeners() const { return options.members - options.stalled; }

    const std::string tag_;
    std::string pattern_;
    std::size_t connecting_ = 0, begun_ = 0;
    std::size_t present_ = 0;
    std::vector<Speech> speeches_;  // of each speaker
    std::size_t finished_ = 0;      // of them
    std::size_t dropped_ = 0;
    std::string error_;
    int interrupted_by_ = 0;

    std::uint64_t deliveries_ = 0;
    reactor::Duration slowest_ = reactor::Duration::zero(), sum_ = reactor::Duration::zero();
    reactor::TimePoint begun_at_, ended_at_;
    reactor::TimerHandle limit_, knocking_;
};

// ---- one member -----------------------------------------------------------------------------

class Load::Visitor final : public net::Protocol {
public:
    Visitor(std::shared_ptr<Crowd> crowd, std::size_t number)
        : crowd_(std::move(crowd)),
          number_(number),
          lines_(crowd_->options.size + longer_than_said),
          next_(crowd_->options.speakers) {}
    ~Visitor() override { crowd_->visitors[number_] = nullptr; }

    void say(std::string line) { transport_.write(std::move(line)); }
    void knock() {
        if (!transport_.is_closing()) transport_.write("\n");
    }
    void close() { transport_.close(); }

private:
    bool stalls() const { return number_ >= crowd_->options.members - crowd_->options.stalled; }

    void connection_made(const net::Transport& transport) override {
        transport_ = transport;
        crowd_->visitors[number_] = this;
        if (crowd_->over.done()) return transport.close();
        if (!stalls()) return;
        ::setsockopt(transport.native_handle(), SOL_SOCKET, SO_RCVBUF, &stalled_buffer,
                     sizeof stalled_buffer);
    }
    void data_received(ByteView bytes) override {
        lines_.feed(bytes, [this](ByteView line, bool cut) {
            if (cut) {
                crowd_->fail("a line is longer than any that was said");
            } else {
                take(lines::without_return(line).str());
            }
            return !transport_.is_closing();
        });
    }
    void connection_lost(std::exception_ptr error) override {
        if (stalls() && joined_) return crowd_->dropped();
        crowd_->fail(error ? "lost: " + reactor::describe(error)
                           : "the room has ended the connection");
    }
    const char* protocol_name() const noexcept override { return "chat: load"; }

    void take(const std::string& line) {
        if (line.compare(0, 2, "! ") == 0) return crowd_->fail("the room says: " + line.substr(2));
        if (!joined_ && line.compare(0, 2, "* ") == 0) {
            joined_ = true;
            if (stalls()) transport_.pause_reading();
            return crowd_->joined();
        }
        if (stalls()) return;
        const std::size_t colon = line.find(": ");
        std::size_t speaker = 0;
        if (colon == std::string::npos || line.compare(0, 2, "* ") == 0) return;
        const std::string text = line.substr(colon + 2);
        if (!crowd_->is_ours(text, speaker)) return;  // there may be others in the room
        if (speaker == number_) return crowd_->fail("a member has heard itself");
        if (text + '\n' != crowd_->line(speaker, next_[speaker])) {
            return crowd_->fail("a line is missing, comes twice, or is not what was said");
        }
        crowd_->came(speaker, next_[speaker]++);
    }

    std::shared_ptr<Crowd> crowd_;
    std::size_t number_;
    lines::Lines lines_;
    std::vector<std::size_t> next_;  // line of each speaker
    bool joined_ = false;
    net::Transport transport_;
};

// ---- joining --------------------------------------------------------------------------------

Load::Crowd::Crowd(reactor::EventLoop& l, const Options& o)
    : loop(l),
      options(o),
      over(l.create_promise<void>()),
      visitors(o.members, nullptr),
      tag_("load-" + std::to_string(::getpid())),
      speeches_(o.speakers) {
    while (pattern_.size() < options.size + 64) {
        pattern_ += "The quick brown fox jumps over the lazy dog, again and again. ";
    }
    expect();
}

void Load::Crowd::connect_more(const std::shared_ptr<Crowd>& self) {
    for (; connecting_ < most_connecting && begun_ < options.members && !over.done(); ++begun_) {
        ++connecting_;
        const std::size_t number = begun_;
        const net::ProtocolFactory factory = [self, number] {
            return std::unique_ptr<net::Protocol>(new Visitor(self, number));
        };
        const command_line::Address& to = options.address;
        const net::ConnectOptions limit(options.timeout);
        (to.endpoint.empty() ? net::create_connection(loop, factory, to.host, to.port, limit)
                             : net::create_connection(loop, factory, to.endpoint, limit))
            .add_done_callback([self](const reactor::Promise<net::Transport>& outcome) {
                --self->connecting_;
                if (outcome.error()) self->fail(reactor::describe(outcome.error()));
                self->connect_more(self);
            });
    }
}

void Load::Crowd::joined() {
    if (over.done()) return;
    expect();
    if (++present_ < options.members) return;
    begun_at_ = loop.time();
    for (std::size_t speaker = 0; speaker < options.speakers; ++speaker) {
        const std::size_t at_once = std::min(options.pipeline, options.lines);
        while (speeches_[speaker].said < at_once) speak(speaker);
    }
    if (options.stalled > 0) knocking_ = loop.call_every(knock_every, &Crowd::knock, this);
}

// ---- speaking and hearing -------------------------------------------------------------------

std::string Load::Crowd::line(std::size_t speaker, std::size_t index) const {
    std::string text = tag_ + ' ' + std::to_string(speaker) + ' ' + std::to_string(index) + ' ';
    text.append(pattern_, index % 62, options.size - std::min(options.size, text.size()));
    return text + '\n';
}

bool Load::Crowd::is_ours(const std::string& text, std::size_t& speaker) const {
    if (text.compare(0, tag_.size() + 1, tag_ + ' ') != 0) return false;
    speaker = std::strtoul(text.c_str() + tag_.size(), nullptr, 10);
    return speaker < options.speakers;
}

void Load::Crowd::speak(std::size_t speaker) {
    Visitor* const visitor = visitors[speaker];
    if (!visitor) return;  // lost, which has been noticed
    Speech& speech = speeches_[speaker];
    Said said;
    said.at = loop.time();
    speech.under_way.push_back(said);
    visitor->say(line(speaker, speech.said++));
}

/// Everybody hears the lines of a speaker in their order, but one listener may be ahead of another.
void Load::Crowd::came(std::size_t speaker, std::size_t index) {
    if (over.done()) return;
    ++deliveries_;
    Speech& speech = speeches_[speaker];
    if (index >= speech.said) return fail("a line came before it was said");
    ++speech.under_way[index - speech.everywhere].came;
    while (!speech.under_way.empty() && speech.under_way.front().came == listeners() - 1) {
        const reactor::Duration took = loop.time() - speech.under_way.front().at;
        slowest_ = std::max(slowest_, took);
        sum_ += took;
        speech.under_way.pop_front();
        ++speech.everywhere;
        if (speech.said < options.lines) speak(speaker);
        if (speech.everywhere == options.lines) ++finished_;
        expect();
    }
    end_if_all_is_done();
}

// ---- those who do not read ------------------------------------------------------------------

void Load::Crowd::knock() {
    for (std::size_t number = listeners(); number < options.members; ++number) {
        if (visitors[number]) visitors[number]->knock();
    }
}

void Load::Crowd::dropped() {
    if (over.done()) return;
    ++dropped_;
    expect();
    end_if_all_is_done();
}

// ---- ending ---------------------------------------------------------------------------------

void Load::Crowd::end_if_all_is_done() {
    if (finished_ == options.speakers && dropped_ == options.stalled) end();
}

/// Something must happen before the time is up.
void Load::Crowd::expect() {
    limit_.cancel();
    limit_ = loop.call_later(options.timeout, &Crowd::late, this);
}

void Load::Crowd::late() {
    const auto of = [](std::size_t some, std::size_t all) {
        return std::to_string(some) + " of " + std::to_string(all);
    };
    const std::string when = " when nothing had happened for the time of --timeout";
    if (present_ < options.members) {
        fail(of(present_, options.members) + " members had joined" + when);
    } else if (finished_ < options.speakers) {
        fail("not all lines had come to everybody" + when);
    } else {
        fail(of(dropped_, options.stalled) + " stalled members had been dropped" + when +
             ": was that more than the systems' buffers and the room's queue hold?");
    }
}

void Load::Crowd::fail(const std::string& what) {
    if (over.done()) return;
    error_ = what;
    end();
}

void Load::Crowd::interrupt(int signal) {
    if (over.done()) return;
    interrupted_by_ = signal;
    end();
}

void Load::Crowd::end() {
    ended_at_ = loop.time();
    limit_.cancel();
    knocking_.cancel();
    for (Visitor* const visitor : visitors) {
        if (visitor) visitor->close();
    }
    over.set_result();
}

/// Prints the figures; the exit status.
int Load::Crowd::report() const {
    if (!error_.empty()) std::fprintf(stderr, "chat: %s\n", error_.c_str());
    std::size_t everywhere = 0;
    for (const Speech& speech : speeches_) everywhere += speech.everywhere;
    const bool spoken = present_ == options.members;
    const double seconds = spoken ? seconds_of(ended_at_ - begun_at_) : 0;
    const double lines = everywhere > 0 ? static_cast<double>(everywhere) : 1;
    std::printf(
        "Total: %zu of %zu members joined, %zu of %zu stalled ones were dropped, %zu of %zu lines "
        "came to all others, %llu deliveries in %.3f s, a line everywhere in %.2f ms, the slowest "
        "in %.2f ms\n",
        present_, options.members, dropped_, options.stalled, everywhere,
        options.speakers * options.lines, static_cast<unsigned long long>(deliveries_), seconds,
        1000 * seconds_of(sum_) / lines, 1000 * seconds_of(slowest_));
    if (interrupted_by_ != 0) return command_line::exit_signal + interrupted_by_;
    return error_.empty() ? 0 : command_line::exit_failed;
}

// ---- the task -------------------------------------------------------------------------------

Load::Load(const Options& options) : crowd_(std::make_shared<Crowd>(loop(), options)) {}

Load::~Load() {
    for (const int signal : {SIGINT, SIGTERM}) loop().remove_signal_handler(signal);
}

Next Load::start() {
    for (const int signal : {SIGINT, SIGTERM}) {
        loop().add_signal_handler(signal, &Crowd::interrupt, crowd_.get(), signal);
    }
    crowd_->connect_more(crowd_);
    return await(crowd_->over, &Load::ended);
}

Next Load::ended() { return finish(crowd_->report()); }

}  // namespace chat
