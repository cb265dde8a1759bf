// SPDX-License-Identifier: BSL-1.0
#include "serve.hpp"
#include "answer.hpp"

#include <net/create_datagram_endpoint.hpp>
#include <net/datagram_protocol.hpp>
#include <reactor/combinators.hpp>
#include <reactor/signals.hpp>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <system_error>
#include <utility>

namespace udp_time {

namespace net = reactor::net;
using reactor::Next;

namespace {

// With room for the longest request that anybody sends (a packet, some fields, a signature), not
// for what else comes.
constexpr std::size_t longest_request = 1024;

ServerClock make_clock(unsigned stratum) {
    ServerClock clock;
    clock.stratum = stratum;
    ::timespec step = {0, 1};
    ::clock_getres(CLOCK_REALTIME, &step);
    clock.precision = 0;
    for (long unit = 1000000000; unit / 2 >= step.tv_nsec && step.tv_sec == 0; unit /= 2) {
        --clock.precision;
    }
    return clock;
}

}  // namespace

/// What all endpoints share.
struct Serve::Ledger {
    Ledger(reactor::EventLoop& loop, unsigned stratum)
        : clock(make_clock(stratum)),
          stop(loop.create_promise<void>()),
          closed(loop.create_promise<void>()) {}

    const ServerClock clock;
    std::size_t open = 0;  // endpoints
    std::uint64_t requests = 0;
    std::uint64_t unanswered = 0;  // of them
    std::uint64_t malformed = 0;   // what was no request
    reactor::Promise<void> stop;
    reactor::Promise<void> closed;
};

// ---- one endpoint ---------------------------------------------------------------------------

/// The whole business of a time server.
class Serve::Service final : public net::DatagramProtocol {
public:
    explicit Service(std::shared_ptr<Ledger> ledger) : ledger_(std::move(ledger)) {}

private:
    void connection_made(const net::DatagramTransport& transport) override {
        transport_ = transport;
        transport_.set_max_datagram_size(longest_request);
        ++ledger_->open;
    }
    void datagram_received(net::ByteView bytes, const net::Endpoint& from) override {
        const UnixTime received = unix_now();
        Packet request;
        if (!is_request(bytes, request)) {
            ++ledger_->malformed;
            return;
        }
        ++ledger_->requests;
        // An answer that has to wait tells a time that is over: better none.
        if (transport_.write_buffer_size() > 0) {
            ++ledger_->unanswered;
            return;
        }
        transport_.send_to(encode(make_answer(request, ledger_->clock, received, unix_now())),
                           from);
    }
    void datagram_truncated(net::ByteView, const net::Endpoint&, std::size_t) override {
        ++ledger_->malformed;
    }
    // Of an endpoint that is not connected: an answer that the system has not sent.
    void error_received(const std::system_error&) override { ++ledger_->unanswered; }
    void connection_lost(std::exception_ptr error) override {
        if (error && !ledger_->stop.done()) ledger_->stop.set_exception(error);
        if (--ledger_->open == 0) ledger_->closed.set_result();
    }

    std::shared_ptr<Ledger> ledger_;
    net::DatagramTransport transport_;
};

// ---- all of them ----------------------------------------------------------------------------

Serve::Serve(const Options& options)
    : options_(options), ledger_(std::make_shared<Ledger>(loop(), options.stratum)) {}

Serve::~Serve() {
    for (const int signal : {SIGINT, SIGTERM}) loop().remove_signal_handler(signal);
}

Next Serve::start() {
    const std::shared_ptr<Ledger> ledger = ledger_;
    const net::DatagramProtocolFactory factory = [ledger] {
        return std::unique_ptr<net::DatagramProtocol>(new Service(ledger));
    };
    std::vector<reactor::Promise<net::DatagramTransport>> opening;
    for (const net::Endpoint& at : options_.listen) {
        opening.push_back(net::create_datagram_endpoint(loop(), factory,
                                                        net::DatagramEndpointOptions().local(at)));
    }
    return await(reactor::gather(std::move(opening)), &Serve::serve);
}

Next Serve::serve(std::vector<net::DatagramTransport> endpoints) {
    endpoints_ = std::move(endpoints);
    for (const int signal : {SIGINT, SIGTERM}) {
        loop().add_signal_handler(signal, &Serve::signalled, this);
    }
    // Who reads this may send requests and signals.
    for (const net::DatagramTransport& endpoint : endpoints_) {
        std::printf("%s\n", endpoint.local_endpoint().str().c_str());
    }
    std::fflush(stdout);
    return await(ledger_->stop, &Serve::close);
}

void Serve::signalled() {
    if (!ledger_->stop.done()) {
        ledger_->stop.set_result();
    } else {
        for (const net::DatagramTransport& endpoint : endpoints_) endpoint.abort();
    }
}

Next Serve::close() {
    for (const net::DatagramTransport& endpoint : endpoints_) endpoint.close();
    return await(ledger_->closed, &Serve::ended);
}

Next Serve::ended() {
    const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
    const Ledger& ledger = *ledger_;
    std::printf("Ended: %llu requests, %llu answered, %llu unanswered; %llu datagrams malformed\n",
                number(ledger.requests), number(ledger.requests - ledger.unanswered),
                number(ledger.unanswered), number(ledger.malformed));
    std::fflush(stdout);  // a signal that comes from now on ends the process as it is
    return finish();
}

}  // namespace udp_time
