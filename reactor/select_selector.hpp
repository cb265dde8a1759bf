// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_SELECT_SELECTOR_HPP
#define REACTOR_SELECT_SELECTOR_HPP

#include <cstdint>
#include <memory>
#include <vector>

#include <reactor/selector.hpp>

namespace reactor {

/// The selector on pselect(2): for descriptors below FD_SETSIZE (1024) only, and each wait costs
/// time up to the highest. It is here because it is everywhere. Needs no descriptor of its own.
/// Owner and thread as for every Selector; every function keeps the promises made there.
class SelectSelector : public Selector {
public:
    SelectSelector();
    ~SelectSelector() override;

    const char* name() const noexcept override;
    /// A number of FD_SETSIZE and above is refused before any fd_set is touched: FD_SET would
    /// write past its end.
    void add(int fd, unsigned interest, std::uint64_t token) override;
    void modify(int fd, unsigned interest, std::uint64_t token) override;
    void remove(int fd) noexcept override;
    void wait(Duration timeout, std::vector<SelectorEvent>& ready) override;
    void reset() override;

private:
    struct Watched;  // of system types

    std::unique_ptr<Watched> watched_;
};

}  // namespace reactor

#endif
