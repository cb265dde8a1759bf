// SPDX-License-Identifier: BSL-1.0
#include "output.hpp"

#include <net/pipe.hpp>

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace supervisor {

namespace net = reactor::net;

namespace {

[[noreturn]] void fail(const char* step) {
    throw std::system_error(errno, std::system_category(), step);
}

}  // namespace

int standard_output() {
    const int own = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (own < 0) fail("standard output");
    return own;
}

class Output::Pipe final : public net::Protocol {
public:
    explicit Pipe(std::shared_ptr<Output> output) : output_(std::move(output)) {}

private:
    void data_received(net::ByteView) override {}
    void resume_writing() override { output_->let_in(); }
    void connection_lost(std::exception_ptr error) override { output_->end(error); }
    const char* protocol_name() const noexcept override { return "supervisor: standard output"; }

    std::shared_ptr<Output> output_;
};

Output::Output(reactor::EventLoop& loop, int descriptor)
    : loop_(loop), file_(descriptor), ended_(loop.create_promise<void>()) {}

Output::~Output() {
    check_.cancel();
    if (file_ >= 0) ::close(file_);
}

reactor::Promise<std::shared_ptr<Output>> Output::open(reactor::EventLoop& loop, int descriptor) {
    const std::shared_ptr<Output> output(new Output(loop, descriptor));
    struct ::stat file;
    if (::fstat(descriptor, &file) != 0) fail("standard output");
    if (S_ISREG(file.st_mode)) {
        const auto opened = loop.create_promise<std::shared_ptr<Output>>();
        opened.set_result(output);
        return opened;
    }
    std::unique_ptr<net::Protocol> pipe(new Pipe(output));
    const auto connected = net::connect_write_pipe(loop, descriptor, std::move(pipe));
    output->file_ = -1;
    return connected.then([output](const net::Transport& transport) {
        output->transport_ = transport;
        return output;
    });
}

void Output::write(std::string lines) {
    if (ended_.done()) return;
    if (file_ >= 0) {
        write_file(lines);
    } else {
        transport_.write(std::move(lines));
    }
}

// No loop can wait for a file: it is always ready, and written as fast as memory as long as the
// system has some.
void Output::write_file(const std::string& lines) {
    for (std::size_t at = 0; at < lines.size();) {
        const ::ssize_t written = ::write(file_, lines.data() + at, lines.size() - at);
        if (written >= 0) {
            at += static_cast<std::size_t>(written);
        } else if (errno != EINTR) {
            return end(std::make_exception_ptr(
                std::system_error(errno, std::system_category(), "standard output")));
        }
    }
}

reactor::Promise<void> Output::room() {
    const auto promise = loop_.create_promise<void>();
    if (has_room()) {
        promise.set_result();
    } else {
        waiting_.push_back(promise);
        // A pause that is over before it was told ends without a word.
        check_.cancel();
        check_ = loop_.call_soon(&Output::check, this);
    }
    return promise;
}

void Output::check() {
    if (has_room()) let_in();
}

/// In the order in which they came. The first one may fill it again: then the next come back, and
/// stand before it.
void Output::let_in() {
    std::vector<reactor::Promise<void>> waiting;
    waiting.swap(waiting_);
    for (const reactor::Promise<void>& one : waiting) reactor::set_result_unless_cancelled(one);
}

void Output::hurry(reactor::Duration patience) {
    if (transport_) transport_.set_write_timeout(patience);
}

void Output::close() {
    if (file_ >= 0) return end(nullptr);
    transport_.close();
}

void Output::end(std::exception_ptr error) {
    if (ended_.done()) return;
    if (error) {
        ended_.set_exception(error);
    } else {
        ended_.set_result();
    }
    let_in();
}

}  // namespace supervisor
