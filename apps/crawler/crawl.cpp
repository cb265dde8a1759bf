// SPDX-License-Identifier: BSL-1.0
#include "crawl.hpp"

#include <reactor/error.hpp>

#include <cstdio>
#include <utility>
#include <vector>

namespace crawler {

namespace net = reactor::net;

namespace {

/// A URL is printed as it was given, but for bytes that would change the report or the terminal.
std::string printable(const std::string& url) {
    std::string text;
    for (const char c : url) {
        const unsigned byte = static_cast<unsigned char>(c);
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\x%02x", byte);
        text += byte < 0x20 || byte == 0x7f ? std::string(escape) : std::string(1, c);
    }
    return text;
}

}  // namespace

std::string seconds_text(reactor::Duration duration) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3fs", std::chrono::duration<double>(duration).count());
    return text;
}

Crawl::Crawl(reactor::EventLoop& loop, const Options& options)
    : loop_(loop),
      output_(options.output),
      jobs_(options.jobs),
      timeout_(options.timeout),
      begun_(loop.time()),
      waiting_(options.urls.begin(), options.urls.end()),
      give_up_(std::make_shared<std::atomic<bool>>(false)),
      done_(loop.create_promise<void>()),
      scope_(loop) {}

reactor::Promise<void> Crawl::start() {
    begun_ = loop_.time();
    start_more();
    return done_;
}

void Crawl::start_more() {
    while (running_.size() < jobs_ && !waiting_.empty()) {
        const std::string url = std::move(waiting_.front());
        waiting_.pop_front();
        start_one(url);
    }
    if (running_.empty() && waiting_.empty() && !done_.done()) done_.set_result();
}

void Crawl::start_one(const std::string& text) {
    Fetch::Order order;
    try {
        order.url = net::Url::parse(text);
    } catch (const net::UrlError& error) {
        fail(text, error.what());
        return;
    }
    order.directory = output_;
    order.name = names_.choose(order.url.path());
    order.timeout = timeout_;
    order.give_up = give_up_;
    const std::uint64_t job = ++last_job_;
    reactor::TaskHandle<Picture>& task = running_[job];
    task = loop_.create_task<Fetch>(std::move(order));
    if (running_.size() > most_at_once_) most_at_once_ = running_.size();
    task.add_done_callback(scope_, &Crawl::finished, this, job, text);
}

void Crawl::finished(std::uint64_t job, const std::string& url,
                     const reactor::Promise<Picture>& picture) {
    if (picture.cancelled()) {
        ++cancelled_;
        std::printf("URL: %s, cancelled\n", printable(url).c_str());
    } else if (const std::exception_ptr error = picture.error()) {
        fail(url, reactor::describe(error));
    } else {
        ++fetched_;
        bytes_ += picture.result().size;
        std::printf("URL: %s, took %s\n", printable(url).c_str(),
                    seconds_text(picture.result().took).c_str());
    }
    std::fflush(stdout);
    running_.erase(job);
    start_more();
}

void Crawl::fail(const std::string& url, const std::string& why) {
    ++failed_;
    std::printf("URL: %s, failed: %s\n", printable(url).c_str(), why.c_str());
    std::fflush(stdout);
}

void Crawl::cancel() {
    *give_up_ = true;
    cancelled_ += waiting_.size();
    waiting_.clear();
    for (auto& job : running_) job.second.cancel();
    start_more();
}

void Crawl::print_summary() const {
    std::printf(
        "Total: %s, %llu bytes, %zu fetched, %zu failed, %zu cancelled, at most %zu at once\n",
        seconds_text(loop_.time() - begun_).c_str(), static_cast<unsigned long long>(bytes_),
        fetched_, failed_, cancelled_, most_at_once_);
    std::fflush(stdout);
}

}  // namespace crawler
