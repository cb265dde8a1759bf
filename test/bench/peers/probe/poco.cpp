// SPDX-License-Identifier: BSL-1.0
//
// Whether there is such a library: is only compiled and linked.
#include <Poco/Net/SocketReactor.h>

int main() { Poco::Net::SocketReactor reactor; }
