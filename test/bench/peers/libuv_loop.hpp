// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_BENCH_PEERS_LIBUV_LOOP_HPP
#define REACTOR_TEST_BENCH_PEERS_LIBUV_LOOP_HPP

#include <uv.h>

#include <stdexcept>
#include <string>

namespace bench {

/// `result`, or an exception that says what has failed.
inline int uv_checked(int result, const char* what) {
    if (result < 0) throw std::runtime_error(what + std::string(": ") + uv_strerror(result));
    return result;
}

/// A loop whose handles are closed with it; their memory has to outlive it.
class LibuvLoop {
public:
    LibuvLoop() { uv_checked(uv_loop_init(&loop_), "uv_loop_init"); }
    LibuvLoop(const LibuvLoop&) = delete;
    LibuvLoop& operator=(const LibuvLoop&) = delete;
    ~LibuvLoop() {
        const auto close = [](uv_handle_t* handle, void*) {
            if (!uv_is_closing(handle)) uv_close(handle, nullptr);
        };
        uv_walk(&loop_, close, nullptr);
        uv_run(&loop_, UV_RUN_DEFAULT);
        uv_loop_close(&loop_);
    }

    uv_loop_t* get() noexcept { return &loop_; }

private:
    uv_loop_t loop_;
};

inline std::string libuv_version() { return std::string("libuv ") + uv_version_string(); }

}  // namespace bench

#endif
