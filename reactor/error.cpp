// SPDX-License-Identifier: BSL-1.0
#include <reactor/error.hpp>

#include <exception>
#include <utility>

namespace reactor {

namespace {

std::string incomplete_text(std::size_t got, std::size_t expected) {
    std::string text = "the stream ended after " + std::to_string(got);
    if (expected != 0) text += " of " + std::to_string(expected) + " expected";
    return text + " bytes";
}

}  // namespace

IncompleteReadError::IncompleteReadError(std::string partial_bytes, std::size_t expected_bytes)
    : std::runtime_error(incomplete_text(partial_bytes.size(), expected_bytes)),
      partial(std::move(partial_bytes)),
      expected(expected_bytes) {}

std::string describe(const std::exception_ptr& error) noexcept {
    // The answer is short enough for every path but one to fit a small string; should even that
    // allocation fail, an empty text is better than std::terminate while reporting.
    try {
        if (!error) return "no error";
        try {
            std::rethrow_exception(error);
        } catch (const std::exception& e) {
            return e.what();
        } catch (const CancelledError& e) {
            return e.message().empty() ? "cancelled" : "cancelled: " + e.message();
        } catch (const LoopExit& e) {
            return std::string(e.what()) + " with code " + std::to_string(e.code());
        } catch (const std::string& e) {
            return e;
        } catch (const char* e) {
            return e ? e : "null";
        } catch (...) {
            return "an exception that is not a std::exception";
        }
    } catch (...) {
        return std::string();
    }
}

}  // namespace reactor
