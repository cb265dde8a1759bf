// SPDX-License-Identifier: BSL-1.0
#include "fetch.hpp"

#include <reactor/executor.hpp>

#include <utility>

namespace crawler {

Fetch::Fetch(Order order) : order_(std::move(order)) {}

reactor::Next Fetch::start() {
    begun_ = loop().time();
    reactor::net::GetOptions options;
    options.deadline = reactor::deadline_after(begun_, order_.timeout);
    return await(reactor::net::http_get(loop(), order_.url, std::move(options)), &Fetch::answered);
}

reactor::Next Fetch::answered(reactor::net::HttpResponse response) {
    if (response.head.status != 200) {
        return fail(StatusError("the server answered " + std::to_string(response.head.status) +
                                " " + response.head.reason + " for " + response.url.str()));
    }
    size_ = response.body.size();
    return await(loop().run_in_executor(&write_picture, order_.directory, order_.name,
                                        std::move(response.body), order_.give_up),
                 &Fetch::saved);
}

reactor::Next Fetch::saved() { return finish(Picture{order_.name, size_, loop().time() - begun_}); }

}  // namespace crawler
