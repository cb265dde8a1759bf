// SPDX-License-Identifier: BSL-1.0
// finish: the task's result cannot be made from these arguments
#include <reactor/task.hpp>

#include <string>

class Count : public reactor::Task<int> {
    reactor::Next start() override { return finish(std::string("one")); }
};
void make(reactor::EventLoop& loop) { loop.create_task<Count>(); }
