// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_NET_DETAIL_STANDARD_PIPES_HPP
#define REACTOR_NET_DETAIL_STANDARD_PIPES_HPP

namespace reactor {
namespace net {
namespace detail {

// Which of the three standard descriptors some loop's pipes have, for the children that inherit
// them: any thread may ask. Other numbers are not noted.

void note_standard_pipe(int descriptor, const void* holder) noexcept;
/// No effect by anybody but its holder.
void forget_standard_pipe(int descriptor, const void* holder) noexcept;
bool is_standard_pipe(int descriptor) noexcept;

}  // namespace detail
}  // namespace net
}  // namespace reactor

#endif
