// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_DETAIL_DESCRIPTOR_HOLDER_HPP
#define REACTOR_DETAIL_DESCRIPTOR_HOLDER_HPP

namespace reactor {
namespace detail {

/// One of the library's own parts that has a descriptor, in the WatchTable of its loop: from when
/// it gets the descriptor until it lets go of the number. Used on the loop's thread.
///
/// A number that is closed behind the holder's back may be another file's soon, and another part
/// the holder of that one. To know that and to be told of it are two things: the first must come at
/// once, the second ends promises and calls the program, and must not happen inside of the other
/// one's call.
class DescriptorHolder {
public:
    /// Another one holds the number from here on. This one has none any more: it forgets it, so
    /// that whatever it does with its descriptor fails with EBADF. Calls nobody.
    virtual void number_taken(int number) noexcept = 0;
    /// In the next iteration, unless it has let go since: ends what waits. May do anything.
    virtual void number_lost(int number) noexcept = 0;

protected:
    DescriptorHolder() = default;
    DescriptorHolder(const DescriptorHolder&) = default;
    DescriptorHolder& operator=(const DescriptorHolder&) = default;
    ~DescriptorHolder() = default;
};

}  // namespace detail
}  // namespace reactor

#endif
