// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_DATAGRAM_SENDER_HPP
#define REACTOR_TEST_NET_DATAGRAM_SENDER_HPP

#include "datagram_calls.hpp"
#include "datagram_endpoints.hpp"

#include <string>
#include <vector>

/// What tests of sending share: an endpoint whose system calls can fail.
namespace datagram_sender {

using namespace datagram_endpoints;
using datagram_calls::calls;
using datagram_calls::Watched;
using Strings = std::vector<std::string>;

/// An unconnected endpoint whose system calls can fail, and three sockets to send to.
struct Sender : support::LoopTest {
    explicit Sender(const std::string& selector)
        : LoopTest(selector),
          transport(open(loop, course, at(any_port))),
          watched(transport.native_handle()) {
        for (int i = 0; i < 3; ++i) {
            receivers.push_back(DatagramSocket(loop, any_port));
            addresses.push_back(receivers.back().local_endpoint());
        }
    }
    /// What each has got, of at most one.
    Strings stolen() { return {steal(receivers[0]), steal(receivers[1]), steal(receivers[2])}; }

    Course course;
    DatagramTransport transport;
    Watched watched;
    std::vector<DatagramSocket> receivers;
    std::vector<Endpoint> addresses;
};

const Strings nothing(3, "(nothing)");

}  // namespace datagram_sender

#endif
