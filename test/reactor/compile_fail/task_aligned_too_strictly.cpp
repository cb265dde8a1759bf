// SPDX-License-Identifier: BSL-1.0
// create_task: a task must not be aligned more strictly than max_align_t
#include <reactor/task.hpp>

class Count : public reactor::Task<int> {
    alignas(128) int value_ = 1;
    reactor::Next start() override { return finish(value_); }
};
void make(reactor::EventLoop& loop) { loop.create_task<Count>(); }
