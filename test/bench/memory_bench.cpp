// SPDX-License-Identifier: BSL-1.0
//
// What a million of each costs in memory: `memory_bench promises|timers|tasks [COUNT]` makes COUNT
// (1,000,000) pending promises with one callback each, armed timers or suspended tasks and prints
// "what count allocated resident": bytes for each, as handed out by malloc and as resident in the
// process. As it measures no time, `memory_bench list` is empty.
#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <malloc.h>
#include <unistd.h>

namespace {

struct Memory {
    std::size_t allocated;
    std::size_t resident;
};

Memory memory_now() {
    const struct ::mallinfo2 info = ::mallinfo2();
    std::ifstream statm("/proc/self/statm");
    std::size_t size = 0, resident = 0;
    if (!(statm >> size >> resident)) throw std::runtime_error("cannot read /proc/self/statm");
    return {info.uordblks + info.hblkhd,
            resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))};
}

/// What is there at the end beyond what was there at the start, for one of `count`.
void print(const char* what, std::size_t count, const Memory& before) {
    const Memory after = memory_now();
    const auto each = [count](std::size_t more, std::size_t less) {
        return (static_cast<double>(more) - static_cast<double>(less)) / static_cast<double>(count);
    };
    std::printf("%s %zu %.1f %.1f\n", what, count, each(after.allocated, before.allocated),
                each(after.resident, before.resident));
}

/// The caller's handles are part of the cost: nobody can complete a promise without one.
void promises(const char* what, std::size_t count) {
    reactor::EventLoop loop;
    std::size_t called = 0;
    const Memory before = memory_now();
    std::vector<reactor::Promise<int>> held;
    held.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        held.push_back(loop.create_promise<int>());
        held.back().add_done_callback([&called](const reactor::Promise<int>&) { ++called; });
    }
    print(what, count, before);
}

void timers(const char* what, std::size_t count) {
    reactor::EventLoop loop;
    std::size_t called = 0;
    const Memory before = memory_now();
    for (std::size_t i = 0; i < count; ++i) {
        loop.call_later(std::chrono::hours(1) + std::chrono::microseconds(i * 7919 % count),
                        [&called] { ++called; });
    }
    print(what, count, before);
}

/// Waits for what it is given; its own state is one number.
class Waiter : public reactor::Task<void> {
public:
    explicit Waiter(const reactor::Promise<void>& gate) : gate_(gate) {}

private:
    Next start() override { return await(gate_, &Waiter::opened); }
    Next opened() { return finish(); }

    const reactor::Promise<void>& gate_;
};

void tasks(const char* what, std::size_t count) {
    reactor::EventLoop loop;
    const reactor::Promise<void> gate = loop.create_promise<void>();
    const Memory before = memory_now();
    // Nobody holds them: the gate does, as the one who can wake them.
    for (std::size_t i = 0; i < count; ++i) {
        loop.create_task<Waiter>(gate);
        if (i % 1024 == 0) loop.run_once(reactor::Duration::zero());
    }
    loop.run_once(reactor::Duration::zero());
    print(what, count, before);
    reactor::Promise<void>(gate).set_result();
    while (loop.ready_count() != 0) loop.run_once(reactor::Duration::zero());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], "list") == 0) return 0;
    const std::size_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000000;
    const struct {
        const char* name;
        void (*run)(const char*, std::size_t);
    } kinds[] = {{"promises", promises}, {"timers", timers}, {"tasks", tasks}};
    try {
        for (const auto& kind : kinds) {
            if (argc < 2 || count == 0 || std::strcmp(argv[1], kind.name) != 0) continue;
            kind.run(kind.name, count);
            return 0;
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "memory_bench: %s\n", error.what());
        return 1;
    }
    std::fprintf(stderr, "usage: %s list | promises|timers|tasks [COUNT]\n", argv[0]);
    return 2;
}
