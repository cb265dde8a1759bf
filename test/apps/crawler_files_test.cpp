// SPDX-License-Identifier: BSL-1.0
#include "crawler.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace crawler_test;
using support::HttpPeer;
using support::PeerConnection;

namespace {

void serve(HttpPeer& server, const std::string& target, const std::string& body) {
    server.on(target, [body](PeerConnection& to) { to.send(support::ok_response(body)); });
}

std::string message_of(int error) { return std::strerror(error); }

/// Lets this process see mounts of its own, which end with it. Root may always do so, others where
/// the system lets them be root in a world of their own.
bool leave_mounts_of_others() {
    static const bool left =
        ::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    // Else what is mounted here would be mounted there, too.
    return left && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

boost::test_tools::assertion_result may_mount(boost::unit_test::test_unit_id) {
    boost::test_tools::assertion_result may(leave_mounts_of_others());
    if (!may) may.message() << "no right to mount a small file system";
    return may;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(crawler_files)

// ---- names ----------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(no_url_can_name_a_file_outside_of_the_directory) {
    HttpPeer server;
    const std::string long_name(3000, 'n');
    const std::string long_end = "e." + std::string(3000, 'n');
    struct Row {
        std::string target, file;
    };
    const std::vector<Row> rows = {
        {"/..%2f..%2fetc%2fpasswd", "_._.._etc_passwd"},
        {"/%2e%2e%2f%2e%2e%2fescaped", "_._.._escaped"},
        {"/%2Fetc%2Fshadow", "_etc_shadow"},
        {"/a/b/..%5c..%5cwindows.png", "_._.._windows.png"},
        {"/%00", "_"},
        {"/zero%00.png", "zero_.png"},
        {"/line%0d%0abreak.png", "line__break.png"},
        {"/folder/", "index"},
        {"/", "index-2"},
        {"/.hidden", "_hidden"},
        {"/.part.png", "_part.png"},
        {"/%2e", "_-2"},
        {"/%2e%2e", "_."},
        {"/" + long_name, std::string(200, 'n')},
        {"/x/" + long_name, std::string(200, 'n') + "-2"},
        {"/" + long_name + ".png", std::string(196, 'n') + ".png"},
        {"/" + long_end, "e." + std::string(198, 'n')},
        {"/same.png", "same.png"},
        {"/other/same.png", "same-2.png"},
        {"/same.png?size=2", "same-3.png"},
        {"/same-2.png", "same-2-2.png"},
        {"/query?name=/../x.png", "query"},
        {"/with%20space.png", "with space.png"},
        {"/a%25b.png", "a%b.png"},
        {"/caf%c3%a9.png", "caf\xc3\xa9.png"},
    };
    const support::TemporaryDirectory directory;
    Strings arguments = {"--output", "deep/pictures", "--jobs", "1"};  // names go by order
    for (const Row& row : rows) {
        serve(server, row.target, "from " + row.target);
        arguments.push_back(server.url(row.target));
    }
    BOOST_REQUIRE(::mkdir((directory / "deep").c_str(), 0777) == 0);
    Command crawler = command(arguments);
    crawler.directory = directory.path();
    const Exit exit = support::run(crawler);

    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(support::names_in(directory / "deep/pictures").size() == rows.size());
    BOOST_TEST(support::names_in(directory.path()) == Strings{"deep"},
               boost::test_tools::per_element());
    BOOST_TEST(support::names_in(directory / "deep") == Strings{"pictures"},
               boost::test_tools::per_element());
    for (const Row& row : rows) {
        BOOST_TEST(took(outcome(exit, server.url(row.target))), exit.text());
        const std::string path = directory / "deep/pictures/" + row.file;
        BOOST_TEST_REQUIRE(::access(path.c_str(), R_OK) == 0, row.target << ": no " << row.file);
        BOOST_TEST(support::read_file(path) == "from " + row.target, row.file);
    }
}

BOOST_AUTO_TEST_CASE(files_of_a_run_before_are_replaced_as_a_whole) {
    HttpPeer server;
    const support::TemporaryDirectory directory;
    serve(server, "/a.png", "new");
    support::write_file(directory / "a.png", "something old and longer");
    const Exit exit = crawl({"--output", directory.path(), server.url("/a.png")});
    BOOST_TEST(exit.status == 0, exit.text());
    BOOST_TEST(support::read_file(directory / "a.png") == "new");

    // And stay as they are if the new one does not arrive.
    support::HttpPeer broken;
    broken.on("/a.png", [](PeerConnection& to) {
        to.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    });
    const Exit failed = crawl({"--output", directory.path(), broken.url("/a.png")});
    BOOST_TEST(failed.status == 1, failed.text());
    BOOST_TEST(support::read_file(directory / "a.png") == "new");
    BOOST_TEST(support::names_in(directory.path()).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_picture_is_as_public_as_the_umask_says) {
    HttpPeer server;
    const support::TemporaryDirectory directory;
    serve(server, "/a.png", "new");
    const ::mode_t before = ::umask(022);
    const Exit exit = crawl({"--output", directory.path(), server.url("/a.png")});
    ::umask(before);
    BOOST_TEST(exit.status == 0, exit.text());
    struct ::stat found;
    BOOST_REQUIRE(::stat((directory / "a.png").c_str(), &found) == 0);
    BOOST_TEST((found.st_mode & 0777) == 0644u);
}

// ---- directories that take no files ---------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_directory_that_cannot_be_made) {
    const support::TemporaryDirectory directory;
    support::write_file(directory / "file", "");
    const struct {
        std::string path;
        int error;
    } rows[] = {{directory / "file/pictures", ENOTDIR},
                {directory / "file", EEXIST},
                {directory / "not/there", ENOENT},
                {"/proc/self/pictures", ENOENT}};
    for (const auto& row : rows) {
        const Exit exit = crawl({"--output", row.path, "http://127.0.0.1/x.png"});
        BOOST_TEST(exit.status == 1, exit.text());
        BOOST_TEST(exit.out == "");
        BOOST_TEST(exit.err ==
                   "crawler: make the directory " + row.path + ": " + message_of(row.error) + "\n");
    }
}

BOOST_AUTO_TEST_CASE(a_directory_that_takes_no_files) {
    HttpPeer server;
    serve(server, "/a.png", "a picture");
    serve(server, "/b.png", "another one");
    const Exit exit = crawl({"--output", "/proc/self", server.url("/a.png"), server.url("/b.png")});
    BOOST_TEST(exit.status == 1, exit.text());
    for (const char* target : {"/a.png", "/b.png"}) {
        const std::string line = outcome(exit, server.url(target));
        BOOST_TEST(contains(line, "failed: create a file in /proc/self: "), line);
    }
    check_summary(exit, 0, 2, 0);
}

BOOST_AUTO_TEST_CASE(a_directory_in_the_place_of_a_picture) {
    HttpPeer server;
    const support::TemporaryDirectory directory;
    serve(server, "/a.png", "a picture");
    serve(server, "/b.png", "another one");
    BOOST_REQUIRE(::mkdir((directory / "a.png").c_str(), 0777) == 0);
    const Exit exit =
        crawl({"--output", directory.path(), server.url("/a.png"), server.url("/b.png")});
    BOOST_TEST(exit.status == 1, exit.text());
    const std::string line = outcome(exit, server.url("/a.png"));
    BOOST_TEST(contains(line, "failed: rename to " + directory / "a.png"), line);
    BOOST_TEST(contains(line, message_of(EISDIR)), line);
    BOOST_TEST(took(outcome(exit, server.url("/b.png"))), exit.text());
    BOOST_TEST(support::names_in(directory.path()) == (Strings{"a.png", "b.png"}),
               boost::test_tools::per_element());
}

// ---- no room --------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_file_larger_than_the_process_may_write) {
    HttpPeer server;
    const support::TemporaryDirectory directory;
    serve(server, "/large.png", std::string(3 * 1024 * 1024, 'x'));
    serve(server, "/small.png", "small");
    Command crawler =
        command({"--output", directory.path(), server.url("/large.png"), server.url("/small.png")});
    crawler.limits.push_back({RLIMIT_FSIZE, {1024 * 1024 + 512, 1024 * 1024 + 512}});
    crawler.ignored_signals = {SIGXFSZ};
    support::write_file(directory / "large.png", "of a run before");
    const Exit exit = support::run(crawler);
    BOOST_TEST(exit.status == 1, exit.text());
    const std::string line = outcome(exit, server.url("/large.png"));
    BOOST_TEST(contains(line, "failed: write to " + directory.path()), line);
    BOOST_TEST(contains(line, message_of(EFBIG)), line);
    BOOST_TEST(took(outcome(exit, server.url("/small.png"))), exit.text());
    BOOST_TEST(support::read_file(directory / "large.png") == "of a run before");
    BOOST_TEST(support::names_in(directory.path()) == (Strings{"large.png", "small.png"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_full_disk, *boost::unit_test::precondition(&may_mount)) {
    HttpPeer server;
    const support::TemporaryDirectory directory;
    serve(server, "/large.png", std::string(3 * 1024 * 1024, 'x'));
    serve(server, "/small.png", "small");
    BOOST_TEST_REQUIRE(::mount("none", directory.path().c_str(), "tmpfs", 0, "size=1m") == 0,
                       message_of(errno));
    // One after the other: the small one finds what the large one has left behind.
    const Exit exit = crawl({"--output", directory.path(), "--jobs", "1", server.url("/large.png"),
                             server.url("/small.png")});
    BOOST_TEST(exit.status == 1, exit.text());
    const std::string line = outcome(exit, server.url("/large.png"));
    BOOST_TEST(contains(line, "failed: write to " + directory.path()), line);
    BOOST_TEST(contains(line, message_of(ENOSPC)), line);
    BOOST_TEST(took(outcome(exit, server.url("/small.png"))), exit.text());
    BOOST_TEST(support::names_in(directory.path()) == Strings{"small.png"},
               boost::test_tools::per_element());
    BOOST_TEST(::umount2(directory.path().c_str(), MNT_DETACH) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
