// SPDX-License-Identifier: BSL-1.0
// await: a state or clause is a member function (&Class::state), a function or a lambda, and
// returns Next
#include <reactor/task.hpp>

class Fetch : public reactor::Task<int> {
    reactor::Next start() override { return await(loop().create_promise<int>(), &Fetch::got); }
    void got(int) {}
};
void make(reactor::EventLoop& loop) { loop.create_task<Fetch>(); }
