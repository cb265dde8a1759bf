// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SUPPORT_NO_DESCRIPTORS_LEFT_HPP
#define REACTOR_TEST_SUPPORT_NO_DESCRIPTORS_LEFT_HPP

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <system_error>

namespace support {

/// The process can open no more than `left` descriptors while this lives.
struct NoDescriptorsLeft {
    explicit NoDescriptorsLeft(int left = 0) {
        // The undefined behaviour sanitizer opens a descriptor to look at the type of an object,
        // once for each type: it must have seen this one before there is none left.
        BOOST_TEST(std::system_error(0, std::system_category(), "seen").code().value() == 0);
        ::getrlimit(RLIMIT_NOFILE, &before);
        int beyond[64];
        for (int i = 0; i <= left; ++i) BOOST_REQUIRE((beyond[i] = ::dup(0)) >= 0);
        for (int i = 0; i <= left; ++i) ::close(beyond[i]);
        // Not lower: poll() refuses more entries than this.
        ::rlimit none = before;
        none.rlim_cur = static_cast<::rlim_t>(beyond[left]);
        BOOST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    }
    ~NoDescriptorsLeft() { ::setrlimit(RLIMIT_NOFILE, &before); }
    NoDescriptorsLeft(const NoDescriptorsLeft&) = delete;
    NoDescriptorsLeft& operator=(const NoDescriptorsLeft&) = delete;

    ::rlimit before;
};

}  // namespace support

#endif
