// SPDX-License-Identifier: BSL-1.0
#include <net/open_connection.hpp>

#include "connected.hpp"

#include <reactor/task.hpp>

#include <test/support/temporary_directory.hpp>

#include <cerrno>
#include <stdexcept>
#include <vector>

using namespace connected;
using reactor::net::open_connection;
using reactor::net::Stream;
using reactor::testing::open_descriptors;

BOOST_AUTO_TEST_SUITE(open_connections)

REACTOR_LOOP_TEST(a_stream_by_host_and_port) {
    be_patient(loop);
    Listener listener(loop, any_port);
    const Promise<Socket> accepted = listener.accept();
    Stream stream = loop.run_until_complete(
        open_connection(loop, "127.0.0.1", listener.local_endpoint().port(), seconds(60)));
    Socket peer = loop.run_until_complete(accepted);
    BOOST_TEST((stream.transport().remote_endpoint() == listener.local_endpoint()));
    BOOST_TEST((stream.transport().local_endpoint() == peer.remote_endpoint()));
    stream.write("question\n");
    BOOST_TEST(loop.run_until_complete(peer.read()) == "question\n");
    loop.run_until_complete(peer.send("answer\nrest"));
    BOOST_TEST(loop.run_until_complete(stream.read_line()) == "answer\n");
    loop.run_until_complete(peer.close());
    BOOST_TEST(loop.run_until_complete(stream.read_all(100)) == "rest");
    loop.run_until_complete(stream.close());
    BOOST_TEST(loop.timer_count() == 0u);
    loop.run_until_idle();
}

// A task may wait for the connection, and be gone by then.
REACTOR_LOOP_TEST(a_task_opens_a_connection_on_the_running_loop) {
    class Asking : public reactor::Task<std::string> {
    public:
        explicit Asking(const Endpoint& to) : to_(to) {}

    private:
        Next start() override { return await(open_connection(to_), &Asking::ask); }
        Next ask(Stream stream) {
            stream_ = std::move(stream);
            stream_.write("who are you\n");
            return await(stream_.read_line(), &Asking::answered);
        }
        Next answered(std::string answer) { return finish(std::move(answer)); }
        Next finally() override {
            if (!stream_) return end();
            return await(stream_.close(), &Asking::closed);
        }
        Next closed() { return end(); }

        Endpoint to_;
        Stream stream_;
    };
    be_patient(loop);
    Listener listener(loop, any_port);
    const Promise<Socket> accepted = listener.accept();
    const Promise<std::string> answer = loop.create_task<Asking>(listener.local_endpoint());
    Socket peer = loop.run_until_complete(accepted);
    BOOST_TEST(loop.run_until_complete(peer.read()) == "who are you\n");
    loop.run_until_complete(peer.send("nobody\n"));
    BOOST_TEST(loop.run_until_complete(answer) == "nobody\n");
    BOOST_TEST(loop.run_until_complete(peer.read()) == "");
}

REACTOR_LOOP_TEST(why_there_is_no_stream) {
    be_patient(loop);
    const Refusing refusing("127.0.0.1");
    loop.run_until_idle();
    const Promise<Stream> refused = open_connection(loop, refusing.endpoint);
    BOOST_TEST(error_of(loop, refused) ==
               "connect to " + refusing.endpoint.str() + ": Connection refused");
    BOOST_TEST(code_of(refused) == ECONNREFUSED);
    const std::size_t before = open_descriptors();
    const support::TemporaryDirectory directory;
    const Promise<Stream> nothing =
        open_connection(loop, Endpoint::local_path(directory.path() + "/none"));
    loop.run_until_idle();
    BOOST_TEST(code_of(nothing) == ENOENT);
    BOOST_TEST(open_descriptors() == before);
    BOOST_CHECK_THROW(open_connection(loop, std::vector<Endpoint>()), std::invalid_argument);
    BOOST_CHECK_THROW(open_connection(loop, Endpoint()), std::invalid_argument);
    BOOST_CHECK_THROW(open_connection(any_port), StateError);  // no loop runs here
}

REACTOR_LOOP_TEST(UX_03_a_stream_by_path) {
    be_patient(loop);
    const support::TemporaryDirectory directory;
    Listener listener(loop, Endpoint::local_path(directory.path() + "/socket"));
    const Promise<Socket> accepted = listener.accept();
    Stream stream = loop.run_until_complete(open_connection(loop, listener.local_endpoint()));
    Socket peer = loop.run_until_complete(accepted);
    stream.write("echo");
    loop.run_until_complete(peer.send(loop.run_until_complete(peer.read())));
    BOOST_TEST(loop.run_until_complete(stream.read()) == "echo");
    stream.abort();
    loop.run_until_idle();
}

BOOST_AUTO_TEST_SUITE_END()
