// SPDX-License-Identifier: BSL-1.0
//
// Whether there is such a library: is only compiled and linked.
#include <event2/thread.h>

int main() { return evthread_use_pthreads(); }
