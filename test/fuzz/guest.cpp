// SPDX-License-Identifier: BSL-1.0
#include "guest.hpp"

#include <net/create_connection.hpp>
#include <net/protocol.hpp>
#include <reactor/report.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <utility>

namespace fuzz {

namespace net = reactor::net;
using reactor::Duration;

namespace {

constexpr std::size_t nothing = static_cast<std::size_t>(-1);
// Of a guest's line: "12 345 ".
constexpr std::size_t shortest = 16;

Duration up_to(Random& random, Duration longest) {
    return random.between(Duration::zero(), longest);
}

bool begins(const std::string& text, const char* with) {
    return text.compare(0, std::char_traits<char>::length(with), with) == 0;
}

const char* word(GuestPlan::Kind kind) {
    switch (kind) {
        case GuestPlan::Kind::calm:
            return "stays";
        case GuestPlan::Kind::pauses:
            return "does not read for a while";
        case GuestPlan::Kind::stalls:
            return "reads no more";
        case GuestPlan::Kind::quits:
            return "quits";
        case GuestPlan::Kind::closes:
            return "closes";
        case GuestPlan::Kind::resets:
            break;
    }
    return "resets";
}

}  // namespace

GuestPlan::GuestPlan(Random& random, std::size_t longest_line)
    : kind(static_cast<Kind>(random.below(6))),
      start(up_to(random, std::chrono::seconds(2))),
      lines(random.below(60)),
      longest(longest_line),
      longest_pause(random.below(2) == 0 ? Duration::zero()
                                         : up_to(random, std::chrono::milliseconds(100))),
      stall_after(up_to(random, std::chrono::seconds(1))),
      stall_for(up_to(random, std::chrono::seconds(4))),
      has_name(random.below(2) == 0),
      is_silly(random.below(3) == 0),
      seed(random.next()) {}

// ---- its connection -------------------------------------------------------------------------

class Guest::Visit final : public net::Protocol {
public:
    explicit Visit(Guest& guest) : guest_(guest) {}

private:
    void connection_made(const net::Transport& transport) override { guest_.made(transport); }
    void data_received(net::ByteView bytes) override {
        guest_.lines_.feed(bytes, [this](net::ByteView line, bool cut) {
            if (cut) {
                guest_.fault("a line is longer than the room's longest");
            } else {
                guest_.take(line.str());
            }
            return true;
        });
    }
    void connection_lost(std::exception_ptr error) override {
        guest_.over_ = true;
        guest_.next_.cancel();
        guest_.stall_.cancel();
        if (error) guest_.error_ = reactor::describe(error);
    }

    Guest& guest_;
};

Guest::Guest(reactor::EventLoop& loop, const Place& place, const GuestPlan& plan,
             std::size_t number, std::size_t guests)
    : loop_(loop),
      place_(place),
      plan_(plan),
      number_(number),
      random_(plan.seed),
      lines_(plan.longest + 256),
      expected_(guests, nothing),
      first_(guests, nothing) {
    next_ = loop.call_later(plan.start, &Guest::connect, this);
}

Guest::~Guest() {
    next_.cancel();
    stall_.cancel();
}

void Guest::connect() {
    const net::ProtocolFactory factory = [this] {
        return std::unique_ptr<net::Protocol>(new Visit(*this));
    };
    const net::ConnectOptions options(std::chrono::seconds(300));
    connecting_ = place_.host.empty()
                      ? net::create_connection(loop_, factory, place_.address, options)
                      : net::create_connection(loop_, factory, place_.host, place_.port, options);
    connecting_.add_done_callback([this](const reactor::Promise<net::Transport>& outcome) {
        if (outcome.cancelled() || !outcome.error()) return;
        over_ = true;
        error_ = reactor::describe(outcome.error());
    });
}

void Guest::made(const net::Transport& transport) { transport_ = transport; }

void Guest::abort() {
    next_.cancel();
    stall_.cancel();
    if (connecting_ && !connecting_.done()) connecting_.cancel();
    if (transport_) transport_.abort();
}

// ---- speaking -------------------------------------------------------------------------------

std::string Guest::line(std::size_t number, std::size_t index) const {
    std::string text = std::to_string(number) + ' ' + std::to_string(index) + ' ';
    const std::size_t most = std::max(plan_.longest, shortest);
    text.append((number * 7919 + index * 104729) % (most - text.size() + 1),
                static_cast<char>('a' + (number + index) % 26));
    return text;
}

void Guest::speak() {
    if (transport_.is_closing()) return;
    if (said_ == 0) spoke_at_ = loop_.time();
    if (plan_.is_silly && random_.below(4) == 0) {
        ++bad_;
        switch (random_.below(4)) {
            case 0:
                transport_.write(std::string(plan_.longest + 1 + random_.below(5000), 'x') + '\n');
                break;
            case 1:
                transport_.write("bell\a\n");
                break;
            case 2:
                transport_.write("/name not a name\r\n");
                break;
            default:
                transport_.write("/nonsense\n");
        }
    }
    if (said_ == plan_.lines) {
        if (plan_.kind == GuestPlan::Kind::closes) return transport_.close();
        if (plan_.kind == GuestPlan::Kind::resets) return transport_.abort();
        transport_.write(plan_.kind == GuestPlan::Kind::quits ? "/quit\n" : "/who\n");
        return;
    }
    transport_.write(line(number_, said_++) + '\n');
    next_ = loop_.call_later(up_to(random_, plan_.longest_pause), &Guest::speak, this);
}

void Guest::stall() {
    if (!transport_.is_reading()) return transport_.resume_reading();
    transport_.pause_reading();
    if (plan_.kind == GuestPlan::Kind::pauses) {
        stall_ = loop_.call_later(plan_.stall_for, &Guest::stall, this);
    }
}

// ---- hearing --------------------------------------------------------------------------------

void Guest::take(const std::string& line) {
    if (told_ || turned_away_) return fault("something comes after the last word: " + line);
    if (begins(line, "! ")) {
        if (!welcomed_) {
            turned_away_ = true;
        } else if (++complaints_ > bad_) {
            fault("a complaint about nothing: " + line);
        }
    } else if (!welcomed_) {
        if (!begins(line, "* you are guest-")) return fault("no welcome, but: " + line);
        welcomed_ = true;
        welcomed_at_ = loop_.time();
        if (plan_.has_name) transport_.write("/name g" + std::to_string(number_) + '\n');
        next_ = loop_.call_later(up_to(random_, plan_.longest_pause), &Guest::speak, this);
        if (plan_.kind == GuestPlan::Kind::pauses || plan_.kind == GuestPlan::Kind::stalls) {
            stall_ = loop_.call_later(plan_.stall_after, &Guest::stall, this);
        }
    } else if (begins(line, "* the room is closed")) {
        told_ = true;
    } else if (begins(line, "* goodbye") || line.find(", one of ") != std::string::npos) {
        if (said_ != plan_.lines || complaints_ != bad_) fault("an answer too early: " + line);
        settled_ = true;
    } else if (begins(line, "* ")) {
        if (line.find(" is g") == std::string::npos && !begins(line, "* you are g")) {
            fault("the room says what it never says: " + line);
        }
    } else {
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos) return fault("half a line: " + line);
        hear(line.substr(colon + 2));
    }
}

void Guest::hear(const std::string& text) {
    ++heard_;
    char* end = nullptr;
    const std::size_t number = std::strtoul(text.c_str(), &end, 10);
    const std::size_t index = std::strtoul(end, nullptr, 10);
    if (number >= expected_.size() || text != line(number, index)) {
        return fault("nobody has said this: " + text);
    }
    if (number == number_) return fault("it hears itself: " + text);
    std::size_t& expected = expected_[number];
    if (expected == nothing) {
        first_[number] = index;
    } else if (index != expected) {
        fault("line " + std::to_string(index) + " of guest " + std::to_string(number) +
              " comes where " + std::to_string(expected) + " should");
    }
    expected = index + 1;
}

bool Guest::misses_lines_of(const Guest& other) const {
    // Who has been told has had everything before that; who was answered has been heard.
    if (&other == this || !told_ || !other.settled_ || other.plan_.lines == 0) return false;
    const bool from_the_first = welcomed_at_ < other.spoke_at_;
    const std::size_t first = first_[other.number_];
    if (from_the_first && first != 0) return true;
    return first != nothing && expected_[other.number_] != other.plan_.lines;
}

void Guest::fault(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
}

std::string Guest::text() const {
    std::string text = std::to_string(number_) + " says " + std::to_string(plan_.lines) +
                       " lines and " + word(plan_.kind);
    if (plan_.is_silly) text += ", talks nonsense";
    text += welcomed_ ? "; welcomed" : turned_away_ ? "; turned away" : "; never got in";
    text += ", said " + std::to_string(said_) + ", heard " + std::to_string(heard_);
    if (settled_) text += ", settled";
    if (told_) text += ", told of the end";
    if (!error_.empty()) text += ", error: " + error_;
    if (!wrong_.empty()) text += ", WRONG: " + wrong_;
    return text;
}

}  // namespace fuzz
