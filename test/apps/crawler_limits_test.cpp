// SPDX-License-Identifier: BSL-1.0
#include "crawler.hpp"

#include <string>

using namespace crawler_test;
using support::HttpPeer;
using support::PeerConnection;

namespace {

/// Two hundred pictures, two hundred jobs, and this limit of descriptors.
struct Run {
    static constexpr std::size_t count = 200;
    HttpPeer server;
    support::TemporaryDirectory directory;
    Exit exit;

    Run(::rlim_t soft, ::rlim_t hard) {
        Strings arguments = {"--jobs", "200", "--output", directory.path()};
        for (std::size_t i = 0; i < count; ++i) {
            const std::string target = "/" + std::to_string(i) + ".png";
            server.on(target, [target](PeerConnection& to) {
                to.send(support::ok_response("picture " + target));
            });
            arguments.push_back(server.url(target));
        }
        Command crawler = command(arguments);
        crawler.limits.push_back({RLIMIT_NOFILE, {soft, hard}});
        exit = support::run(crawler);
        BOOST_TEST(exit.status == 0, exit.text());
        check_summary(exit, count, 0, 0);
        BOOST_TEST(support::names_in(directory.path()).size() == std::size_t{count});
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(crawler_limits)

BOOST_AUTO_TEST_CASE(more_jobs_than_descriptors_are_capped_and_it_says_so) {
    const Run run(64, 64);
    BOOST_TEST(contains(run.exit.err, "crawler: 200 fetches at once need more descriptors"),
               run.exit.text());
    BOOST_TEST(contains(run.exit.err, "ulimit -n"), run.exit.text());
}

BOOST_AUTO_TEST_CASE(a_soft_limit_that_may_be_raised_is_raised_without_a_word) {
    const Run run(64, 4096);
    BOOST_TEST(run.exit.err == "");
}

BOOST_AUTO_TEST_CASE(the_demo_needs_two_descriptors_for_each) {
    const support::TemporaryDirectory directory;
    Command crawler = command({"--demo", "--output", directory.path()});
    crawler.limits.push_back({RLIMIT_NOFILE, {60, 60}});
    const Exit exit = support::run(crawler);
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(contains(exit.err, "descriptors"), exit.text());
    check_summary(exit, 10, 0, 0);
}

BOOST_AUTO_TEST_SUITE_END()
