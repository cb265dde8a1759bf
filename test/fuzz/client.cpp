// SPDX-License-Identifier: BSL-1.0
#include "client.hpp"

#include <net/open_connection.hpp>
#include <reactor/combinators.hpp>
#include <reactor/report.hpp>
#include <reactor/task.hpp>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace fuzz {

using reactor::Duration;
using reactor::Next;
using reactor::Promise;
using reactor::Task;
using reactor::net::Stream;

namespace {

Duration up_to(Random& random, Duration longest) {
    return random.between(Duration::zero(), longest);
}

/// Bytes in which a lost, doubled or swapped one shows.
char byte_at(std::uint64_t seed, std::size_t at) {
    std::uint64_t mixed = seed + at * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    return static_cast<char>(mixed >> 56);
}

/// What a client's two halves share.
struct Conversation {
    Conversation(const Plan& p, std::shared_ptr<Story> s)
        : plan(p), story(std::move(s)), random(p.seed) {}

    void failed(const char* what, const std::exception& error) {
        if (story->error.empty()) story->error = std::string(what) + ": " + error.what();
    }
    void wrong(const std::string& what) {
        if (story->wrong.empty()) story->wrong = what;
    }

    const Plan plan;
    const std::shared_ptr<Story> story;
    Random random;
    Stream stream;
};

///     write ──> drain ──> pause ──> write …     all written ──> its end ──> finish
class Writing final : public Task<void> {
public:
    explicit Writing(std::shared_ptr<Conversation> with) : with_(std::move(with)) {}

private:
    Next start() override { return write(); }
    Next write() {
        Story& story = *with_->story;
        const Plan& plan = with_->plan;
        const std::size_t left = plan.size - story.sent;
        if (left == 0 || with_->stream.is_closing()) return ended();
        const std::size_t size = 1 + with_->random.below(std::min(left, plan.largest_piece));
        std::string bytes(size, '\0');
        for (char& byte : bytes) byte = byte_at(plan.seed, story.sent++);
        with_->stream.write(std::move(bytes));
        if (plan.reads_late) return pause();  // nobody makes room for what would be awaited
        return await(with_->stream.drain(), &Writing::pause, &Writing::lost);
    }
    Next pause() {
        if (with_->plan.longest_pause == Duration::zero()) return yield(&Writing::write);
        return await(reactor::sleep(up_to(with_->random, with_->plan.longest_pause)),
                     &Writing::write);
    }
    Next lost(const std::system_error& error) {
        with_->failed("drain", error);
        return finish();
    }
    Next ended() {
        if (with_->story->sent == with_->plan.size && !with_->stream.is_closing()) {
            if (with_->plan.end != Plan::End::close && with_->plan.end != Plan::End::abort) {
                with_->stream.write_eof();
            }
            with_->story->sent_all = true;
        }
        return finish();
    }

    std::shared_ptr<Conversation> with_;
};

///     read ──> check ──> read …     the end, an error, enough ──> finish
class Reading final : public Task<void> {
public:
    explicit Reading(std::shared_ptr<Conversation> with) : with_(std::move(with)) {}

private:
    Next start() override {
        const bool waits = with_->plan.reads_late && !with_->story->sent_all &&
                           !with_->stream.is_closing() && ++waited_ < 1000;
        if (waits) return await(reactor::sleep(std::chrono::milliseconds(10)), &Reading::start);
        return read();
    }
    Next read() {
        reactor::net::Deadline deadline;
        if (with_->plan.limit != reactor::forever()) {
            deadline = reactor::net::Deadline(with_->plan.limit);
        }
        return await(
            with_->stream.read(1 + with_->random.below(with_->plan.largest_read), deadline),
            &Reading::received, &Reading::lost);
    }
    Next received(std::string bytes) {
        Story& story = *with_->story;
        if (bytes.empty()) {
            story.saw_end = true;
            return finish();
        }
        for (const char byte : bytes) {
            if (story.echoed == story.sent) with_->wrong("more came back than was sent");
            if (byte != byte_at(with_->plan.seed, story.echoed)) {
                with_->wrong("byte " + std::to_string(story.echoed) + " is wrong");
            }
            if (!story.wrong.empty()) return finish();
            ++story.echoed;
        }
        // Who does not half-close does not wait for an end either.
        const bool enough = story.sent_all && story.echoed == story.sent &&
                            with_->plan.end != Plan::End::half_close &&
                            with_->plan.end != Plan::End::cancel;
        return enough ? finish() : read();
    }
    Next lost(const std::system_error& error) {
        with_->failed("read", error);
        return finish();
    }

    std::shared_ptr<Conversation> with_;
    int waited_ = 0;
};

///     sleep ──> connect ──> talk: two tasks ──> close or abort ──> gone
class Talk final : public Task<void> {
public:
    Talk(Place place, std::shared_ptr<Conversation> with)
        : place_(std::move(place)), with_(std::move(with)) {}

private:
    Next start() override { return await(reactor::sleep(with_->plan.start), &Talk::connect); }
    Next connect() {
        const reactor::net::ConnectOptions options(std::chrono::seconds(300));
        return await(place_.host.empty()
                         ? reactor::net::open_connection(loop(), place_.address, options)
                         : reactor::net::open_connection(loop(), place_.host, place_.port, options),
                     &Talk::connected, &Talk::unreachable);
    }
    Next unreachable(const std::system_error& error) {
        with_->failed("connect", error);
        return finish();
    }
    Next connected(Stream stream) {
        with_->story->connected = true;
        with_->stream = std::move(stream);
        if (with_->plan.end == Plan::End::abort && with_->random.below(2) == 0) {
            // In the middle of it.
            const std::shared_ptr<Conversation> with = with_;
            abort_ = loop().call_later(up_to(with_->random, std::chrono::milliseconds(200)),
                                       [with] { with->stream.abort(); });
        }
        return await(
            reactor::gather(loop().create_task<Writing>(with_), loop().create_task<Reading>(with_)),
            &Talk::over);
    }
    Next over() { return finish(); }

    Next finally() override {
        abort_.cancel();
        if (!with_->stream) return end();
        if (with_->plan.end == Plan::End::abort) {
            with_->stream.abort();
            return end();
        }
        // An echo that has nobody to read it takes no more either: each would wait for the other.
        with_->stream.transport().set_write_timeout(std::chrono::seconds(60));
        return await(with_->stream.close(), &Talk::closed, &Talk::closed_badly);
    }
    Next closed() { return end(); }
    Next closed_badly(const std::system_error& error) {
        with_->failed("close", error);
        return end();
    }

    const Place place_;
    const std::shared_ptr<Conversation> with_;
    reactor::TimerHandle abort_;
};

const char* word(Plan::End end) {
    switch (end) {
        case Plan::End::half_close:
            return "half-close";
        case Plan::End::close:
            return "close";
        case Plan::End::abort:
            return "abort";
        case Plan::End::cancel:
            break;
    }
    return "cancel";
}

}  // namespace

Plan::Plan(Random& random)
    : start(up_to(random, std::chrono::seconds(2))),
      size(random.below(std::size_t(1) << random.below(18))),
      largest_piece(std::size_t(1) << (4 + random.below(14))),
      longest_pause(random.below(2) == 0 ? Duration::zero()
                                         : up_to(random, std::chrono::milliseconds(50))),
      largest_read(std::size_t(1) << (3 + random.below(14))),
      reads_late(random.below(5) == 0),
      limit(random.below(4) == 0 ? std::chrono::seconds(1 + random.below(30)) : reactor::forever()),
      end(static_cast<End>(random.below(4))),
      cancel_after(up_to(random, std::chrono::seconds(5))),
      seed(random.next()) {
    // So that a run stays short: a thousand pieces, and reads of a thousandth of it.
    largest_piece = std::max(largest_piece, size / 500);
    // Who does not end its half is not told of an end, and waits for what will not come.
    const bool silent = end == End::close || end == End::abort;
    if (silent) limit = std::min<reactor::Duration>(limit, std::chrono::seconds(10));
    largest_read = std::max(largest_read, size / 500 + 1);
}

Client::Client(reactor::EventLoop& loop, const Place& place, const Plan& plan)
    : plan_(plan), story_(std::make_shared<Story>()) {
    task_ = loop.create_task<Talk>(place, std::make_shared<Conversation>(plan, story_));
    if (plan.end == Plan::End::cancel) {
        const reactor::TaskHandle<void> task = task_;
        cancel_ = loop.call_later(plan.start + plan.cancel_after, [task] { task.cancel(); });
    }
}

Client::~Client() { cancel_.cancel(); }

bool Client::done() const { return task_.done(); }

std::string Client::text() const {
    std::string text = "sends " + std::to_string(plan_.size) + " bytes, ends by " + word(plan_.end);
    if (plan_.limit != reactor::forever()) text += ", limits its reads";
    if (plan_.reads_late) text += ", reads late";
    text += story_->connected ? "; connected, " : "; not connected, ";
    text += "sent " + std::to_string(story_->sent) + ", got " + std::to_string(story_->echoed) +
            " back";
    if (story_->saw_end) text += " and the end";
    if (!story_->error.empty()) text += ", error: " + story_->error;
    if (!story_->wrong.empty()) text += ", WRONG: " + story_->wrong;
    if (!task_.done()) text += ", not done: " + std::string(task_.state());
    return text;
}

}  // namespace fuzz
