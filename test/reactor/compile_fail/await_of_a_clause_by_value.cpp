// SPDX-License-Identifier: BSL-1.0
// await: a clause takes const SomeError& (it catches just that) or std::exception_ptr
#include <reactor/task.hpp>

#include <stdexcept>

class Fetch : public reactor::Task<int> {
    reactor::Next start() override {
        return await(loop().create_promise<int>(), &Fetch::got, &Fetch::failed);
    }
    reactor::Next got(int n) { return finish(n); }
    reactor::Next failed() { return finish(1); }
};
void make(reactor::EventLoop& loop) { loop.create_task<Fetch>(); }
