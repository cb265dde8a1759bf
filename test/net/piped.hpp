// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_PIPED_HPP
#define REACTOR_TEST_NET_PIPED_HPP

#include <boost/test/unit_test.hpp>

#include <net/pipe.hpp>

#include "transport_fixture.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <string>

/// What tests of pipes share: the two ends of one, as the test's own descriptors, which do not
/// block unless it says so.
namespace piped {

using namespace transports;
using reactor::net::connect_read_pipe;
using reactor::net::connect_write_pipe;
using reactor::net::open_read_pipe;
using reactor::net::open_write_pipe;
using reactor::net::Stream;

struct Pipe {
    explicit Pipe(int flags = O_NONBLOCK) {
        int ends[2];
        BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC | flags) == 0);
        out.number = ends[0];
        in.number = ends[1];
    }

    /// Puts bytes in, which must fit.
    void put(const std::string& bytes) {
        BOOST_REQUIRE(::write(in.number, bytes.data(), bytes.size()) ==
                      static_cast<::ssize_t>(bytes.size()));
    }
    /// What is in there now, at most `most` bytes; `ended` tells that nobody can write any more.
    std::string take(std::size_t most = 1 << 20, bool* ended = nullptr) {
        std::string all;
        while (all.size() < most) {
            char part[16384];
            const ::ssize_t got =
                ::read(out.number, part, std::min(sizeof part, most - all.size()));
            if (got == 0 && ended) *ended = true;
            if (got <= 0) break;
            all.append(part, static_cast<std::size_t>(got));
        }
        return all;
    }

    Descriptor out;  // to read from
    Descriptor in;   // to write to
};

inline bool blocks(int descriptor) { return !(::fcntl(descriptor, F_GETFL) & O_NONBLOCK); }

/// The transport over that end, which is taken over.
inline Transport reading(TestLoop& loop, Descriptor& end, Course& course) {
    loop.run_until_complete(connect_read_pipe(loop, end.number, told(course)));
    end.release();
    return course.transport;
}
inline Transport writing(TestLoop& loop, Descriptor& end, Course& course) {
    loop.run_until_complete(connect_write_pipe(loop, end.number, told(course)));
    end.release();
    return course.transport;
}

}  // namespace piped

#endif
