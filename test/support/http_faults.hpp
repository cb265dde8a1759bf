// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_HTTP_FAULTS_HPP
#define REACTOR_TEST_HTTP_FAULTS_HPP

#include "http_peer.hpp"

namespace support {

/// Gives a server the faults that servers have, each at a path of its own:
///
///     /silent         takes the request and says nothing
///     /stalled        stops after a half of the body
///     /drip           sends one byte of the body after the other, without end
///     /half           closes in an orderly way after a half of the body
///     /half-reset     resets after a half of the body
///     /open-reset     resets within a body that has no length
///     /half-head      closes within the head
///     /empty          closes without a byte
///     /reset          resets without a byte
///     /endless-head   sends header fields without end
///     /not-http       answers something else
///     /loop           redirects to itself
///     /nowhere        302 without Location
///     /bad-location   302 to what is no URL
///     /to-https       302 to an https URL
///     /missing        404
void add_faults(HttpPeer& server);

}  // namespace support

#endif
