// SPDX-License-Identifier: BSL-1.0
#include <net/detail/standard_pipes.hpp>

#include <atomic>

namespace reactor {
namespace net {
namespace detail {

namespace {

// Of the process, as the descriptors are.
std::atomic<const void*> holders[3] = {{nullptr}, {nullptr}, {nullptr}};

bool is_standard(int descriptor) noexcept { return descriptor >= 0 && descriptor < 3; }

}  // namespace

void note_standard_pipe(int descriptor, const void* holder) noexcept {
    if (is_standard(descriptor)) holders[descriptor].store(holder);
}

void forget_standard_pipe(int descriptor, const void* holder) noexcept {
    if (is_standard(descriptor)) holders[descriptor].compare_exchange_strong(holder, nullptr);
}

bool is_standard_pipe(int descriptor) noexcept {
    return is_standard(descriptor) && holders[descriptor].load();
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
