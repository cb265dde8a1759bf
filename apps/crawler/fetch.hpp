// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CRAWLER_FETCH_HPP
#define REACTOR_CRAWLER_FETCH_HPP

#include "picture_file.hpp"

#include <net/http/client.hpp>
#include <net/http/url.hpp>
#include <reactor/clock.hpp>
#include <reactor/task.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace crawler {

/// A picture that has arrived.
struct Picture {
    std::string file;
    std::size_t size;
    reactor::Duration took;  // from the start of its first connect until the file had its name
};

/// The server answered, but not with the picture.
struct StatusError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Fetches one picture and writes it:
///
///     start ──> answered ──> saved ──> finish
///
/// with the deadline, the redirects and the connection seen to by http_get(), and the file written
/// by the loop's executor.
class Fetch final : public reactor::Task<Picture> {
public:
    struct Order {
        reactor::net::Url url;
        std::string directory;
        std::string name;
        reactor::Duration timeout;
        GiveUp give_up;
    };

    explicit Fetch(Order order);

private:
    reactor::Next start() override;
    reactor::Next answered(reactor::net::HttpResponse response);
    reactor::Next saved();

    Order order_;
    reactor::TimePoint begun_;
    std::size_t size_ = 0;
};

}  // namespace crawler

#endif
