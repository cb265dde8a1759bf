// SPDX-License-Identifier: BSL-1.0
#include <net/server.hpp>

#include "server_fixture.hpp"

#include <reactor/combinators.hpp>
#include <reactor/task.hpp>

#include <functional>
#include <string>

using namespace served;
using reactor::net::serve_with;

namespace {

/// One answer to each line, until the end of the stream; what its client asks for otherwise.
class Answers : public reactor::Task<int> {
public:
    Answers(Stream stream, std::string greeting)
        : stream_(std::move(stream)), greeting_(std::move(greeting)) {}

private:
    Next start() override { return await(stream_.read_line(), &Answers::line); }
    Next line(std::string text) {
        if (text == "fail\n") throw std::runtime_error("as you wish");
        if (text.empty()) return await(stream_.close(), &Answers::closed);
        stream_.write(greeting_ + text);
        return start();
    }
    Next closed() { return finish(1); }

    Stream stream_;
    std::string greeting_;
};

struct StreamServerTest : ServerTest {
    explicit StreamServerTest(const std::string& selector = std::string()) : ServerTest(selector) {
        loop.set_log([this](reactor::LogLevel, const std::string& text) { log += text + "\n"; });
    }

    void start(StreamHandler handler, const ServerOptions& options = ServerOptions()) {
        server = start_server(loop, std::move(handler), any_port, options);
        address = server.endpoints().front();
    }
    std::string talk(Client& client, const std::string& bytes, std::size_t size) {
        client.send(bytes);
        std::string got;
        run_until([&] { return (got += client.received()).size() >= size; });
        return got;
    }
    /// Until the server has had a client, and none is left.
    void run_until_over() {
        run_until([&] { return server.counters().accepted > 0 && server.counters().open == 0; });
        loop.run_iterations(2);
    }

    std::string log;
};

}  // namespace

#define STREAM_TEST(name) REACTOR_LOOP_TEST_IN(StreamServerTest, name)

BOOST_AUTO_TEST_SUITE(start_server_)

STREAM_TEST(S_15_a_plain_function_is_called_for_each_client) {
    int calls = 0;
    std::vector<Stream> streams;
    start([&](Stream stream) {
        ++calls;
        BOOST_TEST(stream.transport().remote_endpoint().address() == "127.0.0.1");
        stream.write("hello");
        streams.push_back(std::move(stream));
    });
    Client& client = connect();
    BOOST_TEST(talk(client, "x", 5) == "hello");
    connect();
    run_until([&] { return calls == 2; });
    const Promise<std::string> read = streams[0].read();
    run_until([&] { return read.done(); });
    BOOST_TEST(read.result() == "x");
    streams[0].close();
    streams[1].abort();
    run_until_over();
    BOOST_TEST(client.ended());
    BOOST_TEST(log == "");
}

STREAM_TEST(S_15_a_task_is_started_for_each_client) {
    start(serve_with<Answers>(std::string("you say ")));
    Client& one = connect();
    Client& two = connect();
    BOOST_TEST(talk(one, "a\n", 10) == "you say a\n");
    BOOST_TEST(talk(two, "b\n", 10) == "you say b\n");
    BOOST_TEST(talk(one, "c\n", 10) == "you say c\n");
    one.end_sending();
    run_until([&] { return one.ended(); });
    run_until([&] { return server.counters().open == 1; });
    BOOST_TEST(talk(two, "d\n", 10) == "you say d\n");
    BOOST_TEST(log == "");
}

STREAM_TEST(S_15_a_task_that_throws_is_reported_and_the_connection_closed) {
    start(serve_with<Answers>(std::string("you say ")));
    Client& client = connect();
    client.send("a\n");
    client.send("fail\n");
    run_until_over();
    const std::vector<Report> reports = take_reports();
    BOOST_REQUIRE(reports.size() == 1u);
    BOOST_TEST(reports[0].message == "Unhandled exception in client_connected_cb");
    BOOST_TEST(reactor::describe(reports[0].exception) == "as you wish");
    // What was written before has been sent.
    std::string got;
    run_until([&] { return (got += client.received()) == "you say a\n"; });
    BOOST_TEST(client.ended());
    BOOST_TEST(!client.was_reset());
    BOOST_TEST(log == "");
    BOOST_TEST(talk(connect(), "b\n", 10) == "you say b\n");
}

STREAM_TEST(S_15_a_task_that_is_cancelled_closes_its_connection_without_a_report) {
    std::vector<reactor::TaskHandle<int>> tasks;
    start([&](Stream stream) {
        tasks.push_back(loop.create_task<Answers>(std::move(stream), "you say "));
        return tasks.back();
    });
    Client& client = connect();
    run_until([&] { return !tasks.empty(); });
    loop.run_iterations(2);
    tasks[0].cancel();
    run_until_over();
    BOOST_TEST(client.ended());
    BOOST_TEST(tasks[0].cancelled());
    BOOST_TEST(log == "");
}

STREAM_TEST(a_function_that_throws_is_a_handler_that_fails) {
    std::vector<Stream> kept;
    start([&](Stream stream) {
        kept.push_back(std::move(stream));
        throw std::runtime_error("not at home");
    });
    Client& client = connect();
    run_until_over();
    expect_report("Unhandled exception in client_connected_cb");
    BOOST_TEST(client.ended());
    kept.clear();
}

STREAM_TEST(a_handler_may_return_any_promise_or_none) {
    Promise<int> number = loop.create_promise<int>();
    start([&](Stream stream) {
        stream.close();
        return number;
    });
    connect();
    run_until_over();
    number.set_result(3);
    loop.run_iterations(3);
    start([&](Stream stream) {
        stream.close();
        return Promise<void>();
    });
    connect();
    run_until_over();
    BOOST_CHECK_THROW(StreamHandler(static_cast<void (*)(Stream)>(nullptr)), std::invalid_argument);
}

STREAM_TEST(a_handler_need_not_be_copyable_and_its_stream_may_be_dropped) {
    struct Handler {
        explicit Handler(int& count) : calls(new int*(&count)) {}
        Handler(Handler&&) = default;
        void operator()(Stream) { ++**calls; }
        std::unique_ptr<int*> calls;
    };
    int calls = 0;
    start(Handler(calls));
    Client& client = connect();
    run_until_over();
    BOOST_TEST(calls == 1);
    BOOST_TEST(client.ended());
    // Nobody has said that it was meant.
    BOOST_TEST(log.find("a Stream is destroyed that was not closed") == 0u, log);
}

STREAM_TEST(arguments_of_a_task_are_copied_for_each_client_unless_they_are_references) {
    class Counts : public reactor::Task<void> {
    public:
        Counts(Stream stream, int own, int& all, std::string& seen) : stream_(std::move(stream)) {
            seen += std::to_string(++own) + std::to_string(++all) + " ";
        }
        Next start() override { return await(stream_.close(), &Counts::closed); }
        Next closed() { return finish(); }

    private:
        Stream stream_;
    };
    int own = 0, all = 0;
    std::string seen;
    start(serve_with<Counts>(own, std::ref(all), std::ref(seen)));
    own = 50;
    all = 5;
    connect();
    connect();
    run_until([&] { return all == 7; });
    run_until_over();
    BOOST_TEST(seen == "16 17 ");
    BOOST_TEST(log == "");
}

STREAM_TEST(copies_of_a_handler_share_its_function) {
    struct Numbers {
        explicit Numbers(std::string& s) : seen(&s) {}
        void operator()(Stream stream) {
            *seen += std::to_string(++calls);
            stream.abort();
        }
        std::string* seen;
        int calls = 0;
    };
    std::string seen;
    const StreamHandler first{Numbers(seen)};
    StreamHandler copy = first;
    StreamHandler assigned = [](Stream) {};
    assigned = copy;
    for (const StreamHandler& handler : {first, copy, assigned}) {
        start(handler);
        connect();
        run_until_over();
    }
    BOOST_TEST(seen == "123");
    const Server other = start_server(loop, assigned, any_port);
    address = other.endpoints().front();
    connect();
    run_until([&] { return seen.size() == 4; });
    BOOST_TEST(seen == "1234");
    run_until([&] { return other.counters().open == 0; });
}

STREAM_TEST(the_limit_of_the_options_is_the_streams) {
    std::size_t limit = 0;
    start(
        [&](Stream stream) {
            limit = stream.limit();
            stream.abort();
        },
        ServerOptions().stream_limit(1234));
    connect();
    run_until([&] { return limit != 0; });
    BOOST_TEST(limit == 1234u);
}

// Nobody holds what a handler has returned; what it waits for is its own business.
STREAM_TEST(a_handler_whose_promise_is_broken_is_reported) {
    start([&](Stream stream) {
        const Promise<void> lost = loop.create_promise<void>();
        auto shared = std::make_shared<Stream>(std::move(stream));
        return lost.then([shared] {});
    });
    connect();
    run_until_over();
    expect_report("Unhandled exception in client_connected_cb");
}

// Fault E3 (enghitalo/vanilla#103, oven-sh/bun#35034): half-close is not the end.
STREAM_TEST(E3_a_client_that_ends_its_half_gets_the_whole_answer) {
    const std::string answer = pattern(8 << 20);
    start([&](Stream stream) {
        auto shared = std::make_shared<Stream>(std::move(stream));
        return shared->read_all(1 << 20)
            .then([this](const std::string& request) {
                BOOST_TEST(request == "request");
                return reactor::sleep(loop, milliseconds(200));
            })
            .then([shared, &answer] {
                shared->write(answer);
                return shared->close();
            });
    });
    Client& client = connect();
    client.send("request");
    client.end_sending();
    std::string got;
    bool ended = false;
    run_until([&] {
        loop.run_for(milliseconds(10));
        got += take(client.descriptor.number, 1 << 16, &ended);
        return ended;
    });
    BOOST_TEST((got == answer));
}

// Fault E4 (aio-libs/aiohttp#2895): the answer to a request that is not read to its end.
STREAM_TEST(E4_an_answer_before_the_end_of_the_request_arrives) {
    const std::string answer = pattern(2048);
    start([&](Stream stream) {
        auto shared = std::make_shared<Stream>(std::move(stream));
        return shared->read_line().then([shared, &answer](const std::string&) {
            shared->write(answer);
            return shared->close();
        });
    });
    for (int round = 0; round < 10; ++round) {
        Client& client = connect();
        std::string request = "POST\n" + std::string(1 << 20, 'u');
        run_until([&] {
            const ::ssize_t took = ::send(client.descriptor.number, request.data(), request.size(),
                                          MSG_NOSIGNAL | MSG_DONTWAIT);
            if (took > 0) request.erase(0, static_cast<std::size_t>(took));
            return request.empty() || (took < 0 && errno != EAGAIN);
        });
        BOOST_TEST(request.empty());
        std::string got;
        run_until([&] { return (got += client.received()).size() >= answer.size(); });
        BOOST_TEST((got == answer));
        client.descriptor.close();
        run_until([&] { return server.counters().open == 0; });
    }
}

BOOST_AUTO_TEST_SUITE_END()
