// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_FORWARDING_SELECTOR_HPP
#define REACTOR_TEST_FORWARDING_SELECTOR_HPP

#include <reactor/selector.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace support {

/// A selector that has a real one do everything: for tests that want one of its calls otherwise.
class ForwardingSelector : public reactor::Selector {
public:
    explicit ForwardingSelector(const std::string& name) : real_(reactor::make_selector(name)) {}
    const char* name() const noexcept override { return real_->name(); }
    void add(int fd, unsigned interest, std::uint64_t token) override {
        real_->add(fd, interest, token);
    }
    void modify(int fd, unsigned interest, std::uint64_t token) override {
        real_->modify(fd, interest, token);
    }
    void remove(int fd) noexcept override { real_->remove(fd); }
    void reset() override { real_->reset(); }
    void wait(reactor::Duration timeout, std::vector<reactor::SelectorEvent>& ready) override {
        real_->wait(timeout, ready);
    }

private:
    const std::unique_ptr<reactor::Selector> real_;
};

}  // namespace support

#endif
