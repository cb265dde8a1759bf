// SPDX-License-Identifier: BSL-1.0
// await: the states and clauses are too big to be kept in the task (64 bytes)
#include <reactor/task.hpp>

class Fetch : public reactor::Task<int> {
    reactor::Next start() override {
        struct Big {
            char bytes[100];
        } big = {};
        return await(loop().create_promise<int>(),
                     [this, big](int) { return finish(big.bytes[0]); });
    }
};
void make(reactor::EventLoop& loop) { loop.create_task<Fetch>(); }
