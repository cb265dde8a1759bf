// SPDX-License-Identifier: BSL-1.0
// yield: the next state takes nothing and returns Next
#include <reactor/task.hpp>

class Count : public reactor::Task<int> {
    reactor::Next start() override { return yield(&Count::more); }
    reactor::Next more(int n) { return finish(n); }
};
void make(reactor::EventLoop& loop) { loop.create_task<Count>(); }
