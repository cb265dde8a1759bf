// SPDX-License-Identifier: BSL-1.0
#include "forwarder.hpp"

#include <chrono>
#include <system_error>
#include <utility>

namespace supervisor {

namespace net = reactor::net;
using reactor::Next;

namespace {

// So much of each child is printed at a time.
constexpr std::size_t piece = 16 * 1024;
// After a child's end: a pipe holds no more, unless root has made it larger, and beside it there
// is what the stream has kept.
constexpr std::size_t most_left = 1024 * 1024 + 4 * piece;
// What was in the pipe has come long before.
constexpr std::chrono::seconds shortly{1};

const char* const held_open = "another process holds its pipe open";

}  // namespace

Forwarder::Forwarder(net::Stream pipe, const reactor::Promise<net::ExitStatus>& child_end,
                     std::shared_ptr<Output> output, std::string prefix,
                     const OutputOptions& options)
    : pipe_(std::move(pipe)),
      output_(std::move(output)),
      prefix_(std::move(prefix)),
      options_(options),
      lines_(options.longest_line),
      left_(most_left),
      scope_(loop()) {
    pipe_.set_limit(piece);
    child_end.add_done_callback(scope_, &Forwarder::child_ended, this);
}

Next Forwarder::start() {
    is_reading_ = true;
    return await(pipe_.read(piece, linger_is_over_ ? net::Deadline(shortly) : net::Deadline()),
                 &Forwarder::received, &Forwarder::aborted, &Forwarder::silent, &Forwarder::lost);
}

Next Forwarder::received(std::string bytes) {
    is_reading_ = false;
    bytes_ = std::move(bytes);
    return print();
}

Next Forwarder::print() {
    if (!output_->has_room()) return await(output_->room(), &Forwarder::print);
    const bool ended = bytes_.empty();
    take(bytes_, ended);
    if (!text_.empty()) output_->write(std::move(text_));
    text_ = std::string();
    if (ended) return finish();
    if (child_has_ended_) {
        if (bytes_.size() > left_) return give_up(held_open);
        left_ -= bytes_.size();
    }
    return start();
}

/// Adds their lines to the text.
void Forwarder::take(net::ByteView bytes, bool ended) {
    const auto add = [this](net::ByteView line, bool cut) {
        text_ += prefix_;
        text_.append(line.data(), line.size());
        if (cut) text_ += " [cut: longer than " + std::to_string(options_.longest_line) + " bytes]";
        text_ += '\n';
        return true;  // go on
    };
    lines_.feed(bytes, add);
    if (ended) lines_.end(add);
}

// ---- who holds the pipe open ----------------------------------------------------------------

void Forwarder::child_ended(const reactor::Promise<net::ExitStatus>& end) {
    // That somebody else has taken the status is for the child's keeper to tell.
    if (end.error() || !end.cancelled()) child_has_ended_ = true;
    scope_.call_later(reactor::Options().label("supervisor: linger"), options_.linger,
                      &Forwarder::linger_is_over, this);
}

/// Nothing is said by time while our own output is stuck, and what has come is not printed.
void Forwarder::linger_is_over() {
    linger_is_over_ = true;
    if (is_reading_) pipe_.abort();
}

Next Forwarder::aborted(const reactor::CancelledError&) {
    if (!linger_is_over_) throw;
    return give_up(held_open);
}

Next Forwarder::silent(const reactor::TimeoutError&) { return give_up(held_open); }

Next Forwarder::lost(const std::system_error& error) { return give_up(error.what()); }

Next Forwarder::give_up(const std::string& why) {
    take(net::ByteView(), true);
    text_ += prefix_ + "[no longer read: " + why + "]\n";
    output_->write(std::move(text_));
    return finish();
}

Next Forwarder::finally() {
    pipe_.abort();
    return end();
}

}  // namespace supervisor
