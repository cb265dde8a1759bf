// SPDX-License-Identifier: BSL-1.0
#include <test/support/loop_test.hpp>

#include <cstdio>
#include <exception>
#include <utility>

#include <reactor/io_uring_selector.hpp>

namespace support {

const char* OnIoUring::name() {
    static const bool possible = [] {
        try {
            reactor::IoUringSelector();
            return true;
        } catch (const std::exception& error) {
            std::fprintf(stderr, "what should run on io_uring runs on epoll: %s\n", error.what());
            return false;
        }
    }();
    return possible ? "io_uring" : "epoll";
}

bool forgets_what_is_closed(const std::string& selector) {
    return selector == "epoll" || selector == "io_uring";
}

OnEverySelector::OnEverySelector(void (*test)(const std::string& selector), const char* name,
                                 const char* file, std::size_t line) {
    const std::pair<const char*, const char*> selectors[] = {
        {"support__OnEpoll", OnEpoll::name()},
        {"support__OnPoll", OnPoll::name()},
        {"support__OnSelect", OnSelect::name()},
        {"support__OnIoUring", OnIoUring::name()},
    };
    for (const auto& selector : selectors) {
        const std::string on = selector.second;
        boost::unit_test::framework::current_auto_test_suite().add(boost::unit_test::make_test_case(
            [test, on] { test(on); }, std::string(name) + '<' + selector.first + '>', file, line));
    }
}

}  // namespace support
