// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CRAWLER_PICTURE_SERVER_HPP
#define REACTOR_CRAWLER_PICTURE_SERVER_HPP

#include <net/listener.hpp>
#include <reactor/clock.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace crawler {

/// The pictures of a server, by path, each with the time its answer takes.
class Gallery {
public:
    struct Item {
        std::string png;
        reactor::Duration latency;
    };

    /// Ten pictures with the ten latencies that the crawler was first measured with, from 0.055 to
    /// 0.492 s, 1.840 s in all.
    static Gallery demo();
    /// /1.png to /count.png, all with the same latency.
    static Gallery uniform(std::size_t count, reactor::Duration latency);

    void add(const std::string& path, Item item) { items_[path] = std::move(item); }
    /// Null if there is none.
    const Item* find(const std::string& path) const;
    std::vector<std::string> paths() const;

private:
    std::map<std::string, Item> items_;
};

/// An HTTP/1.1 server for a gallery on a port of 127.0.0.1 that the system chooses: GET and HEAD,
/// kept connections. Destroying it ends its connections.
class PictureServer {
public:
    /// Listens from here on. Throws std::system_error.
    PictureServer(reactor::EventLoop& loop, Gallery gallery);
    ~PictureServer();
    PictureServer(const PictureServer&) = delete;
    PictureServer& operator=(const PictureServer&) = delete;

    /// "http://127.0.0.1:PORT"
    std::string base() const;
    /// How many requests were waiting for their answer at the same time, at the most.
    std::size_t most_open() const noexcept { return state_->most_open; }

private:
    /// What the server's tasks share with it.
    struct State {
        State(reactor::EventLoop& loop, Gallery g);

        reactor::net::Listener listener;
        Gallery gallery;
        std::size_t open = 0;
        std::size_t most_open = 0;
    };
    class Accepting;
    class Visit;

    std::shared_ptr<State> state_;
    reactor::TaskHandle<void> accepting_;
};

}  // namespace crawler

#endif
