// SPDX-License-Identifier: BSL-1.0
#include <net/http/client.hpp>

#include <chrono>
#include <string>
#include <system_error>
#include <vector>

#include <reactor/combinators.hpp>

#include <test/support/temporary_directory.hpp>

#include "http_client_fixture.hpp"

using namespace http_client;

namespace {

std::size_t open_descriptors() { return support::names_in("/proc/self/fd").size(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(http_client_faults)

BOOST_AUTO_TEST_CASE_TEMPLATE(what_is_cut_short_or_not_http_is_an_error_that_says_where, S,
                              Selectors) {
    Fixture<S> f;
    const auto check = [&](const char* target, HttpError::Kind kind, const char* part) {
        const std::string what = f.refused(target, kind);
        BOOST_TEST(contains(what, f.server.url(target)), what);
        BOOST_TEST(contains(what, part), what);
    };
    check("/half", HttpError::Kind::incomplete, "behind 1000 bytes of body");
    check("/half-reset", HttpError::Kind::incomplete, "Connection reset by peer");
    check("/open-reset", HttpError::Kind::incomplete, "Connection reset by peer");
    check("/half-head", HttpError::Kind::incomplete, "closed");
    check("/empty", HttpError::Kind::incomplete, "before the first byte");
    check("/reset", HttpError::Kind::incomplete, "Connection reset by peer");
    check("/endless-head", HttpError::Kind::too_large, "head");
    check("/not-http", HttpError::Kind::malformed, "HTTP");
    BOOST_CHECK_EXCEPTION(f.fetch("/bad-location"), UrlError, [&](const UrlError& error) {
        return contains(error.what(), f.server.url("/bad-location"));
    });
    GetOptions small;
    small.limits.body_limit = 3;
    f.refused("/good", HttpError::Kind::too_large, small);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(https_is_refused_before_anything_is_connected, S, Selectors) {
    Fixture<S> f;
    const std::string what = f.refused("/to-https", HttpError::Kind::unsupported);
    BOOST_TEST(contains(what, "https"), what);
    GetOptions options;
    options.on_connect = [](const Url& url) { BOOST_ERROR("connects to " << url.str()); };
    BOOST_CHECK_EXCEPTION(f.loop.run_until_complete(http_get(
                              f.loop, Url::parse("https://ann:secret@127.0.0.1/"), options)),
                          HttpError,
                          [](const HttpError& error) { return !contains(error.what(), "secret"); });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(errors_of_look_up_and_connect_name_step_and_address, S, Selectors) {
    Fixture<S> f;
    const support::RefusingPort refusing;
    const std::string address = "127.0.0.1:" + std::to_string(refusing.port());
    BOOST_CHECK_EXCEPTION(
        f.loop.run_until_complete(http_get(f.loop, Url::parse("http://" + address + "/"))),
        std::system_error, [&](const std::system_error& error) {
            return error.code() == std::errc::connection_refused &&
                   contains(error.what(), "connect to " + address);
        });
    BOOST_CHECK_EXCEPTION(
        f.loop.run_until_complete(http_get(f.loop, Url::parse("http://no.such.host.invalid/"))),
        std::system_error, [&](const std::system_error& error) {
            return contains(error.what(), "resolve no.such.host.invalid");
        });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_deadline_is_for_the_whole_and_names_the_step, S, Selectors) {
    Fixture<S> f;
    for (const char* target : {"/silent", "/stalled", "/drip"}) {
        BOOST_CHECK_EXCEPTION(f.fetch(target, f.within(std::chrono::milliseconds(50))),
                              reactor::TimeoutError, [&](const reactor::TimeoutError& error) {
                                  return contains(error.what(), "read from " + f.server.address());
                              });
    }
    f.server.wait_for_ends(3);
    const support::SilentPort silent;
    const std::string address = "127.0.0.1:" + std::to_string(silent.port());
    BOOST_CHECK_EXCEPTION(
        f.loop.run_until_complete(http_get(f.loop, Url::parse("http://" + address + "/"),
                                           f.within(std::chrono::milliseconds(50)))),
        reactor::TimeoutError, [&](const reactor::TimeoutError& error) {
            return contains(error.what(), "connect to 127.0.0.1") &&
                   contains(error.what(), address);
        });
    BOOST_CHECK_THROW(f.fetch("/silent", f.within(std::chrono::milliseconds(-1))),
                      reactor::TimeoutError);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cancelling_closes_the_connection, S, Selectors) {
    Fixture<S> f;
    for (const char* target : {"/silent", "/stalled", "/drip"}) {
        const std::size_t before = f.server.requests().size();
        TaskHandle<HttpResponse> task = f.get(target);
        while (std::string(task.state()) != "read" || f.server.requests().size() == before) {
            BOOST_REQUIRE(!task.done());
            f.loop.run_once(std::chrono::milliseconds(1));
        }
        BOOST_TEST(task.cancel());
        BOOST_CHECK_THROW(f.loop.run_until_complete(task), reactor::CancelledError);
        f.server.wait_for_ends(before + 1);
    }
    // Before its first step, too.
    TaskHandle<HttpResponse> task = f.get("/good");
    BOOST_TEST(task.cancel());
    BOOST_CHECK_THROW(f.loop.run_until_complete(task), reactor::CancelledError);
    BOOST_TEST(f.loop.watch_count() == 0u);
    BOOST_TEST(f.loop.timer_count() == 0u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(many_at_once_of_all_kinds_leave_no_descriptor, S, Selectors) {
    Fixture<S> f;
    f.redirect("/moved", "/good");
    f.fetch("/good");  // what is made once for each loop is there now
    f.server.wait_for_ends(1);
    const std::size_t before = open_descriptors();
    std::vector<TaskHandle<HttpResponse>> all, hanging;
    for (int round = 0; round < 10; ++round) {
        for (const char* target : {"/good", "/half", "/half-reset", "/loop", "/moved", "/reset",
                                   "/silent", "/not-http", "/missing"}) {
            all.push_back(f.get(target));
            if (std::string(target) == "/silent") hanging.push_back(all.back());
        }
    }
    f.loop.call_later(std::chrono::milliseconds(20), [&] {
        for (TaskHandle<HttpResponse>& task : hanging) task.cancel();
    });
    const auto done = f.loop.run_until_complete(reactor::gather_settled(all));
    BOOST_TEST(done.size() == 90u);
    std::size_t good = 0;
    for (const reactor::Promise<HttpResponse>& each : done) {
        good += !each.cancelled() && !each.error() && each.result().head.status == 200;
    }
    BOOST_TEST(good == 20u);
    BOOST_TEST(f.loop.watch_count() == 0u);
    // Those of the server, in this very process, are closed by its threads.
    for (int i = 0; i < 10000 && open_descriptors() > before; ++i) {
        f.loop.run_once(std::chrono::milliseconds(1));
    }
    BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_SUITE_END()
