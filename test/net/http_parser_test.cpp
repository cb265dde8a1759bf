// SPDX-License-Identifier: BSL-1.0
#include <net/http/parser.hpp>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "http_cases.hpp"

using namespace reactor::net;

namespace {

enum class End { hold, close, reset };

struct Outcome {
    std::string result;  // "ok", "open" (not done, no error) or "error:KIND"
    int status = 0;
    std::string body;
    std::size_t used = 0;
    bool keep_alive = false;
};

const char* name_of(HttpError::Kind kind) {
    switch (kind) {
        case HttpError::Kind::incomplete:
            return "error:incomplete";
        case HttpError::Kind::framing:
            return "error:framing";
        case HttpError::Kind::malformed:
            return "error:malformed";
        case HttpError::Kind::too_large:
            return "error:too_large";
        default:
            return "not an error of a parser";
    }
}

// Feeds `bytes` cut at the offsets `cuts` (ascending). Each piece is a copy of its own, so that the
// sanitizer sees a parser that reads beyond it or remembers where it was.
Outcome parse(const std::string& bytes, const std::vector<std::size_t>& cuts, End end,
              bool no_body = false) {
    ResponseParser parser;
    parser.reset(no_body);
    Outcome out;
    try {
        for (std::size_t i = 0; i <= cuts.size() && !parser.done(); ++i) {
            const std::size_t from = i == 0 ? 0 : cuts[i - 1];
            const std::size_t to = i == cuts.size() ? bytes.size() : cuts[i];
            const std::vector<char> piece(bytes.begin() + static_cast<std::ptrdiff_t>(from),
                                          bytes.begin() + static_cast<std::ptrdiff_t>(to));
            const std::size_t used = parser.put(piece.data(), piece.size());
            BOOST_REQUIRE(used == piece.size() || (used < piece.size() && parser.done()));
            out.used += used;
        }
        if (end == End::close) parser.put_eof();
        if (end == End::reset) parser.put_reset();
        out.result = parser.done() ? "ok" : "open";
    } catch (const HttpError& error) {
        out.result = name_of(error.kind());
        BOOST_TEST(std::string(error.what()).find("HTTP response: ") == 0u);
    }
    if (parser.head_done()) {
        out.status = parser.head().status;
        out.keep_alive = parser.keep_alive();
    }
    out.body = parser.take_body();
    BOOST_TEST(out.body.size() == parser.body_size());
    return out;
}

std::vector<std::size_t> every_byte(const std::string& bytes) {
    std::vector<std::size_t> cuts;
    for (std::size_t i = 1; i < bytes.size(); ++i) cuts.push_back(i);
    return cuts;
}

std::vector<std::size_t> random_cuts(const std::string& bytes, std::mt19937& random) {
    std::vector<std::size_t> cuts(1 + random() % 12);
    for (std::size_t& cut : cuts) cut = bytes.empty() ? 0 : random() % (bytes.size() + 1);
    std::sort(cuts.begin(), cuts.end());
    return cuts;
}

std::string case_bytes(const std::string& name) {
    std::string bytes = "HTTP/1.1 200 OK\r\n";
    if (name == "g39_head_20k.response") {
        bytes += "Content-Security-Policy: ";
        for (int i = 0; i < 800; ++i) bytes += "img-src 'self' a.example; ";
        return bytes + "\r\nContent-Length: 3\r\n\r\nbig";
    }
    if (name == "g40_head_endless.response") {
        for (int i = 0; i < 5000; ++i)
            bytes += "X-Filler-" + std::to_string(100000 + i).substr(1) + ": " +
                     std::string(40, 'f') + "\r\n";
        return bytes;
    }
    return http_cases::read(name);
}

std::string case_body(const std::string& name, const std::string& bytes, std::size_t length) {
    if (name.find("g14_") == 0) return "hello01\r\n\r\n6789";
    if (name.find("g15_") == 0) return "picture bytes";
    const std::size_t blank = bytes.find("\r\n\r\n");
    return blank == std::string::npos ? "bare" : bytes.substr(blank + 4, length);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http_parser)

BOOST_AUTO_TEST_CASE(every_response_of_the_table_ends_as_it_says_however_it_is_cut) {
    std::mt19937 random(20240511);
    std::size_t rows = 0;
    for (http_cases::Row row : http_cases::read_table("expected.tsv")) {
        // Time limits and following are the client's.
        if (row["bug"] == "G14" || row["expected"] == "error:redirects") continue;
        ++rows;
        const std::string bytes = case_bytes(row["file"]);
        const End end = row["serve"] == "-"       ? End::close
                        : row["serve"] == "--rst" ? End::reset
                                                  : End::hold;
        const bool head_request = row["method"] == "HEAD";
        std::vector<std::vector<std::size_t>> ways = {{}, every_byte(bytes)};
        for (int i = 0; i < 40; ++i) ways.push_back(random_cuts(bytes, random));
        if (bytes.size() < 400)
            for (std::size_t i = 1; i < bytes.size(); ++i) ways.push_back({i});
        BOOST_TEST_CONTEXT(row["file"] << ' ' << row["serve"]) {
            for (const std::vector<std::size_t>& cuts : ways) {
                const Outcome out = parse(bytes, cuts, end, head_request);
                // Of the outcomes that the table leaves open we take the strict one here:
                const bool strict = row["file"] == "g30_line_without_colon.response" ||
                                    row["file"] == "g31_space_before_colon.response";
                const bool as_said = out.result == row[strict ? "also_ok" : "expected"];
                BOOST_REQUIRE_MESSAGE(as_said, out.result << " instead of " << row["expected"]);
                const bool reusable =
                    out.result == "ok" && out.keep_alive && out.used == bytes.size();
                if (row["reuse"] == "no") BOOST_REQUIRE(!reusable);
                if (out.result != "ok") continue;
                BOOST_REQUIRE(std::to_string(out.status) == row["status"]);
                BOOST_REQUIRE(std::to_string(out.body.size()) == row["body_len"]);
                BOOST_REQUIRE(out.body == case_body(row["file"], bytes, out.body.size()));
                if (row["reuse"] == "yes") BOOST_REQUIRE(reusable);
            }
        }
    }
    BOOST_TEST(rows == 24u);
}

BOOST_AUTO_TEST_CASE(a_response_that_ends_early_is_never_complete) {
    for (http_cases::Row row : http_cases::read_table("expected.tsv")) {
        const std::string bytes = case_bytes(row["file"]);
        const bool head_request = row["method"] == "HEAD";
        const std::string whole = parse(bytes, {}, End::close, head_request).result;
        const std::size_t blank = bytes.find("\r\n\r\n");
        const std::size_t step = bytes.size() < 400 ? 1 : bytes.size() / 200;
        BOOST_TEST_CONTEXT(row["file"]) for (std::size_t n = 0; n < bytes.size(); n += step) {
            const std::string prefix = bytes.substr(0, n);
            const std::string held = parse(prefix, {}, End::hold, head_request).result;
            const std::string closed = parse(prefix, {}, End::close, head_request).result;
            const std::string broken = parse(prefix, {}, End::reset, head_request).result;
            if (held != "open") {  // done, or refused, before the end
                BOOST_REQUIRE(held == whole);
                BOOST_REQUIRE(closed == held);
                BOOST_REQUIRE(broken == held);
                continue;
            }
            BOOST_REQUIRE(broken == "error:incomplete");
            const bool until_close = bytes.find("ngth") == std::string::npos &&
                                     bytes.find("hunked") == std::string::npos;
            const bool head_over = blank != std::string::npos && n >= blank + 4;
            BOOST_REQUIRE(closed == (until_close && head_over ? "ok" : "error:incomplete"));
        }
    }
}

BOOST_AUTO_TEST_CASE(interim_answers_are_skipped_and_switching_protocols_is_not) {
    const std::string bytes =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </s>\r\n\r\n"
        "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nX: 1\r\n\r\nno";
    for (const auto& cuts : {std::vector<std::size_t>(), every_byte(bytes)}) {
        const Outcome out = parse(bytes, cuts, End::hold);
        BOOST_TEST(out.result == "ok");
        BOOST_TEST(out.status == 404);
        BOOST_TEST(out.body == "no");
    }
    ResponseParser parser;
    parser.put(bytes.data(), bytes.size());
    BOOST_TEST(parser.head().fields.size() == 2u);
    BOOST_TEST(parser.head().reason == "Not Found");

    const std::string upgrade = "HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nraw";
    const Outcome out = parse(upgrade, {}, End::hold);
    BOOST_TEST(out.result == "ok");
    BOOST_TEST(out.used == upgrade.size() - 3);
    BOOST_TEST(!out.keep_alive);
}

BOOST_AUTO_TEST_CASE(a_kept_connection_is_parsed_message_by_message) {
    const std::string bytes =
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none"
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"  // answers a HEAD request
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n"
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    for (std::size_t step : {bytes.size(), std::size_t{1}, std::size_t{7}}) {
        ResponseParser parser;
        std::vector<std::string> bodies;
        for (std::size_t from = 0; from < bytes.size();) {
            from += parser.put(bytes.data() + from, (std::min)(step, bytes.size() - from));
            if (!parser.done()) continue;
            BOOST_TEST(parser.put("more", 4) == 0u);
            BOOST_TEST(parser.keep_alive());
            bodies.push_back(parser.take_body());
            parser.reset(bodies.size() == 1);
            BOOST_TEST(!parser.started());
        }
        BOOST_TEST(bodies == (std::vector<std::string>{"one", "", "two", ""}),
                   boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(a_sink_gets_the_body_and_nothing_is_kept) {
    const std::string bytes = case_bytes("g01_bin_1mib.response");
    ResponseParser parser;
    std::string seen;
    parser.set_sink([&](const char* data, std::size_t size) {
        BOOST_REQUIRE(parser.head_done());
        BOOST_REQUIRE(size > 0u);
        seen.append(data, size);
    });
    for (std::size_t from = 0; from < bytes.size(); from += 16384)
        parser.put(bytes.data() + from, (std::min)(std::size_t{16384}, bytes.size() - from));
    BOOST_TEST(parser.done());
    BOOST_TEST((seen == bytes.substr(bytes.size() - 1048576)));
    BOOST_TEST(parser.body_size() == 1048576u);
    BOOST_TEST(parser.take_body().empty());
}

BOOST_AUTO_TEST_CASE(folded_lines_belong_to_the_field_before_them) {
    ResponseParser parser;
    const std::string bytes = case_bytes("g28_obs_fold.response");
    parser.put(bytes.data(), bytes.size());
    BOOST_TEST(*parser.head().fields.find("x-policy") == "first; Content-Length: 9999 last");
    BOOST_TEST(parser.head().fields.count("Content-Length") == 1u);
}

BOOST_AUTO_TEST_CASE(fields_of_a_trailer_are_no_fields_of_the_head) {
    ResponseParser parser;
    const std::string bytes = case_bytes("g14_chunked_ext_trailer.response");
    parser.put(bytes.data(), bytes.size());
    BOOST_TEST(parser.done());
    BOOST_TEST(parser.head().fields.size() == 2u);
    BOOST_TEST(parser.head().fields.count("X-Sum") == 0u);
}

BOOST_AUTO_TEST_CASE(chunks_over_http_1_0_end_the_connection) {
    const std::string rest =
        " 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    BOOST_TEST(parse("HTTP/1.1" + rest, {}, End::hold).keep_alive);
    BOOST_TEST(!parse("HTTP/1.0" + rest, {}, End::hold).keep_alive);
}

BOOST_AUTO_TEST_SUITE_END()
