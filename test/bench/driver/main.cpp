// SPDX-License-Identifier: BSL-1.0
// The one main of this folder's test programs: Boost.Test defines it here.
#define BOOST_TEST_MODULE bench_driver
#include <boost/test/unit_test.hpp>
