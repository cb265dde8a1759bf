// SPDX-License-Identifier: BSL-1.0
//
// Whether there is such a library: is only compiled and linked.
#include <boost/thread/future.hpp>

int main() { boost::promise<int> promise; }
