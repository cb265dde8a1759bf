// SPDX-License-Identifier: BSL-1.0
// await: the next state takes the value the promise brings (T or const T&)
#include <reactor/task.hpp>

#include <string>

class Fetch : public reactor::Task<int> {
    reactor::Next start() override { return await(loop().create_promise<int>(), &Fetch::got); }
    reactor::Next got(std::string) { return finish(1); }
};
void make(reactor::EventLoop& loop) { loop.create_task<Fetch>(); }
