// SPDX-License-Identifier: BSL-1.0
//
// Whether there is such a library: is only compiled and linked.
#include <ev.h>

int main() { return ev_version_major() == 0; }
