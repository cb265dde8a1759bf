// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_SUPPORT_TRACE_READER_HPP
#define REACTOR_TEST_SUPPORT_TRACE_READER_HPP

#include <string>
#include <vector>

namespace support {

/// A trace file, taken apart. Times are nanoseconds since the trace began.
struct TraceRead {
    struct Slice {
        std::string name;
        std::string kind;
        long id = 0;
        long cause = 0;
        long begin = 0;
        long end = 0;
    };
    /// From the slice that scheduled to the one that was scheduled.
    struct Arrow {
        long id = 0;
        long begin = -1;
        long end = -1;
    };

    std::vector<Slice> slices;
    std::vector<Arrow> arrows;

    /// The one slice of that name; throws std::runtime_error if there is not exactly one.
    const Slice& slice(const std::string& name) const;
    /// Name of the slice that scheduled this one; empty if there is no arrow.
    std::string cause_of(const Slice& slice) const;
    std::string cause_of(const std::string& name) const { return cause_of(slice(name)); }
};

/// Reads and checks: strict JSON, slices that do not overlap, each arrow with both ends, of which
/// none goes back in time, each inside of the slice that the numbers name. Throws
/// std::runtime_error.
TraceRead read_trace(const std::string& path);

}  // namespace support

#endif
