// SPDX-License-Identifier: BSL-1.0
// The proxy in front of real servers, under the load of real clients.
#include "proxy.hpp"

#include <test/support/temporary_directory.hpp>

#include "nginx.hpp"
#include "redis.hpp"

using namespace proxy_test;
using programs::Installed;
namespace unit_test = boost::unit_test;

namespace {

/// First of all it connects once, to see whether anybody is there, and closes that again.
constexpr const char* wrk = "/usr/bin/wrk";
constexpr unsigned long long looks = 1;
constexpr const char* ab = "/usr/bin/ab";

/// A folder with a small file and a large one, and nginx before it.
struct Site {
    support::TemporaryDirectory directory;
    std::unique_ptr<nginx::Server> server;

    Site() {
        support::write_file(directory / "small", noise(1000));
        support::write_file(directory / "large", noise(1000000));
        server.reset(new nginx::Server(directory.path(), true));
    }

    /// So many answers, each of them whole.
    void check_requests(unsigned long long count, const std::string& size) {
        server->stop();
        const std::string requests = server->requests();
        BOOST_TEST(lines_in(requests) == count);
        std::string whole;
        for (unsigned long long i = 0; i < count; ++i) whole += "200 " + size + "\n";
        BOOST_TEST((requests == whole));
    }
};

Exit run(const Strings& argv) {
    const Exit exit = support::run(support::Command(argv));
    BOOST_TEST(!exit.timed_out, exit.text());
    return exit;
}

void check_ab(const std::string& file, const std::string& count, const Strings& options) {
    Site site;
    Proxy proxy({"--to", site.server->address()});
    Strings argv = {ab, "-q", "-n", count};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back("http://" + proxy.address() + "/plain/" + file);
    const Exit exit = run(argv);
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(contains(exit.out, "Failed requests:        0\n"), exit.text());
    BOOST_TEST(!contains(exit.out, "Non-2xx"), exit.text());
    const Summary summary(proxy.stop());
    summary.check_nothing_lost();
    site.check_requests(std::stoull(count), file == "small" ? "1000" : "1000000");
}

void check_redis(const std::string& listen, const Strings& how_to_connect) {
    redis::Server server;
    Proxy proxy({"--to", server.address()}, listen);
    Strings argv = {redis::benchmark, "-q"};
    for (std::string word : how_to_connect) {
        if (word == "PORT") word = proxy.port();
        if (word == "PATH") word = proxy.address().substr(5);
        argv.push_back(word);
    }
    argv.insert(argv.end(), {"-n", "20000", "-c", "50", "-P", "4", "-d", "100", "-t",
                             "ping,set,get,lpush,lrange_100,mset"});
    const Exit exit = run(argv);
    BOOST_TEST(exit.status == 0, exit.text());
    for (const char* test :
         {"PING_INLINE: ", "SET: ", "GET: ", "LRANGE_100 (", "MSET (10 keys): "}) {
        BOOST_TEST(contains(exit.out, test), exit.text());
    }
    BOOST_TEST(contains(exit.out, "requests per second"), exit.text());
    BOOST_TEST(!contains(exit.out + exit.err, "rror"), exit.text());
    const Exit ended = proxy.stop();
    BOOST_TEST(!contains(ended.err, "warning"), ended.text());
    const Summary summary(ended);
    summary.check_nothing_lost();
    BOOST_TEST(summary.forwarded == summary.accepted);
    BOOST_TEST(summary.from_clients > 20000u * 5);
    server.stop();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(proxy_servers)

BOOST_AUTO_TEST_CASE(ab_with_a_connection_for_each_request,
                     *unit_test::precondition(&nginx::is_installed) *
                         unit_test::precondition(Installed(ab))) {
    check_ab("small", "3000", {"-c", "20"});
}

BOOST_AUTO_TEST_CASE(ab_with_kept_connections_and_large_answers,
                     *unit_test::precondition(&nginx::is_installed) *
                         unit_test::precondition(Installed(ab))) {
    check_ab("large", "300", {"-c", "20", "-k"});
}

BOOST_AUTO_TEST_CASE(wrk_with_kept_connections, *unit_test::precondition(&nginx::is_installed) *
                                                    unit_test::precondition(Installed(wrk))) {
    Site site;
    Proxy proxy({"--to", site.server->address()});
    const Exit exit =
        run({wrk, "-t2", "-c64", "-d1s", "http://" + proxy.address() + "/plain/small"});
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(!contains(exit.out, "Socket errors"), exit.text());
    BOOST_TEST(!contains(exit.out, "Non-2xx"), exit.text());
    const unsigned long long requests = number_before("requests in", exit.out);
    BOOST_TEST(requests > 0u);
    const Exit ended = proxy.stop();
    const Summary summary(ended);
    BOOST_TEST(summary.open == 0u);
    BOOST_TEST(summary.accepted == 64 + looks);
    BOOST_TEST(summary.forwarded == 64 + looks);
    // It leaves in the middle of the last requests, one for each connection.
    BOOST_TEST(summary.to_targets == summary.from_clients);
    BOOST_TEST(summary.to_clients > requests * 1000);
    BOOST_TEST(summary.to_clients <= summary.from_targets);
    site.server->stop();
    const std::size_t served = lines_in(site.server->requests());
    BOOST_TEST((served >= requests && served <= requests + 64));
}

BOOST_AUTO_TEST_CASE(redis_benchmark_over_tcp,
                     *unit_test::precondition(Installed(redis::program)) *
                         unit_test::precondition(Installed(redis::benchmark))) {
    check_redis("127.0.0.1:0", {"-h", "127.0.0.1", "-p", "PORT"});
}

BOOST_AUTO_TEST_CASE(redis_benchmark_over_a_unix_socket,
                     *unit_test::precondition(Installed(redis::program)) *
                         unit_test::precondition(Installed(redis::benchmark))) {
    const support::TemporaryDirectory directory;
    check_redis("unix:" + (directory / "proxy.sock"), {"-s", "PATH"});
}

// The point of a graceful end: whoever was let in is served, whoever comes later is refused.
BOOST_AUTO_TEST_CASE(sigterm_in_the_middle_of_a_load_fails_no_request,
                     *unit_test::precondition(&nginx::is_installed) *
                         unit_test::precondition(Installed(wrk))) {
    for (const std::string file : {"small", "large"}) {
        Site site;
        Proxy proxy({"--to", site.server->address(), "--grace", "60", "--stats"});
        support::ChildProcess load(
            support::Command({wrk, "-t2", "-c32", "-d4s", "-H", "Connection: close",
                              "http://" + proxy.address() + "/plain/" + file}));
        BOOST_TEST(proxy.process().wait_for_output("Traffic: "));
        const Exit exit = proxy.stop();
        const Exit loaded = load.wait();
        const Summary summary(exit);
        BOOST_TEST(summary.closed == 0u, exit.text());
        BOOST_TEST(summary.aborted == 0u, exit.text());
        BOOST_TEST(summary.forwarded == summary.accepted);
        summary.check_nothing_lost();
        // Each of them was one request, and each of these has its whole answer.
        const unsigned long long answered = number_before("requests in", loaded.out);
        BOOST_TEST(answered + looks == summary.accepted, loaded.text());
        BOOST_TEST(!contains(loaded.out, "Non-2xx"), loaded.text());
        BOOST_TEST(contains(loaded.out, "timeout 0\n"), loaded.text());
        site.check_requests(answered, file == "small" ? "1000" : "1000000");
    }
}

BOOST_AUTO_TEST_SUITE_END()
