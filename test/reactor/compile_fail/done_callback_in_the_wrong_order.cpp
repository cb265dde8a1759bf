// SPDX-License-Identifier: BSL-1.0
// add_done_callback: the callable must take its bound arguments and then the promise
#include <reactor/promise.hpp>

struct Page {
    void loaded(const reactor::Promise<int>&, int);
};

void tell(const reactor::Promise<int>& promise, Page& page) {
    promise.add_done_callback(&Page::loaded, &page, 1);
}
