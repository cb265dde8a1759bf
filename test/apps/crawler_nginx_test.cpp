// SPDX-License-Identifier: BSL-1.0
#include "crawler.hpp"

#include <algorithm>
#include <string>

#include <test/support/png.hpp>

#include "nginx.hpp"

using namespace crawler_test;

namespace {

/// The pictures of the folder, one of more than 5 MiB, and an empty file.
struct Pictures {
    support::TemporaryDirectory directory;
    Strings names;

    Pictures() {
        const std::string here = __FILE__;
        const std::string folder = here.substr(0, here.rfind('/')) + "/pictures";
        for (const std::string& name : support::names_in(folder)) {
            support::write_file(directory / name, support::read_file(folder + "/" + name));
        }
        // Every byte value, in no order that repeats soon.
        std::string noise;
        for (std::uint32_t n = 1; noise.size() < 5 * 1024 * 1024 + 1000;) {
            n = n * 1664525 + 1013904223;
            noise += static_cast<char>(static_cast<unsigned char>(n >> 24));
        }
        const std::string large =
            support::png_with_chunk(support::read_file(directory / "plasma.png"), "noIs", noise);
        BOOST_TEST(support::png_fault(large) == "");
        support::write_file(directory / "large.png", large);
        support::write_file(directory / "empty.png", "");
        names = support::names_in(directory.path());
    }
};

/// The checksums of files, by a program that has nothing to do with ours.
Strings sha256(const std::string& directory, const Strings& names) {
    Strings argv = {"sha256sum", "--"};
    argv.insert(argv.end(), names.begin(), names.end());
    Command command(argv);
    command.directory = directory;
    const Exit exit = support::run(command);
    BOOST_TEST_REQUIRE(exit.status == 0, exit.text());
    return exit.lines();
}

void check_fetched_from(const std::string& folder, const std::string& framing) {
    const Pictures pictures;
    nginx::Server server(pictures.directory.path());
    const support::TemporaryDirectory directory;
    Strings arguments = {"--output", directory.path()};
    for (const std::string& name : pictures.names) arguments.push_back(server.url(folder + name));
    const Exit exit = crawl(arguments);
    const std::string said = server.stop();

    BOOST_TEST(exit.status == 0, exit.text() << "\n" << said);
    for (const std::string& name : pictures.names) {
        BOOST_TEST(took(outcome(exit, server.url(folder + name))), exit.text());
    }
    check_summary(exit, pictures.names.size(), 0, 0);
    BOOST_TEST(support::names_in(directory.path()) == pictures.names,
               boost::test_tools::per_element());
    for (const std::string& name : pictures.names) {
        BOOST_TEST(
            (support::read_file(directory / name) == support::read_file(pictures.directory / name)),
            framing << ": " << name);
    }
    BOOST_TEST(sha256(directory.path(), pictures.names) ==
                   sha256(pictures.directory.path(), pictures.names),
               boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(crawler_nginx)

BOOST_AUTO_TEST_CASE(the_pictures_are_of_every_kind) {
    const Pictures pictures;
    BOOST_TEST(pictures.names.size() >= 12u);
    for (const char* ending : {".png", ".jpg", ".gif", ".svg"}) {
        BOOST_TEST(std::count_if(
                       pictures.names.begin(), pictures.names.end(),
                       [ending](const std::string& name) { return contains(name, ending); }) >= 1);
    }
    BOOST_TEST(contains(support::read_file(pictures.directory / "blank_lines.png"), "\r\n\r\n"));
    BOOST_TEST(support::read_file(pictures.directory / "large.png").size() > 5u * 1024 * 1024);
    BOOST_TEST(support::read_file(pictures.directory / "empty.png") == "");
}

BOOST_AUTO_TEST_CASE(pictures_with_a_length_arrive_byte_for_byte,
                     *boost::unit_test::precondition(&nginx::is_installed)) {
    check_fetched_from("/plain/", "Content-Length");
}

BOOST_AUTO_TEST_CASE(pictures_in_chunks_arrive_byte_for_byte,
                     *boost::unit_test::precondition(&nginx::is_installed)) {
    check_fetched_from("/chunked/", "chunks and a trailer");
}

BOOST_AUTO_TEST_CASE(pictures_that_end_with_the_connection_arrive_byte_for_byte,
                     *boost::unit_test::precondition(&nginx::is_installed)) {
    check_fetched_from("/until-close/", "no length");
}

BOOST_AUTO_TEST_CASE(what_is_not_there_or_not_allowed_has_its_line,
                     *boost::unit_test::precondition(&nginx::is_installed)) {
    const Pictures pictures;
    nginx::Server server(pictures.directory.path());
    const support::TemporaryDirectory directory;
    const std::string there = server.url("/plain/still.gif"), missing = server.url("/plain/no.gif"),
                      forbidden = server.url("/plain/");
    const Exit exit = crawl({"--output", directory.path(), there, missing, forbidden});
    BOOST_TEST(exit.status == 1, exit.text());
    BOOST_TEST(took(outcome(exit, there)), exit.text());
    BOOST_TEST(contains(outcome(exit, missing), "404 Not Found"), exit.text());
    BOOST_TEST(contains(outcome(exit, forbidden), "403 Forbidden"), exit.text());
    BOOST_TEST(support::names_in(directory.path()) == Strings{"still.gif"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
