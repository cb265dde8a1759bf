// SPDX-License-Identifier: BSL-1.0
#include <boost/test/unit_test.hpp>

#include <reactor/testing.hpp>

#include <cerrno>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <test/support/loop_test.hpp>
#include <test/support/refusal.hpp>

using namespace support;
using reactor::Interest;
using reactor::SelectorEvent;
using reactor::StateError;
using reactor::TimePoint;
using reactor::testing::VirtualDescriptors;

namespace {

/// Descriptors of which a test says when they will be ready. Real numbers stand for them.
class Made final : public VirtualDescriptors {
public:
    ~Made() {
        for (const auto& one : ready_) ::close(one.first);
    }
    int open() {
        const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        ready_[fd] = 0;
        return fd;
    }
    void close(int fd) {
        ready_.erase(fd);
        ::close(fd);
    }
    void set(int fd, unsigned bits) { ready_[fd] = bits; }
    void set_at(TimePoint when, int fd, unsigned bits) { coming_.insert({when, {fd, bits}}); }

    bool owns(int fd) const noexcept override { return ready_.count(fd) != 0; }
    void look(TimePoint now, const std::vector<Watch>& watched,
              std::vector<SelectorEvent>& ready) override {
        ++looks;
        while (!coming_.empty() && coming_.begin()->first <= now) {
            ready_[coming_.begin()->second.first] = coming_.begin()->second.second;
            coming_.erase(coming_.begin());
        }
        // The other way round than they come, which is ours to choose.
        for (auto watch = watched.rbegin(); watch != watched.rend(); ++watch) {
            const auto found = ready_.find(watch->fd);
            const unsigned bits = found == ready_.end() ? 0 : found->second & watch->interest;
            if (bits != 0) ready.push_back({watch->token, bits});
        }
    }
    TimePoint next_change() const noexcept override {
        return coming_.empty() ? reactor::never() : coming_.begin()->first;
    }

    int looks = 0;

private:
    std::map<int, unsigned> ready_;
    std::multimap<TimePoint, std::pair<int, unsigned>> coming_;
};

struct MadeTest : LoopTest {
    explicit MadeTest(const std::string& selector) : LoopTest(selector) {
        loop.selector().set_virtual_descriptors(&made);
    }
    ~MadeTest() { loop.selector().set_virtual_descriptors(nullptr); }

    Made made;
};

#define MADE_TEST(name) REACTOR_LOOP_TEST_IN(MadeTest, name)

}  // namespace

BOOST_AUTO_TEST_SUITE(virtual_descriptors)

MADE_TEST(what_is_ready_is_told_in_the_order_that_they_choose) {
    const int first = made.open();
    const int second = made.open();
    made.set(first, Interest::read);
    made.set(second, Interest::read | Interest::write);
    loop.add_reader(first, say("first"));
    loop.add_reader(second, say("second"));
    loop.add_writer(second, say("second writes"));
    loop.run_iterations(1);
    BOOST_TEST(heard() == "second second writes first");
    made.set(second, 0);
    loop.run_iterations(2);  // level-triggered
    BOOST_TEST(heard() == "first first");
    for (const int fd : {first, second}) {
        loop.remove_reader(fd);
        loop.remove_writer(fd);
        made.close(fd);
    }
}

MADE_TEST(time_goes_to_what_happens_next_and_not_beyond) {
    const int fd = made.open();
    const TimePoint begin = loop.time();
    made.set_at(begin + milliseconds(3), fd, Interest::write);  // which nobody waits for
    made.set_at(begin + milliseconds(5), fd, Interest::read);
    loop.add_reader(fd, [&] {
        made.set(fd, 0);
        say("ready")();
    });
    loop.call_later(milliseconds(4), say("before"));
    loop.call_later(milliseconds(6), say("after"));
    loop.run_once();
    BOOST_TEST(heard() == "before");
    BOOST_TEST((loop.time() == begin + milliseconds(4)));
    loop.run_once();
    BOOST_TEST(heard() == "ready");
    BOOST_TEST((loop.time() == begin + milliseconds(5)));
    loop.run_once();
    BOOST_TEST(heard() == "after");
    loop.remove_reader(fd);
    made.close(fd);
}

MADE_TEST(a_wait_without_time_lets_happen_what_is_due_and_no_more) {
    const int fd = made.open();
    made.set_at(loop.time(), fd, Interest::read);
    loop.add_reader(fd, [&] {
        made.set(fd, 0);
        say("ready")();
    });
    made.set_at(loop.time() + milliseconds(1), fd, Interest::read);
    loop.run_until_idle();
    BOOST_TEST(heard() == "ready");
    loop.run_for(milliseconds(1));
    BOOST_TEST(heard() == "ready");
    loop.remove_reader(fd);
    made.close(fd);
}

MADE_TEST(real_descriptors_are_watched_beside_them) {
    SocketPair pair;
    const int fd = made.open();
    made.set(fd, Interest::read);
    loop.add_reader(pair.mine, [&] {
        pair.receive();
        say("real")();
    });
    loop.add_reader(fd, say("made"));
    pair.send();
    loop.run_iterations(1);
    BOOST_TEST(heard() == "real made");
    loop.remove_reader(pair.mine);
    loop.remove_reader(fd);
    made.close(fd);
}

MADE_TEST(the_rules_of_every_selector_hold_and_no_kernel_is_asked) {
    reactor::testing::VirtualSelector& selector = loop.selector();
    const int fd = made.open();
    BOOST_TEST(code_of([&] { selector.modify(fd, Interest::read, 1); }) == ENOENT);
    selector.add(fd, Interest::read, 1);
    BOOST_TEST(code_of([&] { selector.add(fd, Interest::read, 1); }) == EEXIST);
    BOOST_CHECK_THROW(selector.modify(fd, 0, 1), std::invalid_argument);
    std::vector<SelectorEvent> ready;
    selector.wait(reactor::Duration::zero(), ready);
    BOOST_TEST(ready.empty());  // /dev/null itself would be
    made.set(fd, Interest::write);
    selector.modify(fd, Interest::write, 2);
    selector.wait(reactor::Duration::zero(), ready);
    BOOST_REQUIRE(ready.size() == 1u);
    BOOST_TEST(ready[0].token == 2u);
    selector.remove(fd);
    selector.remove(fd);
    selector.wait(reactor::Duration::zero(), ready);
    BOOST_TEST(ready.empty());
    BOOST_CHECK_THROW(selector.set_virtual_descriptors(&made), StateError);
    made.close(fd);
}

MADE_TEST(one_that_is_closed_behind_the_loop_is_told_as_any_other) {
    const int fd = made.open();
    loop.add_reader(fd, say("never"));
    made.close(fd);
    loop.run_iterations(1);
    BOOST_TEST(heard().empty());
    BOOST_TEST(loop.watch_count() == 0u);
    expect_report("Descriptor " + std::to_string(fd) + " cannot be watched any more");
}

MADE_TEST(a_loop_that_has_nothing_to_come_says_so) {
    const int fd = made.open();
    loop.add_reader(fd, say("never"));
    BOOST_CHECK_THROW(loop.run_forever(), StateError);
    made.set_at(loop.time() + hours(1), fd, Interest::read);
    loop.remove_reader(fd);
    BOOST_CHECK_THROW(loop.run_forever(), StateError);  // it has come, and nobody waits
    made.close(fd);
}

BOOST_AUTO_TEST_SUITE_END()
