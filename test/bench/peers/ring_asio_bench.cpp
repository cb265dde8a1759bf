// SPDX-License-Identifier: BSL-1.0
//
// The ring of sockets on Boost.Asio: stream descriptors that are waited for, which is one
// system call less than an asynchronous read.
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/version.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <test/bench/peers/ring_workloads.hpp>

namespace {

namespace asio = boost::asio;
using asio::posix::stream_descriptor;

class Watcher {
public:
    explicit Watcher(bench::Ring& ring) : ring_(ring) {
        for (const int fd : ring.sockets()) {
            descriptors_.emplace_back(new stream_descriptor(context_, fd));
            wait(descriptors_.size() - 1);
        }
    }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;
    ~Watcher() {
        for (const auto& descriptor : descriptors_) descriptor->release();
    }

    void turn() { context_.poll(); }
    void run() { context_.run(); }

private:
    void wait(std::size_t place) {
        descriptors_[place]->async_wait(stream_descriptor::wait_read,
                                        [this, place](const boost::system::error_code& error) {
                                            if (error) return;  // the end: its wait is cancelled
                                            if (ring_.pass(place)) context_.stop();
                                            wait(place);
                                        });
    }

    bench::Ring& ring_;
    asio::io_context context_{1};  // one thread
    std::vector<std::unique_ptr<stream_descriptor>> descriptors_;
};

}  // namespace

int main(int argc, char** argv) {
    return bench::run_peer(std::string("Boost.Asio ") + BOOST_LIB_VERSION,
                           bench::ring_workloads<Watcher>("asio"), {}, argc, argv);
}
