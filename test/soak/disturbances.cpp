// SPDX-License-Identifier: BSL-1.0
#include <test/soak/disturbances.hpp>

#include <net/resolver.hpp>
#include <net/socket.hpp>
#include <reactor/combinators.hpp>
#include <reactor/error.hpp>
#include <reactor/task.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace soak {

using reactor::CancelledError;
using reactor::Promise;
using reactor::TimeoutError;
using reactor::net::Endpoint;
using reactor::net::Resolver;
using std::chrono::microseconds;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t pool_threads = 3;
constexpr std::size_t most_attempts = 100;  // a look-up's two for each of the clients, and more

/// Several threads wait here for each other.
class Meeting {
public:
    explicit Meeting(std::size_t count) : missing_(count) {}

    void meet() {
        std::unique_lock<std::mutex> lock(mutex_);
        if (--missing_ == 0) all_.notify_all();
        // Not for ever: a thread that could not be started must not hang the soak.
        all_.wait_for(lock, std::chrono::seconds(30), [this] { return missing_ == 0; });
    }

private:
    std::mutex mutex_;
    std::condition_variable all_;
    std::size_t missing_;
};

/// Sleeps in one state after the other, under a time limit each, until it is cancelled or done.
class Sleeper : public reactor::Task<int> {
public:
    explicit Sleeper(Random random) : random_(random) {}

private:
    Next start() override {
        if (++turns_ > 4) return finish(turns_);
        return await(wait_for(reactor::sleep(random_.up_to(milliseconds(2))), milliseconds(1)),
                     &Sleeper::start, &Sleeper::late);
    }
    Next late(const TimeoutError&) { return yield(&Sleeper::start); }
    Next finally() override { return await(reactor::sleep(microseconds(10)), &Sleeper::done); }
    Next done() { return end(); }

    Random random_;
    int turns_ = 0;
};

}  // namespace

/// The first address is of nobody: IPv6 has no server here, so that the second attempt wins.
std::vector<Endpoint> look_up(const std::string& host) {
    if (host == "nowhere.test") {
        throw reactor::net::ResolveError(host, std::make_error_code(std::errc::io_error));
    }
    return {Endpoint("::1", 0), Endpoint("127.0.0.1", 0)};
}

// ---- posts ----------------------------------------------------------------------------------

Posts::Posts(reactor::EventLoop& loop) : poster_(loop.poster()), thread_(&Posts::post_on, this) {}

Posts::~Posts() {
    end_.store(true);
    thread_.join();
}

void Posts::post_on() {
    for (Random random(1); !end_.load();) {
        busy_.store(true);
        if (on_.load()) {
            for (std::uint64_t i = random.below(8); i > 0; --i) {
                const std::uint64_t number = posted_.fetch_add(1);
                if (!poster_.post(&Posts::arrive, this, number)) return;
            }
        }
        busy_.store(false);
        // A thread that only posts would be all there is; it has no virtual time to wait in.
        std::this_thread::sleep_for(microseconds(500 + random.below(1000)));
    }
}

void Posts::arrive(std::uint64_t number) {
    if (number != arrived_) ++disorder_;
    ++arrived_;
}

// ---- the others -----------------------------------------------------------------------------

Disturbances::Disturbances(reactor::EventLoop& loop, Ledger& ledger, Sites& sites,
                           std::uint64_t seed)
    : loop_(loop),
      ledger_(ledger),
      sites_(sites),
      random_(seed),
      pool_(pool_threads, "soak"),
      posts_(loop) {
    loop.service<Resolver>().set_lookup(&look_up);
}

Disturbances::~Disturbances() {
    next_.cancel();
    end_shortage();
}

void Disturbances::go() {
    posts_.go(true);
    next();
}

void Disturbances::stop() {
    posts_.go(false);
    next_.cancel();
    next_ = reactor::TimerHandle();  // a handle keeps what it stands for
    end_shortage();
}

std::string Disturbances::state() const {
    return std::to_string(pending_) + " disturbances pending" +
           (posts_.idle() ? "" : ", posts on their way") + (shortage_ ? ", a shortage" : "");
}

void Disturbances::next() {
    next_ = loop_.call_later(random_.up_to(milliseconds(4)), &Disturbances::once, this);
}

void Disturbances::once() {
    next();
    ++ledger_.totals.disturbances;
    if (posts_.disorder() != 0) ledger_.fault("posts have come out of order");
    // First each of them, so that all there is has happened once in the warm-up.
    const std::uint64_t kind = turns_ < all_kinds ? turns_ : random_.below(all_kinds);
    ++turns_;
    switch (kind) {
        case 0:
            return job();
        case 1:
            return look_up_name();
        case 2:
            return limited_sleep();
        case 3:
            return cancelled_sleeps();
        case 4:
            return passing_client();
        case 5:
            if (turns_ <= all_kinds || random_.one_in(8)) begin_shortage();
            return;
        default:
            if (turns_ <= all_kinds || random_.one_in(16)) sites_.restart(kind - 6);
            return;
    }
}

template <class E, class T>
void Disturbances::expect(const char* what, Promise<T> promise) {
    ++pending_;
    promise.add_done_callback([this, what](const Promise<T>& done) {
        --pending_;
        const std::exception_ptr error = done.error();
        if (!error) return;
        try {
            std::rethrow_exception(error);
        } catch (const E&) {
        } catch (const CancelledError&) {
        } catch (...) {
            ledger_.fault(std::string(what) + ": " + text(error));
        }
    });
    if (random_.one_in(4)) promise.cancel();
}

/// A result that is wrong is an error of a type that nobody expects.
void Disturbances::job() {
    const std::uint64_t number = random_.below(1000);
    expect<std::domain_error>("a job", reactor::run_in_executor(loop_, pool_, [number] {
                                           if (number % 10 == 0) throw std::domain_error("meant");
                                           return number * number;
                                       }).then([number](std::uint64_t square) {
        if (square != number * number) throw std::runtime_error("a wrong result");
    }));
}

void Disturbances::look_up_name() {
    const char* const names[] = {"soak.test", "nowhere.test", "127.0.0.1"};
    const reactor::net::ResolveOptions options =
        random_.one_in(2) ? reactor::net::ResolveOptions()
                          : reactor::net::ResolveOptions(random_.up_to(milliseconds(1)));
    expect<std::system_error>("a look-up", resolve(loop_, names[random_.below(3)], 80, options));
}

void Disturbances::limited_sleep() {
    expect<TimeoutError>("a limited sleep",
                         wait_for(reactor::sleep(loop_, random_.up_to(milliseconds(3))),
                                  random_.up_to(milliseconds(3))));
}

void Disturbances::cancelled_sleeps() {
    std::vector<reactor::TaskHandle<int>> sleepers;
    for (std::uint64_t i = 1 + random_.below(5); i > 0; --i) {
        sleepers.push_back(loop_.create_task<Sleeper>(Random(random_.below(1u << 30))));
    }
    if (random_.one_in(4)) sleepers.front().cancel();
    const auto all = gather(sleepers);
    loop_.call_later(random_.up_to(milliseconds(5)), [all]() mutable { all.cancel(); });
    expect<TimeoutError>("sleepers", all);
}

/// A client who is gone before he is accepted, or says no word, or no whole one.
void Disturbances::passing_client() {
    const std::size_t site = static_cast<std::size_t>(random_.below(site_count));
    const Endpoint& at = sites_.at(site);
    const int kind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    const int fd = ::socket(static_cast<const ::sockaddr*>(at.data())->sa_family, kind, 0);
    if (fd < 0) return;  // a shortage
    ::connect(fd, static_cast<const ::sockaddr*>(at.data()), static_cast<::socklen_t>(at.size()));
    if (random_.one_in(2)) ::send(fd, "half a", 1 + random_.below(6), MSG_NOSIGNAL);
    const ::linger at_once = {random_.one_in(2), 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(fd);
}

// ---- times without descriptors --------------------------------------------------------------

/// From now on no number is free, but for a few.
void Disturbances::begin_shortage() {
    if (shortage_) return;
    ::rlimit limit;
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    const int lowest = ::fcntl(0, F_DUPFD_CLOEXEC, 0);
    if (lowest < 0) return;
    ::close(lowest);
    limit_before_ = limit.rlim_cur;
    limit.rlim_cur = static_cast<::rlim_t>(lowest) + random_.below(4);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    shortage_ = true;
    ledger_.shortage(true);
    shortage_end_ =
        loop_.call_later(milliseconds(random_.below(60)), &Disturbances::end_shortage, this);
}

void Disturbances::end_shortage() {
    shortage_end_.cancel();
    shortage_end_ = reactor::TimerHandle();
    if (!shortage_) return;
    ::rlimit limit;
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit_before_;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    shortage_ = false;
    ledger_.shortage(false);
}

// ---- before a comparison --------------------------------------------------------------------

void Disturbances::fill_up() {
    fill_threads();
    // As many sockets as there can be attempts to connect: Asio keeps something for each.
    std::vector<reactor::net::Socket> sockets;
    std::vector<Promise<void>> connected;
    for (std::size_t i = 0; i < most_attempts; ++i) {
        sockets.emplace_back(loop_);
        connected.push_back(sockets.back().connect(sites_.at(0)));
    }
    loop_.run_until_complete(gather(connected));
    std::vector<reactor::TimerHandle> timers;
    for (int i = 0; i < 2048; ++i) {
        timers.push_back(loop_.call_later(std::chrono::hours(1), [] {}));
    }
    for (reactor::TimerHandle& timer : timers) timer.cancel();
}

void Disturbances::fill_threads() {
    const auto looking = std::make_shared<Meeting>(Resolver::max_threads);
    Resolver& resolver = loop_.service<Resolver>();
    resolver.set_lookup([looking](const std::string& host) {
        looking->meet();
        return look_up(host);
    });
    std::vector<Promise<std::vector<Endpoint>>> found;
    for (std::size_t i = 0; i < Resolver::max_threads; ++i) {
        found.push_back(resolver.resolve("meeting-" + std::to_string(i) + ".test", 80));
    }
    loop_.run_until_complete(gather(found));
    resolver.set_lookup(&look_up);

    const auto working = std::make_shared<Meeting>(pool_threads);
    std::vector<Promise<void>> worked;
    for (std::size_t i = 0; i < pool_threads; ++i) {
        worked.push_back(reactor::run_in_executor(loop_, pool_, [working] { working->meet(); }));
    }
    loop_.run_until_complete(gather(worked));
}

}  // namespace soak
