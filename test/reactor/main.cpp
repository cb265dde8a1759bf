// SPDX-License-Identifier: BSL-1.0
// The one main of this folder's test programs: Boost.Test defines it here.
#define BOOST_TEST_MODULE reactor_reactor
#include <boost/test/unit_test.hpp>

#include <csignal>

namespace {

/// A shell without job control starts what it puts into the background with SIGINT ignored, and a
/// Runner respects that: its tests would wait for ever.
struct OwnDispositions {
    OwnDispositions() { std::signal(SIGINT, SIG_DFL); }
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(OwnDispositions);
