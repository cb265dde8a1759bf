// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_HERE_HPP
#define REACTOR_HERE_HPP

namespace reactor {

/// A place in the source, for messages. As a defaulted last parameter (`Here here = Here()`) it is
/// the caller's place, without a macro: the compiler's builtins answer for the outermost call.
/// A function that wraps another passes its own `Here` on. A plain value of three constants.
class Here {
public:
#if defined(__GNUC__)
    Here(const char* function = __builtin_FUNCTION(), const char* file = __builtin_FILE(),
         unsigned line = __builtin_LINE()) noexcept
#else
    Here(const char* function = "", const char* file = "", unsigned line = 0) noexcept
#endif
        : function_(function), file_(file), line_(line) {
    }

    const char* function() const noexcept { return function_; }
    const char* file() const noexcept { return file_; }
    unsigned line() const noexcept { return line_; }

private:
    const char* function_;
    const char* file_;
    unsigned line_;
};

}  // namespace reactor

#endif
