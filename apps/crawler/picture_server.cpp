// SPDX-License-Identifier: BSL-1.0
#include "picture_server.hpp"
#include "picture.hpp"

#include <net/endpoint.hpp>
#include <net/http/message.hpp>
#include <net/http/parser.hpp>
#include <net/http/url.hpp>
#include <net/socket.hpp>
#include <reactor/combinators.hpp>

#include <system_error>
#include <utility>

namespace crawler {

namespace net = reactor::net;
using reactor::Next;

// ---- pictures -------------------------------------------------------------------------------

Gallery Gallery::demo() {
    // Measured in 2015 for ten pictures on the network; kept, since they overlap so well.
    const int milliseconds[] = {55, 101, 157, 158, 162, 163, 164, 164, 224, 492};
    Gallery gallery;
    unsigned number = 0;
    for (const int latency : milliseconds) {
        ++number;
        gallery.add(
            "/picture-" + std::string(number < 10 ? "0" : "") + std::to_string(number) + ".png",
            Item{make_png(number), std::chrono::milliseconds(latency)});
    }
    return gallery;
}

Gallery Gallery::uniform(std::size_t count, reactor::Duration latency) {
    Gallery gallery;
    for (std::size_t number = 1; number <= count; ++number) {
        gallery.add("/" + std::to_string(number) + ".png",
                    Item{make_png(static_cast<unsigned>(number)), latency});
    }
    return gallery;
}

const Gallery::Item* Gallery::find(const std::string& path) const {
    const auto found = items_.find(path);
    return found == items_.end() ? nullptr : &found->second;
}

std::vector<std::string> Gallery::paths() const {
    std::vector<std::string> paths;
    for (const auto& item : items_) paths.push_back(item.first);
    return paths;
}

// ---- one connection -------------------------------------------------------------------------

/// Answers the requests of one connection, one after the other:
///
///     read ⟲ ──> answer ──(latency)──> send ──> read (kept) or finish
class PictureServer::Visit final : public reactor::Task<void> {
public:
    Visit(std::shared_ptr<State> state, net::Socket socket)
        : state_(std::move(state)), socket_(std::move(socket)) {}
    ~Visit() override { end_request(); }

private:
    static constexpr std::size_t read_size = 16 * 1024;

    Next start() override { return read(); }

    Next read() {
        // A client may keep its connection for as long as this without asking for anything.
        const reactor::TimePoint deadline = loop().time() + std::chrono::seconds(30);
        return await(socket_.read(read_size, deadline), &Visit::received, &Visit::gone);
    }
    Next received(std::string bytes) {
        if (bytes.empty()) return finish();
        pending_ += bytes;
        return take_request();
    }
    Next gone(const std::system_error&) { return finish(); }  // reset, or silent for too long

    Next take_request() {
        try {
            pending_.erase(0, request_.put(pending_.data(), pending_.size()));
        } catch (const net::HttpError& error) {
            last_ = true;
            return send(respond(400, "Bad Request", error.what()));
        }
        return request_.done() ? answer() : read();
    }

    Next answer() {
        begin_request();
        const net::RequestHead& head = request_.head();
        last_ = !request_.keep_alive();
        const bool body = head.method == "GET";
        if (!body && head.method != "HEAD") {
            return send(respond(405, "Method Not Allowed", "GET and HEAD only\n"));
        }
        const Gallery::Item* item = state_->gallery.find(head.target);
        if (!item) return send(respond(404, "Not Found", "no such picture\n"));
        net::ResponseHead response = make_head(200, "OK", item->png.size(), "image/png");
        answer_ = serialize(response) + (body ? item->png : std::string());
        return await(reactor::sleep(loop(), item->latency), &Visit::send_answer);
    }
    Next send_answer() { return send(std::move(answer_)); }

    Next send(std::string answer) {
        return await(socket_.send(std::move(answer)), &Visit::sent, &Visit::gone);
    }
    Next sent() {
        end_request();
        if (last_) return finish();
        request_.reset();
        return pending_.empty() ? read() : take_request();
    }

    Next finally() override { return await(socket_.close(), &Visit::closed); }
    Next closed() { return end(); }

    net::ResponseHead make_head(int status, const char* reason, std::size_t size,
                                const char* type) const {
        net::ResponseHead head;
        head.status = status;
        head.reason = reason;
        head.fields.add("Content-Type", type).add("Content-Length", std::to_string(size));
        head.fields.add("Connection", last_ ? "close" : "keep-alive");
        return head;
    }
    std::string respond(int status, const char* reason, const std::string& text) {
        return serialize(make_head(status, reason, text.size(), "text/plain")) + text;
    }

    void begin_request() {
        open_ = true;
        if (++state_->open > state_->most_open) state_->most_open = state_->open;
    }
    void end_request() {
        if (open_) --state_->open;
        open_ = false;
    }

    std::shared_ptr<State> state_;
    net::Socket socket_;
    net::RequestParser request_;
    std::string pending_;  // bytes of the next requests
    std::string answer_;
    bool open_ = false;
    bool last_ = false;
};

// ---- the server -----------------------------------------------------------------------------

/// Accepts connections until it is cancelled:
///
///     accept ──> accepted ──> accept …      exhausted ──(a moment)──> accept …
class PictureServer::Accepting final : public reactor::Task<void> {
public:
    explicit Accepting(std::shared_ptr<State> state) : state_(std::move(state)) {}

private:
    Next start() override { return accept(); }
    Next accept() {
        return await(state_->listener.accept(), &Accepting::accepted, &Accepting::exhausted);
    }
    Next accepted(net::Socket socket) {
        loop().create_task<Visit>(state_, std::move(socket));
        return accept();
    }
    Next exhausted(const std::system_error& error) {
        if (error.code() != std::errc::too_many_files_open &&
            error.code() != std::errc::too_many_files_open_in_system) {
            throw;
        }
        // Descriptors come back when connections end: until then accepting would only spin.
        return await(reactor::sleep(loop(), std::chrono::milliseconds(100)), &Accepting::accept);
    }

    std::shared_ptr<State> state_;
};

PictureServer::State::State(reactor::EventLoop& loop, Gallery g)
    : listener(loop, net::Endpoint::parse("127.0.0.1:0")), gallery(std::move(g)) {}

PictureServer::PictureServer(reactor::EventLoop& loop, Gallery gallery)
    : state_(std::make_shared<State>(loop, std::move(gallery))),
      accepting_(loop.create_task<Accepting>(state_)) {}

PictureServer::~PictureServer() {
    if (!accepting_.done()) accepting_.cancel();
}

std::string PictureServer::base() const {
    return "http://" + state_->listener.local_endpoint().str();
}

}  // namespace crawler
