// SPDX-License-Identifier: BSL-1.0
#include "ask.hpp"
#include "reply.hpp"

#include <apps/command_line/arguments.hpp>

#include <net/backoff.hpp>
#include <net/datagram_socket.hpp>
#include <net/resolver.hpp>
#include <reactor/combinators.hpp>
#include <reactor/error.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/signals.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace udp_time {

namespace net = reactor::net;
using reactor::Next;
using reactor::TimePoint;

namespace {

// A datagram that is longer is no answer of ours.
constexpr std::size_t longest_reply = 1024;

// Requests whose answers are waited for, and servers that are heard in answer to a broadcast: so
// that neither patience nor a flood takes memory without end.
constexpr std::size_t most_attempts = 16;
constexpr std::size_t most_servers = 1024;

net::BackoffOptions pauses(reactor::Duration first) {
    // At most a minute, which is no burden to any server; or what was asked for.
    const reactor::Duration most = std::max<reactor::Duration>(first, std::chrono::minutes(1));
    return net::BackoffOptions().first(first).most(most).factor(2).jitter(0.1);
}

Timestamp make_nonce() {
    std::random_device random;
    Timestamp nonce;
    while (!nonce.known()) nonce.bits = std::uint64_t(random()) << 32 | random();
    return nonce;
}

double in_seconds(reactor::Duration length) {
    return std::chrono::duration<double>(length).count();
}

/// "pool.example:123 (192.0.2.1:123)", or the address alone if that is what was given.
std::string describe(const command_line::Address& server, const net::Endpoint& at) {
    return server.host.empty() ? at.str() : server.text + " (" + at.str() + ")";
}

}  // namespace

// ---- one address ----------------------------------------------------------------------------

/// One address, asked until it answers:
///
///     start ──> ask ──> listen ──> heard ──(the time)──> finish
///                ^        │ ^        │
///                └────────┘ └────────┘(anything else)
///                (silence)
///
/// Answers are matched with any of the last requests. The result is whether there was a time.
class Ask::Question final : public reactor::Task<bool> {
public:
    Question(const Options& options, Tally& tally, const command_line::Address& server,
             const net::Endpoint& to, TimePoint deadline)
        : options_(options),
          tally_(tally),
          server_(server),
          to_(to),
          deadline_(deadline),
          backoff_(pauses(options.retry)) {}

private:
    Next start() override {
        ++tally_.asked;
        socket_ = net::DatagramSocket(loop(), to_.family());
        // Connected, it hears no strangers, but what the network says: that nobody listens there.
        if (options_.broadcast) {
            socket_.set_broadcast(true);
        } else {
            socket_.connect(to_);
        }
        return ask();
    }

    Next ask() {
        if (attempts_.size() == most_attempts) attempts_.erase(attempts_.begin());
        Attempt attempt;
        attempt.nonce = make_nonce();
        attempt.sent = unix_now();
        attempt.sent_at = loop().time();
        attempts_.push_back(attempt);
        ++sent_;
        ++tally_.requests;
        ask_again_at_ = reactor::deadline_after(attempt.sent_at, backoff_.next());
        const std::string request = encode(make_request(attempt.nonce));
        return await(options_.broadcast ? socket_.send_to(request, to_, deadline_)
                                        : socket_.send(request, deadline_),
                     &Question::sent, &Question::silent, &Question::failed);
    }
    Next sent(std::size_t) { return listen(); }

    Next listen() {
        return await(socket_.receive_from(longest_reply, std::min(ask_again_at_, deadline_)),
                     &Question::heard, &Question::silent, &Question::failed);
    }
    Next silent(const reactor::TimeoutError&) {
        return loop().time() < deadline_ ? ask() : time_is_up();
    }
    Next heard(const net::Datagram& datagram) {
        const TimePoint now = loop().time();
        if (options_.broadcast && heard_.count(datagram.from) > 0) {
            return ignore("the server had answered already");
        }
        if (datagram.truncated) return ignore("it is too long");
        const Reply reply = judge(datagram.bytes, attempts_, now);
        if (reply.kind == Reply::Kind::stray) return ignore(reply.reason);
        if (reply.kind == Reply::Kind::answer) {
            print(reply, datagram.from);
        } else {
            tell(datagram.from, reply.reason);
        }
        if (!options_.broadcast) return finish(answers_ > 0);
        heard_.insert(datagram.from);
        const bool enough = answers_ == options_.answers && options_.answers > 0;
        return enough || heard_.size() == most_servers ? finish(true) : listen();
    }
    Next ignore(const std::string& why) {
        ++ignored_;
        ++tally_.ignored;
        last_ignored_ = why;
        return listen();
    }

    Next time_is_up() {
        if (options_.broadcast && !heard_.empty()) return finish(answers_ > 0);
        std::string reason =
            "no answer to " + std::to_string(sent_) + (sent_ == 1 ? " request" : " requests");
        if (ignored_ > 0) {
            reason += "; of " + std::to_string(ignored_) +
                      " datagrams ignored, the last one: " + last_ignored_;
        }
        tell(to_, reason);
        return finish(false);
    }
    Next failed(const std::system_error& error) {
        if (error.code() != std::errc::connection_refused) throw;
        tell(to_, "refused: nobody listens there");
        return finish(false);
    }

    Next finally() override {
        socket_.close();
        if (answers_ == 0) ++tally_.failed;
        if (!error()) return end();
        try {
            std::rethrow_exception(error());
        } catch (const std::exception& failure) {
            // Names the step and the address by itself.
            const std::string name = server_.host.empty() ? std::string() : server_.text + ": ";
            std::fprintf(stderr, "udp_time: %s%s\n", name.c_str(), failure.what());
        } catch (const reactor::CancelledError&) {
            return end();
        }
        return finish(answers_ > 0);
    }

    void print(const Reply& reply, const net::Endpoint& from) {
        ++answers_;
        ++tally_.answers;
        const char* leap = "";
        if (reply.leap == Leap::one_more) leap = ", the day has a second more";
        if (reply.leap == Leap::one_less) leap = ", the day has a second less";
        std::printf("%s: %s, offset %+.6f s, round trip %.6f s, stratum %u%s\n",
                    describe(server_, from).c_str(), utc_text(reply.time).c_str(),
                    in_seconds(reply.offset), in_seconds(reply.round_trip), reply.stratum, leap);
        std::fflush(stdout);
    }
    void tell(const net::Endpoint& of, const std::string& reason) {
        std::fprintf(stderr, "udp_time: %s: %s\n", describe(server_, of).c_str(), reason.c_str());
    }

    const Options& options_;
    Tally& tally_;
    const command_line::Address& server_;
    const net::Endpoint to_;
    const TimePoint deadline_;
    net::Backoff backoff_;
    net::DatagramSocket socket_;
    std::vector<Attempt> attempts_;
    TimePoint ask_again_at_;
    std::set<net::Endpoint> heard_;  // in answer to a broadcast
    std::size_t answers_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t ignored_ = 0;
    std::string last_ignored_;
};

// ---- one argument ---------------------------------------------------------------------------

/// All addresses of one argument:
///
///     start ──(looked up)──> ask ──(each Question done)──> asked
///
/// The result is whether one of them has told the time.
class Ask::Server final : public reactor::Task<bool> {
public:
    Server(const Options& options, Tally& tally, const command_line::Address& server,
           TimePoint deadline)
        : options_(options), tally_(tally), server_(server), deadline_(deadline) {}

private:
    Next start() override {
        if (server_.host.empty()) return ask({server_.endpoint});
        return await(net::resolve(loop(), server_.host, server_.port, deadline_), &Server::ask,
                     &Server::unknown);
    }
    Next unknown(const std::system_error& error) {
        ++tally_.failed;
        std::fprintf(stderr, "udp_time: %s\n", error.what());
        return finish(false);
    }
    Next ask(const std::vector<net::Endpoint>& addresses) {
        std::vector<reactor::TaskHandle<bool>> questions;
        for (const net::Endpoint& to : addresses) {
            questions.push_back(loop().create_task<Question>(std::cref(options_), std::ref(tally_),
                                                             std::cref(server_), to, deadline_));
        }
        return await(reactor::gather_settled(std::move(questions)), &Server::asked);
    }
    Next asked(const std::vector<reactor::Promise<bool>>& questions) {
        return finish(
            std::any_of(questions.begin(), questions.end(),
                        [](const reactor::Promise<bool>& told) { return told.result(); }));
    }

    const Options& options_;
    Tally& tally_;
    const command_line::Address& server_;
    const TimePoint deadline_;
};

// ---- all of them ----------------------------------------------------------------------------

Ask::~Ask() {
    for (const int signal : {SIGINT, SIGTERM}) loop().remove_signal_handler(signal);
}

Next Ask::start() {
    for (const int signal : {SIGINT, SIGTERM}) {
        loop().add_signal_handler(signal, &Ask::interrupt, this, signal);
    }
    const TimePoint deadline = reactor::deadline_after(loop().time(), options_.timeout);
    for (const command_line::Address& server : options_.servers) {
        servers_.push_back(loop().create_task<Server>(std::cref(options_), std::ref(tally_),
                                                      std::cref(server), deadline));
    }
    return await(reactor::gather_settled(servers_), &Ask::ended);
}

void Ask::interrupt(int signal) {
    interrupted_by_ = signal;
    for (reactor::TaskHandle<bool>& server : servers_) server.cancel();
}

Next Ask::ended(const std::vector<reactor::Promise<bool>>& servers) {
    std::printf(
        "Total: %zu addresses asked, %zu answers, %zu failed; %llu requests, %llu datagrams "
        "ignored\n",
        tally_.asked, tally_.answers, tally_.failed,
        static_cast<unsigned long long>(tally_.requests),
        static_cast<unsigned long long>(tally_.ignored));
    if (interrupted_by_ != 0) return finish(command_line::exit_signal + interrupted_by_);
    const bool all = std::all_of(servers.begin(), servers.end(),
                                 [](const reactor::Promise<bool>& s) { return s.result(); });
    return finish(all ? 0 : command_line::exit_failed);
}

}  // namespace udp_time
