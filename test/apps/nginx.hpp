// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_APPS_NGINX_HPP
#define REACTOR_TEST_APPS_NGINX_HPP

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <memory>
#include <string>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <test/support/child_process.hpp>
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
    explicit Server(const std::string& root) {
        const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ::sockaddr_in address = ::sockaddr_in();
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        ::socklen_t size = sizeof address;
        void* const any = &address;
        BOOST_REQUIRE(::bind(listener, static_cast<::sockaddr*>(any), size) == 0);
        BOOST_REQUIRE(::listen(listener, 128) == 0);
        BOOST_REQUIRE(::getsockname(listener, static_cast<::sockaddr*>(any), &size) == 0);
        port_ = std::to_string(ntohs(address.sin_port));

        support::write_file(own_ / "nginx.conf", configuration(root));
        support::Command command(
            {program, "-c", own_ / "nginx.conf", "-p", own_.path(), "-e", "stderr"});
        // It takes over a socket that listens already, as after an upgrade of itself: no port to
        // guess, and nothing to wait for.
        command.environment = {"NGINX=3;"};
        command.descriptors = {listener};
        process_.reset(new support::ChildProcess(command));
        ::close(listener);
    }

    std::string url(const std::string& target) const {
        return "http://127.0.0.1:" + port_ + target;
    }

    /// Ends it; what it had to say.
    std::string stop() {
        process_->send_signal(SIGTERM);
        return process_->wait().text();
    }

private:
    std::string configuration(const std::string& root) const {
        std::string text =
            "daemon off; master_process off; pid nginx.pid; error_log stderr warn;\n"
            "events { worker_connections 256; }\n"
            "http {\n"
            "    access_log off;\n"
            "    types { image/png png; image/jpeg jpg; image/gif gif; image/svg+xml svg; }\n";
        for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
            text += std::string("    ") + kind + "_temp_path " + own_ / kind + ";\n";
        }
        return text + "    server {\n        listen 127.0.0.1:" + port_ +
               ";\n"
               "        location /plain/ { alias " + root + "/; }\n"
               "        location /chunked/ { alias " + root + "/; add_trailer X-End yes; }\n"
               "        location /until-close/ { alias " + root +
               "/; ssi on; ssi_types *; chunked_transfer_encoding off; }\n"
               "    }\n}\n";
    }

    support::TemporaryDirectory own_;
    std::string port_;
    std::unique_ptr<support::ChildProcess> process_;
};

}  // namespace nginx

#endif
