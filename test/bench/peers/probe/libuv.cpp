// SPDX-License-Identifier: BSL-1.0
//
// Whether there is such a library: is only compiled and linked.
#include <uv.h>

int main() { return uv_version() == 0; }
