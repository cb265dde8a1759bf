// SPDX-License-Identifier: BSL-1.0
#include "load.hpp"

#include <apps/command_line/arguments.hpp>

#include <net/open_connection.hpp>
#include <net/stream.hpp>
#include <reactor/combinators.hpp>
#include <reactor/error.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/signals.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <system_error>
#include <utility>

namespace echo {

namespace net = reactor::net;
using reactor::Next;

namespace {

// A prime: the messages of a connection, and the connections, begin at different places of the
// pattern, so that an answer that belongs to another one is noticed.
constexpr std::size_t places = 251;

std::string make_pattern(std::size_t size) {
    std::string pattern;
    pattern.reserve(size + places);
    for (std::uint32_t n = 1; pattern.size() < size + places;) {
        n = n * 1664525 + 1013904223;
        pattern += static_cast<char>(static_cast<unsigned char>(n >> 24));
    }
    return pattern;
}

}  // namespace

// ---- one connection -------------------------------------------------------------------------

/// One connection from its beginning to its end:
///
///     connect ──> connected ──> receive ──> answered ──> receive …      all answered ──> finish
///         └───────────────────────┴──(refused, reset, cut short, late)──> failed
class Load::Visitor final : public reactor::Task<void> {
public:
    Visitor(const Options& options, const std::string& pattern, Totals& totals, std::size_t number)
        : options_(options), pattern_(pattern), totals_(totals), number_(number) {}

private:
    Next start() override {
        const command_line::Address& to = options_.address;
        const net::ConnectOptions options(options_.timeout);
        return await(to.endpoint.empty() ? net::open_connection(loop(), to.host, to.port, options)
                                         : net::open_connection(loop(), to.endpoint, options),
                     &Visitor::connected, &Visitor::failed);
    }
    Next connected(net::Stream stream) {
        stream_ = std::move(stream);
        if (totals_.connected++ == 0) totals_.begun = loop().time();
        for (std::size_t i = 0; i < options_.pipeline && wants_more(); ++i) send();
        return receive();
    }

    Next receive() {
        if (answered_ == sent_) return finish();
        return await(stream_.read_exactly(options_.size, options_.timeout), &Visitor::answered,
                     &Visitor::cut_short, &Visitor::failed);
    }
    Next answered(const std::string& bytes) {
        totals_.bytes_back += bytes.size();
        if (bytes != message(answered_)) return fault("an answer differs from what was sent");
        ++answered_;
        ++totals_.round_trips;
        if (wants_more()) send();
        return receive();
    }
    Next cut_short(const reactor::IncompleteReadError& error) {
        totals_.bytes_back += error.partial.size();
        return fault("the connection was closed before all answers were there");
    }
    Next failed(const std::system_error& error) { return fault(error.what()); }
    Next fault(const std::string& what) {
        ++totals_.errors[what];
        // Not closed: a peer that takes nothing would never have all that was written.
        if (stream_) stream_.abort();
        return finish();
    }

    Next finally() override {
        if (!stream_) return end();
        return await(stream_.close(), &Visitor::closed, &Visitor::closed_badly);
    }
    Next closed() { return end(); }
    Next closed_badly(const std::system_error&) { return end(); }

    bool wants_more() const {
        if (options_.rounds > 0) return sent_ < options_.rounds;
        return loop().time() < reactor::deadline_after(totals_.begun, options_.time);
    }
    void send() {
        stream_.write(message(sent_));
        totals_.bytes_out += options_.size;
        ++sent_;
    }
    net::ByteView message(std::size_t index) const {
        return net::ByteView(pattern_).from((number_ + index) % places, options_.size);
    }

    const Options& options_;
    const std::string& pattern_;
    Totals& totals_;
    std::size_t number_;
    net::Stream stream_;
    std::size_t sent_ = 0;
    std::size_t answered_ = 0;
};

// ---- all of them ----------------------------------------------------------------------------

Load::Load(const Options& options) : options_(options), pattern_(make_pattern(options.size)) {}

Load::~Load() {
    for (const int signal : {SIGINT, SIGTERM}) loop().remove_signal_handler(signal);
}

Next Load::start() {
    for (const int signal : {SIGINT, SIGTERM}) {
        loop().add_signal_handler(signal, &Load::interrupt, this, signal);
    }
    totals_.begun = loop().time();
    for (std::size_t number = 0; number < options_.connections; ++number) {
        visitors_.push_back(loop().create_task<Visitor>(std::cref(options_), std::cref(pattern_),
                                                        std::ref(totals_), number));
    }
    return await(reactor::gather_settled(visitors_), &Load::ended);
}

void Load::interrupt(int signal) {
    interrupted_by_ = signal;
    for (reactor::TaskHandle<void>& visitor : visitors_) visitor.cancel();
}

Next Load::ended() {
    const double seconds = std::chrono::duration<double>(loop().time() - totals_.begun).count();
    std::size_t errors = 0;
    for (const auto& error : totals_.errors) {
        std::fprintf(stderr, "echo: %zu of %zu connections: %s\n", error.second,
                     options_.connections, error.first.c_str());
        errors += error.second;
    }
    std::printf(
        "Total: %.3fs, %llu round trips (%.0f/s), %llu bytes out, %llu bytes back, "
        "%zu of %zu connected, %zu errors\n",
        seconds, static_cast<unsigned long long>(totals_.round_trips),
        seconds > 0 ? static_cast<double>(totals_.round_trips) / seconds : 0.0,
        static_cast<unsigned long long>(totals_.bytes_out),
        static_cast<unsigned long long>(totals_.bytes_back), totals_.connected,
        options_.connections, errors);
    if (interrupted_by_ != 0) return finish(command_line::exit_signal + interrupted_by_);
    return finish(errors == 0 ? 0 : command_line::exit_failed);
}

}  // namespace echo
