// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SOAK_DISTURBANCES_HPP
#define REACTOR_TEST_SOAK_DISTURBANCES_HPP

#include <net/endpoint.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/executor.hpp>
#include <reactor/handle.hpp>
#include <reactor/promise.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <test/soak/ledger.hpp>
#include <test/soak/random.hpp>
#include <test/soak/sites.hpp>

namespace soak {

/// What a name of the soak stands for; asked on the resolver's threads.
std::vector<reactor::net::Endpoint> look_up(const std::string& host);

/// Posts to the loop from a thread of its own, as long as it shall.
class Posts {
public:
    explicit Posts(reactor::EventLoop& loop);
    ~Posts();
    Posts(const Posts&) = delete;
    Posts& operator=(const Posts&) = delete;

    void go(bool on) { on_.store(on); }
    /// Whether all that was posted has arrived, in order, and no more will.
    bool idle() const { return !busy_.load() && arrived_ == posted_.load(); }
    std::uint64_t disorder() const noexcept { return disorder_; }

private:
    void post_on();
    void arrive(std::uint64_t number);

    const reactor::Poster poster_;
    std::atomic<bool> on_{false}, end_{false}, busy_{false};
    std::atomic<std::uint64_t> posted_{0};
    std::uint64_t arrived_ = 0, disorder_ = 0;
    std::thread thread_;
};

/// Everything else that a program does meanwhile: jobs on threads, look-ups, timers, tasks that are
/// cancelled, time limits, servers that are restarted, and times without descriptors. Owned by
/// main(); on the loop's thread.
class Disturbances {
public:
    Disturbances(reactor::EventLoop& loop, Ledger& ledger, Sites& sites, std::uint64_t seed);
    ~Disturbances();
    Disturbances(const Disturbances&) = delete;
    Disturbances& operator=(const Disturbances&) = delete;

    void go();
    /// Begins nothing more, and ends what a limit keeps.
    void stop();
    /// Each kind has had its turn.
    bool complete() const noexcept { return turns_ >= all_kinds; }
    bool idle() const { return pending_ == 0 && !shortage_ && posts_.idle(); }
    std::string state() const;
    /// Before a comparison: all threads are there that there ever will be, and what keeps its size
    /// of its busiest moment has had that, so that neither is a difference. Begins connections.
    void fill_up();

private:
    static constexpr std::uint64_t all_kinds = 6 + site_count;

    void fill_threads();
    void next();
    void once();
    void job();
    void look_up_name();
    void limited_sleep();
    void cancelled_sleeps();
    void passing_client();
    void begin_shortage();
    void end_shortage();
    /// Counts it until it is done; an error that is not of type E is a fault.
    template <class E, class T>
    void expect(const char* what, reactor::Promise<T> promise);

    reactor::EventLoop& loop_;
    Ledger& ledger_;
    Sites& sites_;
    Random random_;
    reactor::ThreadPool pool_;
    Posts posts_;
    std::uint64_t turns_ = 0;
    std::size_t pending_ = 0;
    bool shortage_ = false;
    std::uint64_t limit_before_ = 0;
    reactor::TimerHandle next_;
    reactor::TimerHandle shortage_end_;
};

}  // namespace soak

#endif
