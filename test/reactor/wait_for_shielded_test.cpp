// SPDX-License-Identifier: BSL-1.0
#include <reactor/shield.hpp>

#include <boost/test/unit_test.hpp>

#include <reactor/combinators.hpp>
#include <reactor/task.hpp>

#include <test/support/loop_test.hpp>

using namespace support;
using reactor::Next;
using reactor::Promise;
using reactor::TimeoutError;

namespace {

class Takes100Ms : public reactor::Task<int> {
    Next start() override { return await(reactor::sleep(milliseconds(100)), &Takes100Ms::slept); }
    Next slept() { return finish(7); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(wait_for_shielded)

REACTOR_LOOP_TEST(WF_07_a_shielded_task_outlives_the_limit_of_the_one_who_waits_for_it) {
    const auto begin = loop.time();
    const auto task = loop.create_task<Takes100Ms>();
    const Promise<int> protecting = reactor::shield(Promise<int>(task));
    const Promise<int> limited = reactor::wait_for(protecting, milliseconds(10));
    BOOST_CHECK_THROW(loop.run_until_complete(limited), TimeoutError);
    BOOST_TEST((loop.time() - begin == milliseconds(10)));
    BOOST_TEST(protecting.cancelled());
    BOOST_TEST(!task.done());
    BOOST_TEST(task.cancelling() == 0u);
    BOOST_TEST(loop.run_until_complete(Promise<int>(task)) == 7);
    BOOST_TEST((loop.time() - begin == milliseconds(100)));
}

BOOST_AUTO_TEST_SUITE_END()
