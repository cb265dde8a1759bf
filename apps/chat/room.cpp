// SPDX-License-Identifier: BSL-1.0
#include "room.hpp"
#include "text.hpp"

#include <apps/lines/lines.hpp>

#include <net/transport.hpp>
#include <reactor/error.hpp>

#include <algorithm>
#include <cstdio>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/socket.h>

namespace chat {

namespace net = reactor::net;
using net::ByteView;

namespace {

// What the system keeps for a connection is not shared with the others, and by itself it grows to
// megabytes: for thousands of members let it be as much as keeps a connection busy.
constexpr int system_buffer = 64 * 1024;

// Who was silent may say so much at once.
constexpr reactor::Duration burst = std::chrono::seconds(1);

using Block = std::shared_ptr<const std::string>;

bool is_name(const std::string& text, std::size_t longest) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    };
    return !text.empty() && text.size() <= longest &&
           std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

/// What the members share with the room, which may be gone before them.
struct Room::State {
    State(reactor::EventLoop& l, const RoomOptions& o) : loop(l), options(o) {}

    reactor::EventLoop& loop;
    const RoomOptions options;
    RoomCounters counters;
    std::vector<Member*> members;
    std::set<std::string> names;
    std::uint64_t next_guest = 1;
    std::string closed;  // why nobody gets in any more; empty: everybody may
};

// ---- a member -------------------------------------------------------------------------------

/// One connection. From joining to leaving it is among the room's members:
///
///     made ──> present ──/quit, its end, closed by the room──> leaving: what was written goes out
///       │         └──behind for too long, lost──> gone                             │
///       └──room full──> told ──────────────────────────────────────────────────────┴──> gone
class Room::Member final : public net::Protocol {
public:
    explicit Member(std::shared_ptr<State> room)
        : room_(std::move(room)), lines_(room_->options.longest_line + 1) {}  // for a "\r"
    ~Member() override {
        behind_.cancel();
        rest_.cancel();
        leave();
    }

    void hear(const Block& block) {
        if (!transport_.is_closing()) transport_.write(block);
    }
    void dismiss(const Block& word) {
        hear(word);
        say_goodbye();
        transport_.close();
    }

private:
    // What its transport tells.
    void connection_made(const net::Transport& transport) override;
    void data_received(ByteView bytes) override;
    bool eof_received() override;
    void connection_lost(std::exception_ptr error) override;
    void pause_writing() override;
    void resume_writing() override;
    const char* protocol_name() const noexcept override { return "chat: member"; }

    void turn_away(const std::string& why);
    void join();
    void leave() noexcept;
    void say_goodbye();

    void take(ByteView line);
    void obey(const std::string& line);
    void rename(const std::string& name);
    void refuse(const std::string& why);

    void pay(std::size_t bytes);
    void rested();
    void update_reading();
    void drop();
    void note_dropped(const std::string& why);

    std::shared_ptr<State> room_;
    net::Transport transport_;
    std::size_t place_ = 0;  // among the members
    std::string name_;       // empty: it is not one, or no longer
    lines::Lines lines_;
    std::string said_;  // for the others, and answers, while a piece of input is looked at
    std::string answers_;
    bool quits_ = false;

    reactor::TimePoint paid_until_;  // what it has said has cost its time until then
    reactor::TimerHandle rest_;
    bool rests_ = false;
    reactor::TimerHandle behind_;
    bool is_behind_ = false;
};

// ---- coming and going -----------------------------------------------------------------------

void Room::Member::connection_made(const net::Transport& transport) {
    transport_ = transport;
    const RoomOptions& options = room_->options;
    if (!room_->closed.empty()) return turn_away(room_->closed);
    if (room_->members.size() >= options.most_members) {
        return turn_away("the room is full: " + std::to_string(room_->members.size()) +
                         " members are here");
    }
    // It may fail for what is no socket of the system's; then it is as it is.
    ::setsockopt(transport.native_handle(), SOL_SOCKET, SO_SNDBUF, &system_buffer,
                 sizeof system_buffer);
    transport.set_write_limits(net::WriteLimits(options.queue, options.queue / 4,
                                                std::max(options.queue, options.most_queued)));
    join();
    transport.write("* you are " + name_ + ", one of " + std::to_string(room_->members.size()) +
                    " here; /name NAME, /who, /quit, and what you say goes to all others\n");
}

void Room::Member::turn_away(const std::string& why) {
    ++room_->counters.turned_away;
    transport_.write("! " + why + '\n');
    say_goodbye();
    transport_.close_unread();  // it may be saying something already
}

void Room::Member::join() {
    std::string name;
    do {
        name = "guest-" + std::to_string(room_->next_guest++);
    } while (room_->names.count(name) != 0);
    place_ = room_->members.size();
    room_->members.push_back(this);
    try {
        room_->names.insert(name);
    } catch (...) {
        room_->members.pop_back();
        throw;
    }
    name_.swap(name);  // from now on it is one
    room_->counters.present = room_->members.size();
    ++room_->counters.joined;
}

void Room::Member::leave() noexcept {
    if (name_.empty()) return;
    room_->names.erase(name_);
    name_.clear();
    std::vector<Member*>& members = room_->members;
    members[place_] = members.back();
    members[place_]->place_ = place_;
    members.pop_back();
    room_->counters.present = members.size();
}

/// What was written last goes out, unless it takes nothing.
void Room::Member::say_goodbye() {
    leave();
    transport_.set_write_timeout(room_->options.patience);
}

bool Room::Member::eof_received() {
    if (lines_.is_inside() && !transport_.is_closing()) {
        ++room_->counters.refused;
        transport_.write("! your last line has no end: not said\n");
    }
    say_goodbye();
    return false;
}

void Room::Member::connection_lost(std::exception_ptr error) {
    try {
        if (error) std::rethrow_exception(error);
    } catch (const reactor::TimeoutError& late) {
        note_dropped(late.what());
    } catch (const std::system_error& lost) {
        // The transport's own bound; what else ends a connection is its member's business.
        if (lost.code() == std::errc::no_buffer_space) {
            note_dropped("more than " + std::to_string(transport_.write_limits().hard) +
                         " bytes waited");
        }
    } catch (const std::exception&) {
    }
    leave();
    behind_.cancel();
    rest_.cancel();
}

// ---- listening to it ------------------------------------------------------------------------

void Room::Member::data_received(ByteView bytes) {
    lines_.feed(bytes, [this](ByteView line, bool cut) {
        line = lines::without_return(line);
        if (cut || line.size() > room_->options.longest_line) {
            refuse("not said: longer than " + std::to_string(room_->options.longest_line) +
                   " bytes");
        } else {
            take(line);
        }
        return !quits_;
    });
    const std::size_t cost = std::max(bytes.size(), said_.size() + answers_.size());
    if (!said_.empty()) {
        const Block block = std::make_shared<const std::string>(std::move(said_));
        for (Member* const member : room_->members) {
            if (member != this) member->hear(block);
        }
    }
    said_ = std::string();
    if (!answers_.empty()) transport_.write(std::move(answers_));
    answers_ = std::string();
    if (quits_) {
        say_goodbye();
        transport_.close_unread();
        return;
    }
    pay(cost);
}

void Room::Member::take(ByteView line) {
    if (line.empty()) return;
    const std::string fault = why_not_text(line);
    if (!fault.empty()) {
        refuse("not said: " + fault);
    } else if (line[0] == '/') {
        obey(line.str());
    } else {
        said_ += name_ + ": ";
        said_.append(line.data(), line.size());
        said_ += '\n';
        ++room_->counters.lines;
    }
}

void Room::Member::obey(const std::string& line) {
    const std::size_t space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    const std::string rest = line.substr(std::min(space + 1, line.size()));
    if (word == "/name") {
        rename(rest);
    } else if (word == "/who") {
        answers_ +=
            "* you are " + name_ + ", one of " + std::to_string(room_->members.size()) + " here\n";
    } else if (word == "/quit") {
        answers_ += "* goodbye, " + name_ + '\n';
        quits_ = true;
    } else {
        refuse("no such command: there are /name NAME, /who and /quit");
    }
}

void Room::Member::rename(const std::string& name) {
    if (!is_name(name, room_->options.longest_name)) {
        refuse("a name is 1 to " + std::to_string(room_->options.longest_name) +
               " letters, digits, '-', '_' and '.'");
    } else if (!room_->names.insert(name).second) {
        refuse("the name " + name + " is taken");
    } else {
        room_->names.erase(name_);
        said_ += "* " + name_ + " is " + name + " now\n";
        name_ = name;
        answers_ += "* you are " + name + " now\n";
    }
}

void Room::Member::refuse(const std::string& why) {
    ++room_->counters.refused;
    answers_ += "! " + why + '\n';
}

// ---- who says too much, and who does not read -----------------------------------------------

void Room::Member::pay(std::size_t bytes) {
    const double seconds = static_cast<double>(bytes) / static_cast<double>(room_->options.rate);
    const reactor::TimePoint now = room_->loop.time();
    paid_until_ = reactor::deadline_after(
        std::max(paid_until_, now), reactor::saturated(std::chrono::duration<double>(seconds)));
    if (paid_until_ - now <= burst) return;
    rests_ = true;
    rest_ = room_->loop.call_at(reactor::Options().label("chat: heard again"), paid_until_ - burst,
                                &Member::rested, this);
    update_reading();
}

void Room::Member::rested() {
    rests_ = false;
    update_reading();
}

void Room::Member::pause_writing() {
    is_behind_ = true;
    behind_ = room_->loop.call_later(reactor::Options().label("chat: behind for too long"),
                                     room_->options.patience, &Member::drop, this);
    update_reading();
}

void Room::Member::resume_writing() {
    is_behind_ = false;
    behind_.cancel();
    update_reading();
}

void Room::Member::update_reading() {
    if (rests_ || is_behind_) {
        transport_.pause_reading();
    } else {
        transport_.resume_reading();
    }
}

void Room::Member::drop() {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g",
                  std::chrono::duration<double>(room_->options.patience).count());
    note_dropped(std::to_string(transport_.write_buffer_size()) +
                 " bytes wait, and it has been behind for " + seconds + " s");
    transport_.abort();
    leave();
}

void Room::Member::note_dropped(const std::string& why) {
    ++room_->counters.dropped;
    const std::string name = name_.empty() ? "who was leaving" : name_;
    room_->loop.log(
        reactor::LogLevel::warning,
        "member " + name + " at " + transport_.remote_endpoint().str() + " is dropped: " + why);
}

// ---- the room -------------------------------------------------------------------------------

Room::Room(reactor::EventLoop& loop, const RoomOptions& options)
    : state_(std::make_shared<State>(loop, options)) {}

Room::~Room() = default;

std::unique_ptr<net::Protocol> Room::serve_member() {
    return std::unique_ptr<net::Protocol>(new Member(state_));
}

void Room::close(const std::string& word) {
    state_->closed = word;
    const Block block = std::make_shared<const std::string>("* " + word + '\n');
    const std::vector<Member*> members = state_->members;
    for (Member* const member : members) member->dismiss(block);
}

const RoomCounters& Room::counters() const noexcept { return state_->counters; }

}  // namespace chat
