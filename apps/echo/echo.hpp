// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_ECHO_ECHO_HPP
#define REACTOR_ECHO_ECHO_HPP

#include <net/protocol.hpp>
#include <net/stream.hpp>
#include <net/transport.hpp>
#include <reactor/task.hpp>

#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

namespace echo {

namespace net = reactor::net;

/// Sends back what comes, as callbacks. The end of what the client sends closes the connection once
/// everything has gone back: that is what eof_received() does by itself.
class EchoProtocol final : public net::Protocol {
public:
    /// Adds the bytes that come to `count`, if there is one.
    explicit EchoProtocol(std::uint64_t* count = nullptr) : count_(count) {}

private:
    void connection_made(const net::Transport& transport) override { transport_ = transport; }
    void data_received(net::ByteView bytes) override {
        if (count_) *count_ += bytes.size();
        transport_.write(bytes);
    }
    // A client that does not read its answers is not asked for more.
    void pause_writing() override { transport_.pause_reading(); }
    void resume_writing() override { transport_.resume_reading(); }

    net::Transport transport_;
    std::uint64_t* count_;
};

/// The same as a state machine over a stream:
///
///     read ──> answer ──(sent)──> read …      end of the stream, reset, silence ──> finish
class EchoTask final : public reactor::Task<void> {
public:
    explicit EchoTask(net::Stream stream, std::uint64_t* count = nullptr)
        : stream_(std::move(stream)), count_(count) {}

private:
    reactor::Next start() override {
        return await(stream_.read(), &EchoTask::answer, &EchoTask::lost);
    }
    reactor::Next answer(std::string bytes) {
        if (bytes.empty()) return finish();
        if (count_) *count_ += bytes.size();
        stream_.write(std::move(bytes));
        return await(stream_.drain(), &EchoTask::start, &EchoTask::lost);
    }
    reactor::Next lost(const std::system_error&) { return finish(); }

    reactor::Next finally() override {
        return await(stream_.close(), &EchoTask::closed, &EchoTask::closed_badly);
    }
    reactor::Next closed() { return end(); }
    reactor::Next closed_badly(const std::system_error&) { return end(); }

    net::Stream stream_;
    std::uint64_t* count_;
};

}  // namespace echo

#endif
