// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_LOOKUP_POOL_HPP
#define REACTOR_NET_DETAIL_LOOKUP_POOL_HPP

#include <net/resolver.hpp>

#include <condition_variable>
#include <cstddef>
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

/// What a look-up has found.
struct LookupAnswer {
    std::vector<Endpoint> found;
    std::exception_ptr error;
};

/// Threads that make blocking look-ups. Detached, and sharing the pool with its owner, so that one
/// that hangs holds up nobody: who is not interested any more just goes. Any thread.
class LookupPool : public std::enable_shared_from_this<LookupPool> {
public:
    struct Job {
        std::string host;
        std::shared_ptr<const Resolver::Lookup> lookup;
        std::function<void(const std::string& host, LookupAnswer&& answer)> deliver;
    };

    /// Throws std::system_error: EAGAIN if too many jobs wait, or if there is no thread and none
    /// can be started.
    void submit(Job job);
    /// Takes a job back that has not begun; whether there was one.
    bool withdraw(const std::string& host);
    /// Drops what has not begun, and lets the threads end.
    void close() noexcept;

private:
    void start_thread();
    void work();
    static void run(Job& job);

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
