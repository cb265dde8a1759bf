// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SOAK_STREAM_PARTY_HPP
#define REACTOR_TEST_SOAK_STREAM_PARTY_HPP

#include <net/stream.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <cstdint>
#include <exception>
#include <string>

#include <test/soak/ledger.hpp>
#include <test/soak/plan.hpp>

namespace soak {

/// One end of a connection as a task with a Stream, and a task for each direction.
class StreamParty : public reactor::Task<void>, public Party {
public:
    void be_reset() override { stream_.abort(); }
    void be_closed() override;
    void be_cancelled() override { cancel(); }

protected:
    StreamParty(Ledger& ledger, int file, Side side) : ledger_(ledger), file_(file), side_(side) {}
    ~StreamParty() override;

    /// The stream is there, and whose it is known.
    void begin();
    reactor::Promise<void> send();
    /// Up to so many bytes; to the end of the stream, which must bring as many, by default.
    reactor::Promise<void> receive(std::uint64_t count = to_the_end);
    static constexpr std::uint64_t to_the_end = static_cast<std::uint64_t>(-1);
    Next both_done(reactor::Promise<void> one, reactor::Promise<void> other);
    Next failed(std::exception_ptr error);
    Next finally() override;

    Ledger& ledger_;
    const int file_;
    const Side side_;
    Plan plan_{0, 0};
    reactor::net::Stream stream_;
    std::uint64_t received_ = 0;
    std::exception_ptr error_;
    bool joined_ = false;

private:
    Next closed();
    Next closed_with(std::exception_ptr error);
};

/// Made with the promise of its stream.
class StreamClient final : public StreamParty {
public:
    StreamClient(Ledger& ledger, int file, const Plan& plan,
                 reactor::Promise<reactor::net::Stream> stream);
    ~StreamClient() override;

private:
    Next start() override;
    Next connected(reactor::net::Stream stream);
    Next not_connected(std::exception_ptr error);

    reactor::Promise<reactor::net::Stream> connecting_;
    bool told_ = false;  // the ledger, of how it went
};

/// Made by a server.
class StreamServer final : public StreamParty {
public:
    StreamServer(reactor::net::Stream stream, Ledger& ledger, int file);

private:
    Next start() override;
    Next greeted(std::string bytes);
    Next stranger(std::exception_ptr error);
    Next answer();
    Next answered();
    Next ended(std::string bytes);
};

}  // namespace soak

#endif
