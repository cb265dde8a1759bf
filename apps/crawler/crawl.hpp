// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CRAWLER_CRAWL_HPP
#define REACTOR_CRAWLER_CRAWL_HPP

#include "fetch.hpp"
#include "options.hpp"
#include "picture_file.hpp"

#include <reactor/event_loop.hpp>
#include <reactor/promise.hpp>
#include <reactor/scope.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace crawler {

/// Fetches a list of URLs, so many at a time, and prints a line for each as it completes and a
/// summary at the end. Lives as long as the loop runs it; a chain of callbacks:
///
///     start_more ──> a Fetch for each free job ──> finished ──> start_more … ──> done
class Crawl {
public:
    Crawl(reactor::EventLoop& loop, const Options& options);

    /// Begins; the promise is done when every URL has its line, or was left out by
    /// cancel(). Once.
    reactor::Promise<void> start();

    /// Cancels what runs and leaves out what has not begun; start()'s promise is done soon after.
    void cancel();

    void print_summary() const;
    bool all_succeeded() const noexcept { return failed_ == 0 && cancelled_ == 0; }

private:
    void start_more();
    void start_one(const std::string& url);
    void finished(std::uint64_t job, const std::string& url,
                  const reactor::Promise<Picture>& picture);
    void fail(const std::string& url, const std::string& why);

    reactor::EventLoop& loop_;
    std::string output_;
    std::size_t jobs_;
    reactor::Duration timeout_;
    reactor::TimePoint begun_;
    std::deque<std::string> waiting_;
    std::map<std::uint64_t, reactor::TaskHandle<Picture>> running_;
    std::uint64_t last_job_ = 0;
    FileNames names_;
    GiveUp give_up_;
    reactor::Promise<void> done_;
    std::size_t fetched_ = 0;
    std::size_t failed_ = 0;
    std::size_t cancelled_ = 0;
    std::uint64_t bytes_ = 0;
    std::size_t most_at_once_ = 0;
    reactor::Scope scope_;
};

/// Seconds with three decimals, as all lines show them.
std::string seconds_text(reactor::Duration duration);

}  // namespace crawler

#endif
