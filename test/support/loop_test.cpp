// SPDX-License-Identifier: BSL-1.0
#include <test/support/loop_test.hpp>

#include <utility>

namespace support {

OnEverySelector::OnEverySelector(void (*test)(const std::string& selector), const char* name,
                                 const char* file, std::size_t line) {
    const std::pair<const char*, const char*> selectors[] = {
        {"support__OnEpoll", OnEpoll::name()},
        {"support__OnPoll", OnPoll::name()},
        {"support__OnSelect", OnSelect::name()},
    };
    for (const auto& selector : selectors) {
        const std::string on = selector.second;
        boost::unit_test::framework::current_auto_test_suite().add(boost::unit_test::make_test_case(
            [test, on] { test(on); }, std::string(name) + '<' + selector.first + '>', file, line));
    }
}

}  // namespace support
