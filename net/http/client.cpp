// SPDX-License-Identifier: BSL-1.0
#include <net/connect.hpp>
#include <net/http/client.hpp>
#include <net/socket.hpp>

#include <system_error>
#include <utility>

namespace reactor {
namespace net {

namespace {

/// One GET with its redirects:
///
///     connect ──> send ──> read ⟲ ──> finish
///        ^                  │
///        └───── redirect ───┘
class HttpGet final : public Task<HttpResponse> {
public:
    HttpGet(Url url, GetOptions options) : options_(std::move(options)), parser_(options_.limits) {
        response_.url = std::move(url);
    }

private:
    Next start() override { return connect(); }

    Next connect() {
        const Url& url = response_.url;
        if (url.is_tls()) {
            return fail(
                HttpError(HttpError::Kind::unsupported, "https is not supported: " + asked()));
        }
        if (options_.on_connect) options_.on_connect(url);
        return await(net::connect(loop(), url.host(), url.port(), options_.deadline),
                     &HttpGet::send);
    }

    Next send(Socket socket) {
        socket_ = std::move(socket);
        return await(socket_.send(request(), options_.deadline), &HttpGet::read);
    }

    Next read() {
        return await(socket_.read(read_size, options_.deadline), &HttpGet::received,
                     &HttpGet::broken);
    }

    Next received(const std::string& bytes) {
        try {
            if (bytes.empty()) {
                parser_.put_eof();
            } else {
                parser_.put(bytes.data(), bytes.size());
            }
        } catch (const HttpError& error) {
            return refuse(error);
        }
        // The body of a redirect is of no use, and may be long or slow.
        if (parser_.head_done() && is_redirect()) return redirect();
        if (!parser_.done()) return read();
        response_.head = parser_.head();
        response_.body = parser_.take_body();
        return finish(std::move(response_));
    }

    /// Only the parser knows what has come of the answer; a time-out is one all the same.
    Next broken(const std::system_error& error) {
        if (error.code() == std::errc::timed_out) throw;
        try {
            parser_.put_reset(error.what());
        } catch (const HttpError& incomplete) {
            return refuse(incomplete);
        }
        throw;
    }

    /// The parser does not know whose answer it reads.
    Next refuse(const HttpError& error) {
        return fail(HttpError(error.kind(), "GET " + asked() + ": " + error.what()));
    }

    bool is_redirect() const {
        const int status = parser_.head().status;
        return (status == 301 || status == 302 || status == 303 || status == 307 ||
                status == 308) &&
               parser_.head().fields.find("Location");
    }

    Next redirect() {
        if (response_.redirects == options_.max_redirects) {
            return fail(HttpError(HttpError::Kind::redirects,
                                  "more than " + std::to_string(options_.max_redirects) +
                                      " redirects, the last one from " + asked()));
        }
        ++response_.redirects;
        try {
            response_.url = response_.url.redirect(*parser_.head().fields.find("Location"));
        } catch (const UrlError& error) {
            return fail(UrlError("redirect from " + asked() + ": " + error.what()));
        }
        parser_.reset();
        return await(socket_.close(), &HttpGet::connect);
    }

    Next finally() override {
        if (!socket_) return end();
        return await(socket_.close(), &HttpGet::closed);
    }
    Next closed() { return end(); }

    /// The URL as it may be shown: without a password.
    std::string asked() const { return response_.url.origin() + response_.url.target(); }

    std::string request() const {
        RequestHead head;
        head.target = response_.url.target();
        head.fields = options_.fields;
        head.fields.set("Host", response_.url.host_header());
        head.fields.set("Connection", "close");
        head.fields.set("Accept-Encoding", "identity");
        if (!head.fields.find("Accept")) head.fields.add("Accept", "*/*");
        if (!head.fields.find("User-Agent")) head.fields.add("User-Agent", "reactor");
        return serialize(head);
    }

    static constexpr std::size_t read_size = 64 * 1024;

    GetOptions options_;
    ResponseParser parser_;
    HttpResponse response_;
    Socket socket_;
};

}  // namespace

TaskHandle<HttpResponse> http_get(EventLoop& loop, Url url, GetOptions options) {
    loop.core().check("http_get");
    return loop.create_task<HttpGet>(Options().label("http_get"), std::move(url),
                                     std::move(options));
}

}  // namespace net
}  // namespace reactor
