// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_HTTP_CLIENT_FIXTURE_HPP
#define REACTOR_TEST_NET_HTTP_CLIENT_FIXTURE_HPP

#include <boost/test/unit_test.hpp>

#include <net/http/client.hpp>
#include <reactor/epoll_selector.hpp>
#include <reactor/poll_selector.hpp>
#include <reactor/select_selector.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include <test/support/http_faults.hpp>

/// What the tests of the client share.
namespace http_client {

using namespace reactor::net;
using reactor::EventLoop;
using reactor::Selector;
using reactor::TaskHandle;
using support::HttpPeer;
using support::PeerConnection;

using Selectors =
    std::tuple<reactor::EpollSelector, reactor::PollSelector, reactor::SelectSelector>;

/// A loop on the selector of the test, and a server with all faults.
template <class S>
struct Fixture {
    HttpPeer server;
    EventLoop loop{std::unique_ptr<Selector>(new S)};

    Fixture() {
        support::add_faults(server);
        server.on("/good", [](PeerConnection& to) { to.send(support::ok_response("good")); });
    }

    Url url(const std::string& target) const { return Url::parse(server.url(target)); }
    TaskHandle<HttpResponse> get(const std::string& target, GetOptions options = GetOptions()) {
        return http_get(loop, url(target), std::move(options));
    }
    HttpResponse fetch(const std::string& target, GetOptions options = GetOptions()) {
        return loop.run_until_complete(get(target, std::move(options)));
    }
    void redirect(const std::string& from, const std::string& location,
                  const std::string& status = "302 Found") {
        server.on(from, [location, status](PeerConnection& to) {
            to.send("HTTP/1.1 " + status + "\r\nLocation: " + location +
                    "\r\nContent-Length: 0\r\n\r\n");
        });
    }
    GetOptions within(std::chrono::milliseconds time) const {
        GetOptions options;
        options.deadline = reactor::deadline_after(loop.time(), time);
        return options;
    }

    // The one HttpError that it must fail with.
    std::string refused(const std::string& target, HttpError::Kind kind,
                        GetOptions options = GetOptions()) {
        std::string what;
        BOOST_CHECK_EXCEPTION(fetch(target, std::move(options)), HttpError,
                              [&](const HttpError& error) {
                                  what = error.what();
                                  return error.kind() == kind;
                              });
        return what;
    }
};

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace http_client

#endif
