// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_LOOKUP_POOL_HPP
#define REACTOR_NET_DETAIL_LOOKUP_POOL_HPP

#include <net/resolver.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace reactor {
namespace net {
namespace detail {

/// What is looked up: a host's addresses, or a service's port.
struct Question {
    enum class Kind : std::uint8_t { host, service };

    /// As messages call it: "pics.example", "service http".
    std::string str() const { return (kind == Kind::service ? "service " : "") + name; }
    friend bool operator==(const Question& a, const Question& b) noexcept {
        return a.kind == b.kind && a.name == b.name;
    }
    friend bool operator<(const Question& a, const Question& b) noexcept {
        return a.kind != b.kind ? a.kind < b.kind : a.name < b.name;
    }

    Kind kind;
    std::string name;
};

/// What a look-up has found; of a service, its port at any address.
struct LookupAnswer {
    std::vector<Endpoint> found;
    std::exception_ptr error;
};

/// Threads that make blocking look-ups. Detached, and sharing the pool with its owner, so that one
/// that hangs holds up nobody: who is not interested any more just goes. Any thread.
class LookupPool : public std::enable_shared_from_this<LookupPool> {
public:
    struct Job {
        Question question;
        std::shared_ptr<const Resolver::Lookup> lookup;
        std::function<void(const Question& question, LookupAnswer&& answer)> deliver;
    };

    /// Throws std::system_error: EAGAIN if too many jobs wait, or if there is no thread and none
    /// can be started.
    void submit(Job job);
    /// Takes a job back that has not begun; whether there was one. What it refers to is destroyed
    /// with `job`, as the caller sees fit.
    bool withdraw(const Question& question, Job& job);
    /// Drops what has not begun, and lets the threads end.
    void close() noexcept;

private:
    static long own_process() noexcept;
    void start_thread();
    void work();
    static void run(Job& job);

    bool forked() const noexcept;

    const long process_ = own_process();
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Job> jobs_;
    std::size_t threads_ = 0;
    std::size_t idle_ = 0;
    bool closed_ = false;
};

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
