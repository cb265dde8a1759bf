// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_POLL_SELECTOR_HPP
#define REACTOR_POLL_SELECTOR_HPP

#include <cstdint>
#include <memory>
#include <vector>

#include <reactor/selector.hpp>

namespace reactor {

/// The selector on ppoll(2): any number of descriptors, each of which costs time at every wait.
/// Needs no descriptor of its own. Owner and thread as for every Selector; every function keeps
/// the promises made there.
///
///     by number:  [ - | 2 | - | 0 | 1 ]      where descriptor 3 is in the list, and its token
///     polled:     [ 3 | 4 | 1 ]              without gaps: the list that the kernel reads
///
/// remove() moves the last of the list into the gap, so adding and removing cost the same however
/// many are watched.
class PollSelector : public Selector {
public:
    PollSelector();
    ~PollSelector() override;

    const char* name() const noexcept override;
    void add(int fd, unsigned interest, std::uint64_t token) override;
    void modify(int fd, unsigned interest, std::uint64_t token) override;
    void remove(int fd) noexcept override;
    void wait(Duration timeout, std::vector<SelectorEvent>& ready) override;
    void reset() override;

    bool empty() const noexcept;
    bool contains(int fd) const noexcept;

private:
    struct List;  // of system types

    std::unique_ptr<List> list_;
};

}  // namespace reactor

#endif
