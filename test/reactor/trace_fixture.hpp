// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_TRACE_FIXTURE_HPP
#define REACTOR_TEST_TRACE_FIXTURE_HPP

#include <reactor/event_loop.hpp>
#include <reactor/handle.hpp>
#include <reactor/trace.hpp>

#include <memory>
#include <string>

#include <test/support/loop_test.hpp>
#include <test/support/temporary_directory.hpp>
#include <test/support/trace_reader.hpp>

namespace trace_test {

using namespace support;
using reactor::Duration;
using reactor::EventLoop;
using reactor::Handle;
using reactor::Options;
using reactor::TimerHandle;
using reactor::Trace;

inline Options label(const char* name) { return Options().label(name); }

/// A traced run in virtual time; what the file says of it.
struct TraceTest : support::LoopTest {
    explicit TraceTest(const std::string& selector) : support::LoopTest(selector) {
        trace.reset(new Trace(loop, path()));
    }

    TraceRead read() {
        trace.reset();
        return read_trace(path());
    }
    std::string path() const { return directory / "run.json"; }
    std::string cause_of(const std::string& name) { return read().cause_of(name); }
    void pass(Duration time) { loop.clock().advance(time); }

    support::TemporaryDirectory directory;
    std::unique_ptr<Trace> trace;
};

}  // namespace trace_test

// As REACTOR_LOOP_TEST, on a loop that is traced.
#define TRACE_TEST(case_name) REACTOR_LOOP_TEST_IN(trace_test::TraceTest, case_name)

#endif
