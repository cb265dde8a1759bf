// SPDX-License-Identifier: BSL-1.0
#include <test/soak/stream_party.hpp>

#include <reactor/combinators.hpp>
#include <reactor/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <test/soak/protocol_party.hpp>

namespace soak {

using reactor::IncompleteReadError;
using reactor::Promise;
using reactor::TimeoutError;
using reactor::net::ByteView;
using reactor::net::Stream;
using std::chrono::milliseconds;

namespace {

/// Sends one direction. Its stream and plan are those of a task that waits for it.
class Sender final : public reactor::Task<void> {
public:
    Sender(Stream& stream, const Plan& plan, Side side, int file)
        : stream_(stream),
          content_(side == Side::client ? plan.upward : plan.downward),
          count_(side == Side::client ? plan.up : plan.down),
          ends_half_(side == Side::client && plan.ending == Ending::half_close),
          random_(plan.id * 4 + (side == Side::client ? 0 : 1)),
          file_(side == Side::server && plan.from_file ? file : -1) {}

private:
    Next start() override {
        if (file_ < 0) return send();
        return await(stream_.transport().send_file(file_, content_.first(), count_),
                     &Sender::sent_file);
    }
    Next sent_file(std::uint64_t count) {
        if (count != count_) return fail(std::runtime_error("a part of the file was sent"));
        return finish();
    }
    Next send() {
        if (stream_.is_closing()) return finish();
        if (sent_ == count_) {
            if (ends_half_) stream_.write_eof();
            return finish();
        }
        const std::size_t size = std::min<std::size_t>(
            count_ - sent_, 1 + random_.below(random_.one_in(4) ? 100000 : 5000));
        std::string bytes = content_.bytes(sent_, size);
        sent_ += size;
        const ByteView all(bytes);
        switch (random_.below(3)) {
            case 0:
                stream_.write(all);
                break;
            case 1:
                stream_.write_lines({all.from(0, size / 3), all.from(size / 3)});
                break;
            default:
                stream_.write(std::move(bytes));
                break;
        }
        return await(stream_.drain(), &Sender::send);
    }

    Stream& stream_;
    const Content content_;
    const std::size_t count_;
    const bool ends_half_;
    Random random_;
    const int file_;
    std::size_t sent_ = 0;
};

/// Receives the other one, in all the ways that a Stream has, with time limits that make some of
/// them fail: what they had must come with the next one.
class Receiver final : public reactor::Task<void> {
public:
    Receiver(Stream& stream, Ledger& ledger, const Plan& plan, Side side, std::uint64_t count,
             std::uint64_t& received)
        : stream_(stream),
          ledger_(ledger),
          plan_(plan),
          side_(side),
          count_(count),
          random_(plan.id * 4 + (side == Side::client ? 2 : 3)),
          received_(received) {}

private:
    Next start() override {
        if (random_.one_in(4)) stream_.set_limit(1 + random_.below(4096));
        return next();
    }
    Next next() {
        if (received_ >= count_) return finish();
        if (plan_.slow && side_ == Side::client && random_.one_in(4)) {
            return await(reactor::sleep(random_.up_to(milliseconds(4))), &Receiver::read);
        }
        return read();
    }
    Next read() {
        const std::size_t most = 1 + random_.below(random_.one_in(2) ? 64 * 1024 : 2000);
        const std::uint64_t all = side_ == Side::client ? plan_.down : plan_.up;
        switch (random_.below(8)) {
            case 0:
                return await(stream_.read(most, random_.up_to(milliseconds(1))), &Receiver::got,
                             &Receiver::late);
            case 1:
                return await(wait_for(stream_.read(most), random_.up_to(milliseconds(1))),
                             &Receiver::got, &Receiver::late);
            case 2:
            case 3:
                if (received_ < all) {
                    const auto left = static_cast<std::size_t>(all - received_);
                    return await(stream_.read_exactly(std::min(most, left)), &Receiver::got,
                                 &Receiver::incomplete);
                }
                break;
            default:
                break;
        }
        return await(stream_.read(most), &Receiver::got);
    }
    Next got(std::string bytes) {
        if (bytes.empty()) return finish();
        ledger_.check(plan_, side_, received_, bytes);
        received_ += bytes.size();
        return next();
    }
    Next late(const TimeoutError&) { return next(); }
    Next incomplete(const IncompleteReadError& error) {
        ledger_.check(plan_, side_, received_, error.partial);
        received_ += error.partial.size();
        return finish();
    }

    Stream& stream_;
    Ledger& ledger_;
    const Plan& plan_;
    const Side side_;
    const std::uint64_t count_;
    Random random_;
    std::uint64_t& received_;
};

}  // namespace

// ---- both sides -----------------------------------------------------------------------------

constexpr std::uint64_t StreamParty::to_the_end;

StreamParty::~StreamParty() {
    // A task that was cancelled before its first step has no other chance to say so.
    if (joined_) ledger_.leave(plan_, side_, received_, error_);
    stream_.abort();
}

void StreamParty::be_closed() {
    if (stream_) stream_.close();
}

void StreamParty::begin() {
    // Nobody is silent for so long: one that is has been forgotten.
    stream_.transport().set_idle_timeout(std::chrono::minutes(1));
}

Promise<void> StreamParty::send() {
    return loop().create_task<Sender>(std::ref(stream_), std::cref(plan_), side_, file_);
}

Promise<void> StreamParty::receive(std::uint64_t count) {
    return loop().create_task<Receiver>(std::ref(stream_), std::ref(ledger_), std::cref(plan_),
                                        side_, count, std::ref(received_));
}

reactor::Next StreamParty::both_done(Promise<void> one, Promise<void> other) {
    const std::exception_ptr first = one.error();
    const std::exception_ptr second = other.error();
    error_ = first ? first : second;
    return finish();
}

reactor::Next StreamParty::failed(std::exception_ptr error) {
    error_ = error;
    return finish();
}

reactor::Next StreamParty::finally() {
    if (!stream_) return end();
    if (!error_) error_ = error();
    // A task that was cancelled may well be in a hurry.
    if (error() && plan_.random.one_in(2)) stream_.abort();
    return await(stream_.close(), &StreamParty::closed, &StreamParty::closed_with);
}

reactor::Next StreamParty::closed() { return end(); }

reactor::Next StreamParty::closed_with(std::exception_ptr error) {
    if (!error_) error_ = error;
    return end();
}

// ---- the client -----------------------------------------------------------------------------

StreamClient::StreamClient(Ledger& ledger, int file, const Plan& plan, Promise<Stream> stream)
    : StreamParty(ledger, file, Side::client), connecting_(std::move(stream)) {
    plan_ = plan;
    plan_.random = Random(plan.id * 2);
    ledger.join(plan.id, side_, *this);
}

StreamClient::~StreamClient() {
    if (told_) return;
    ledger_.not_connected(plan_.id, std::make_exception_ptr(reactor::CancelledError("at once")));
}

reactor::Next StreamClient::start() {
    return await(std::move(connecting_), &StreamClient::connected, &StreamClient::not_connected);
}

reactor::Next StreamClient::not_connected(std::exception_ptr error) {
    told_ = true;
    ledger_.not_connected(plan_.id, error);
    return finish();
}

reactor::Next StreamClient::connected(Stream stream) {
    stream_ = std::move(stream);
    told_ = joined_ = true;
    begin();
    stream_.write(greeting(plan_.id));
    const std::uint64_t count =
        plan_.ending == Ending::client_closes ? std::uint64_t{plan_.down} : to_the_end;
    return await(gather_settled(send(), receive(count)), &StreamClient::both_done);
}

// ---- the server -----------------------------------------------------------------------------

StreamServer::StreamServer(Stream stream, Ledger& ledger, int file)
    : StreamParty(ledger, file, Side::server) {
    stream_ = std::move(stream);
}

reactor::Next StreamServer::start() {
    begin();
    return await(stream_.read_exactly(greeting_size), &StreamServer::greeted,
                 &StreamServer::stranger);
}

reactor::Next StreamServer::stranger(std::exception_ptr) {
    stream_.abort();
    return finish();
}

reactor::Next StreamServer::greeted(std::string bytes) {
    const Plan* const plan = ledger_.find(soak::greeted(bytes));
    if (!plan) return stranger(nullptr);
    plan_ = *plan;
    plan_.random = Random(plan_.id * 2 + 1);
    joined_ = ledger_.join(plan_.id, side_, *this);
    const std::uint64_t count = plan_.ending == Ending::half_close ? to_the_end
                                : plan_.ending == Ending::refusal  ? plan_.refuse_at
                                                                   : plan_.up;
    if (plan_.at_once) {
        return await(gather_settled(send(), receive(count)), &StreamServer::both_done);
    }
    return await(receive(count), &StreamServer::answer, &StreamServer::failed);
}

reactor::Next StreamServer::answer() {
    return await(send(), &StreamServer::answered, &StreamServer::failed);
}

reactor::Next StreamServer::answered() {
    switch (plan_.ending) {
        case Ending::refusal:
            stream_.transport().close_unread();
            break;
        case Ending::client_closes:
            return await(stream_.read(), &StreamServer::ended, &StreamServer::failed);
        default:
            break;
    }
    return finish();
}

reactor::Next StreamServer::ended(std::string bytes) {
    if (!bytes.empty()) ledger_.fault(text(plan_) + ": more than was sent");
    return finish();
}

}  // namespace soak
