// SPDX-License-Identifier: BSL-1.0
#include <reactor/detail/trace_file.hpp>

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <reactor/event_loop.hpp>
#include <reactor/trace.hpp>

#include "forked.hpp"
#include <test/support/json.hpp>
#include <test/support/loop_test.hpp>
#include <test/support/temporary_directory.hpp>
#include <test/support/trace_reader.hpp>

using namespace support;
using reactor::EventLoop;
using reactor::Options;
using reactor::Trace;
using reactor::detail::TraceFile;

namespace {

std::string quoted(const std::string& text) {
    std::string json;
    reactor::detail::append_json(json, text);
    return json;
}

std::size_t items(const std::string& path) { return parse_json(read_file(path)).items.size(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(trace_file)

BOOST_AUTO_TEST_CASE(is_complete_after_each_write) {
    const TemporaryDirectory directory;
    const std::string path = directory / "t.json";
    write_file(path, std::string(1000, 'x'));  // is replaced
    TraceFile file(path);
    BOOST_TEST(read_file(path) == "[\n]\n");
    file.add("{\"a\":1}");
    file.add("{\"b\":2}");
    BOOST_TEST(read_file(path) == "[\n]\n");
    file.flush();
    BOOST_TEST(read_file(path) == "[\n{\"a\":1},\n{\"b\":2}\n]\n");
    for (int i = 0; i < 20000; ++i) file.add("{\"number\":" + std::to_string(i) + "}");
    BOOST_TEST(items(path) > 10000u);
    file.finish();
    file.add("{}");
    file.finish();
    BOOST_TEST(items(path) == 20002u);
    BOOST_TEST(!file.error());
}

BOOST_AUTO_TEST_CASE(a_pipe_gets_the_end_last) {
    const TemporaryDirectory directory;
    const std::string path = directory / "pipe";
    BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    std::string got;
    std::thread reader([&] { got = read_file(path); });
    {
        TraceFile file(path);
        file.add("{\"a\":1}");
        file.flush();
        file.add("{\"b\":2}");
    }
    reader.join();
    BOOST_TEST(got == "[\n{\"a\":1},\n{\"b\":2}\n]\n");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_opened_or_written_is_thrown_with_its_name) {
    const TemporaryDirectory directory;
    EventLoop loop;
    for (const std::string& path :
         {directory / "missing/t.json", directory.path(), std::string("/dev/full")}) {
        try {
            const Trace trace(loop, path);
            BOOST_ERROR("opened " + path);
        } catch (const std::system_error& error) {
            BOOST_TEST(std::string(error.what()).find("trace file " + path + ": ") == 0u,
                       error.what());
        }
    }
    const Trace trace(loop, directory / "t.json");  // none of them is left
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_told_once_and_the_loop_goes_on) {
    const TemporaryDirectory directory;
    const std::string path = directory / "t.json";
    const Forked child = forked([&] {
        const ::rlimit limit = {20000, 20000};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
        EventLoop loop;
        Trace trace(loop, path);
        int ran = 0;
        for (int i = 0; i < 5000; ++i) loop.call_soon([&] { ++ran; });
        loop.run_once();
        for (int i = 0; i < 3; ++i) loop.run_once(reactor::Duration::zero());
        if (ran != 5000) ::_exit(3);
        loop.call_soon([] { throw std::runtime_error("goes on"); });
        loop.run_once();
        try {
            trace.close();
            ::_exit(4);
        } catch (const std::system_error&) {
        }
        trace.close();
    });
    BOOST_TEST(child.status == 0, child.errors);
    const std::string told = "trace file " + path + ": File too large: the trace ends here";
    const std::size_t at = child.errors.find(told);
    BOOST_TEST(at != std::string::npos, child.errors);
    BOOST_TEST(child.errors.find(told, at + 1) == std::string::npos, child.errors);
    BOOST_TEST(child.errors.find("goes on") != std::string::npos, child.errors);
    // What was whole is still there.
    BOOST_TEST(items(path) > 50u);
    BOOST_TEST(read_file(path).size() > 19000u);
}

BOOST_AUTO_TEST_CASE(a_process_that_is_killed_leaves_a_readable_file) {
    const TemporaryDirectory directory;
    const std::string path = directory / "t.json";
    const Forked child = forked([&] {
        EventLoop loop;
        const Trace trace(loop, path);
        loop.call_soon([] {});
        loop.run_once();
        loop.call_later(seconds(60), [] {});
        loop.run_once(milliseconds(20));  // sleeps, and so writes
        ::kill(::getpid(), SIGKILL);
    });
    BOOST_TEST(child.signal == SIGKILL);
    BOOST_TEST(read_trace(path).slices.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_forked_child_writes_nothing) {
    const TemporaryDirectory directory;
    const std::string path = directory / "t.json";
    EventLoop loop;
    std::unique_ptr<Trace> trace(new Trace(loop, path));
    loop.call_soon(Options().label("mine"), [] {});
    loop.run_once();
    const Forked child = forked([&] {
        loop.call_soon(Options().label("the child's"), [] {});
        loop.run_once();
        trace.reset();
    });
    BOOST_TEST(child.status == 0, child.errors);
    BOOST_TEST(read_trace(path).slices.empty());
    trace.reset();
    BOOST_TEST(read_trace(path).slices.size() == 1u);
}

BOOST_AUTO_TEST_CASE(text_is_escaped_and_always_utf8) {
    BOOST_TEST(quoted("plain") == "\"plain\"");
    BOOST_TEST(quoted("\"\\\n\x1f\x7f/") == "\"\\\"\\\\\\u000a\\u001f\\u007f/\"");
    BOOST_TEST(quoted("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80") ==
               "\"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80\"");
    // Alone, overlong, cut short, a surrogate, beyond the end.
    for (const char* const bad : {"\xff", "\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xc3", "\xe2\x82",
                                  "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf5"}) {
        const std::string json = quoted(std::string("<") + bad + ">");
        BOOST_TEST(json.find("\\ufffd") == 2u, json);
        BOOST_TEST(json.substr(json.size() - 2) == ">\"", json);
        BOOST_CHECK_NO_THROW(parse_json(json));
    }
    std::string every;
    for (int c = 0; c < 256; ++c) every += static_cast<char>(c);
    BOOST_CHECK_NO_THROW(parse_json(quoted(every)));
    BOOST_TEST(parse_json(quoted(every.substr(0, 128))).text == every.substr(0, 128));
}

BOOST_AUTO_TEST_CASE(labels_come_back_as_they_were) {
    const TemporaryDirectory directory;
    EventLoop loop;
    {
        const Trace trace(loop, directory / "t.json");
        loop.call_soon(Options().label("a \"quoted\" \\ label\nof two lines"), [] {});
        loop.run_once();
    }
    BOOST_TEST(read_trace(directory / "t.json").slices.at(0).name ==
               "a \"quoted\" \\ label\nof two lines");
}

// Law 9: a reader that goes ends the trace, not the program.
BOOST_AUTO_TEST_CASE(a_pipe_whose_reader_has_gone_ends_the_trace_only) {
    const TemporaryDirectory directory;
    const std::string path = directory / "pipe";
    const Forked child = forked([&] {
        ::signal(SIGPIPE, SIG_DFL);
        if (::mkfifo(path.c_str(), 0600) != 0) ::_exit(2);
        const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        EventLoop loop;
        const Trace trace(loop, path);
        ::close(reader);
        int ran = 0;
        // What the log sink schedules, told of the failure before the loop sleeps, is not late.
        loop.set_log([&](reactor::LogLevel, const std::string&) {
            loop.call_soon([&] {
                ++ran;
                loop.stop();
            });
        });
        loop.call_later(std::chrono::hours(1), [] {});
        loop.run_forever();
        ::_exit(ran == 1 ? 0 : 3);
    });
    BOOST_TEST(child.signal == 0);
    BOOST_TEST(child.status == 0, child.errors);
}

BOOST_AUTO_TEST_CASE(closing_a_trace_on_another_thread_is_refused) {
    EventLoop loop;
    Trace trace(loop);
    std::string refusal;
    loop.call_soon([&] {
        std::thread([&] {
            try {
                trace.close();
            } catch (const reactor::StateError& error) {
                refusal = error.what();
            }
        }).join();
    });
    loop.run_once();
    BOOST_TEST(refusal.find("Trace::close") == 0u, refusal);
}

BOOST_AUTO_TEST_SUITE_END()
