// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_APPS_NGINX_HPP
#define REACTOR_TEST_APPS_NGINX_HPP

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <memory>
#include <string>

#include <poll.h>
#include <unistd.h>

#include <test/support/child_process.hpp>
#include <test/support/http_peer.hpp>
#include <test/support/temporary_directory.hpp>

/// A real web server.
namespace nginx {

/// Where Debian has it; not everybody's PATH goes there.
constexpr const char* program = "/usr/sbin/nginx";

/// For the cases that need it: without it they are skipped, and reported so.
inline boost::test_tools::assertion_result is_installed(boost::unit_test::test_unit_id) {
    boost::test_tools::assertion_result installed(::access(program, X_OK) == 0);
    if (!installed) installed.message() << program << " is not installed";
    return installed;
}

/// Serves a directory three times: below /plain/ with Content-Length, below /chunked/ in chunks and
/// a trailer behind them, below /until-close/ without any length.
class Server {
public:
    explicit Server(const std::string& root, bool log_requests = false)
        : log_requests_(log_requests) {
        // It cannot choose a port by itself. Should somebody else take ours in the meantime it says
        // so and ends, and we try another one.
        for (int attempt = 0; attempt < 10 && !process_; ++attempt) start(root);
        BOOST_REQUIRE(process_);
    }

    std::string url(const std::string& target) const {
        return "http://127.0.0.1:" + port_ + target;
    }

    std::string address() const { return "127.0.0.1:" + port_; }
    /// A line for each answered request: status, bytes of the body. Complete once it has been
    /// stopped.
    std::string requests() const { return support::read_file(own_ / "requests"); }

    /// Ends it; what it had to say.
    std::string stop() {
        process_->send_signal(SIGTERM);
        return process_->wait().text();
    }

private:
    void start(const std::string& root) {
        std::unique_ptr<support::RefusingPort> free(new support::RefusingPort);
        port_ = std::to_string(free->port());
        support::write_file(own_ / "nginx.conf", configuration(root));
        const support::Command command(
            {program, "-c", own_ / "nginx.conf", "-p", own_.path(), "-e", "stderr"});
        free.reset();
        process_.reset(new support::ChildProcess(command));
        // Written once it listens.
        while (::access((own_ / "nginx.pid").c_str(), R_OK) != 0) {
            if (process_->has_ended()) {
                BOOST_TEST_MESSAGE(process_->wait().text());
                process_.reset();
                return;
            }
            ::poll(nullptr, 0, 5);
        }
    }

    std::string configuration(const std::string& root) const {
        const std::string log = log_requests_ ? own_ / "requests short" : std::string("off");
        std::string text =
            "daemon off; master_process off; pid nginx.pid; error_log stderr warn;\n"
            "events { worker_connections 256; }\n"
            "http {\n"
            "    keepalive_requests 1000000;\n"
            "    log_format short '$status $body_bytes_sent';\n"
            "    access_log " +
            log +
            ";\n"
            "    types { image/png png; image/jpeg jpg; image/gif gif; image/svg+xml svg; }\n";
        for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
            text += std::string("    ") + kind + "_temp_path " + own_ / kind + ";\n";
        }
        return text + "    server {\n        listen 127.0.0.1:" + port_ +
               ";\n"
               "        location /plain/ { alias " +
               root +
               "/; }\n"
               "        location /chunked/ { alias " +
               root +
               "/; add_trailer X-End yes; }\n"
               "        location /until-close/ { alias " +
               root +
               "/; ssi on; ssi_types *; chunked_transfer_encoding off; }\n"
               "    }\n}\n";
    }

    bool log_requests_;
    support::TemporaryDirectory own_;
    std::string port_;
    std::unique_ptr<support::ChildProcess> process_;
};

}  // namespace nginx

#endif
