// SPDX-License-Identifier: BSL-1.0
#include <net/detail/pending_operations.hpp>
#include <net/detail/socket_service.hpp>
#include <net/detail/transport_state.hpp>
#include <reactor/detail/write_signals_blocked.hpp>
#include <reactor/promise.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <sys/sendfile.h>
#include <unistd.h>

namespace reactor {
namespace net {
namespace detail {

using reactor::detail::PromiseAccess;
using reactor::detail::StateOwner;

namespace {

// A large file leaves the loop to others after so much.
constexpr std::uint64_t bytes_per_call = 1024 * 1024;

// What of the errors of sendfile() and pread() is the file's; the rest is the connection's.
bool concerns_the_file(int code) noexcept {
    switch (code) {
        case EBADF:
        case EINVAL:
        case EIO:
        case EISDIR:
        case ENXIO:
        case EOVERFLOW:
        case ESPIPE:
        case ESTALE:
            return true;
        default:
            return false;
    }
}

::ssize_t send_part(int descriptor, const FileOperation& file) noexcept {
    reactor::detail::WriteSignalsBlocked blocked;  // sendfile() has no MSG_NOSIGNAL
    ::off_t offset = static_cast<::off_t>(file.offset);
    const auto size = static_cast<std::size_t>(std::min(file.left, bytes_per_call));
    const ::ssize_t took = ::sendfile(descriptor, file.file, &offset, size);
    if (took < 0) {
        blocked.failed(errno);
    } else if (static_cast<std::size_t>(took) < size) {
        blocked.fell_short();
    }
    return took;
}

}  // namespace

void FileOperation::abandon() noexcept {
    if (owner) owner->forget(*this);
}

Promise<std::uint64_t> TransportState::send_file(int file, std::uint64_t offset,
                                                 std::uint64_t count, const Here& here) {
    if (eof_written_) refuse_write("send_file");
    const StateOwner<FileOperation> operation(
        reactor::detail::make_state<FileOperation>(core(), here));
    const auto promise = PromiseAccess::share<Promise<std::uint64_t>>(&*operation);
    operation->file = file;
    operation->offset = offset;
    operation->left = count;
    if (over()) {
        if (const std::exception_ptr why = error()) {
            operation->fail(why);
        } else {
            cancel_operation(*operation, "the transport is closing");
        }
        return promise;
    }
    if (!unsent_) {
        Progress progress = Progress::some;
        if (count == 0) progress = Progress::done;
        // Once more, as a rule, to see that the system takes no more: else an iteration would go by
        // before the rest of a file that fits.
        for (int i = 0; i < 2 && progress == Progress::some; ++i) progress = advance(*operation);
        if (progress == Progress::done) {
            if (!operation->done()) operation->set(operation->sent);
            return promise;
        }
        if (progress == Progress::lost) {
            operation->fail(error());
            return promise;
        }
    }
    try {
        open_output().queue.append(*operation);
        operation->owner = this;
    } catch (...) {
        lose(std::current_exception());
        operation->fail(error());
    }
    return promise;
}

/// One call. Of an operation that is done afterwards the file could not be read.
TransportState::Progress TransportState::advance(FileOperation& file) {
    if (descriptor() < 0) {  // else it would look as if the file were the one that is not open
        lose_by_system("send a file to", EBADF);
        return Progress::lost;
    }
    const bool by_copy = file.by_copy || service_->calls.simulates(descriptor());
    const ::ssize_t took = by_copy ? copy_part(file) : send_part(descriptor(), file);
    const int code = took < 0 ? errno : 0;
    if (took > 0) {
        const std::uint64_t size = static_cast<std::uint64_t>(took);
        wrote_ = true;
        file.offset += size;
        file.left -= size;
        file.sent += size;
        if (timed_) touch(&TimeLimits::output);
        return file.left == 0 ? Progress::done : Progress::some;
    }
    if (took == 0) return Progress::done;  // the file ends here
    if (code == EINTR) return Progress::some;
    if (would_block(code)) return Progress::blocked;
    if (!by_copy && (code == EINVAL || code == ENOSYS)) {
        file.by_copy = true;
        return Progress::some;
    }
    if (concerns_the_file(code)) {
        file.fail(std::make_exception_ptr(
            std::system_error(code, std::system_category(), "send_file: read the file")));
        return Progress::done;
    }
    lose_by_system("send a file to", code);
    return Progress::lost;
}

/// For files of which the kernel has no pages to send: some of the virtual ones.
::ssize_t TransportState::copy_part(FileOperation& file) {
    char bytes[16 * 1024];
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(file.left, sizeof bytes));
    const ::ssize_t got = ::pread(file.file, bytes, wanted, static_cast<::off_t>(file.offset));
    if (got <= 0) return got;
    return send(bytes, static_cast<std::size_t>(got));
}

/// The same as flush() for the file that is next.
bool TransportState::flush_file(FileOperation& file) {
    switch (advance(file)) {
        case Progress::done: {
            // Dropped last: if nobody holds it, its failure is reported, and the handler may do
            // anything.
            const StateOwner<FileOperation> finished = extras_->output->queue.take(file);
            if (extras_->output->queue.empty()) output_empty();
            if (!finished->done()) finished->set(finished->sent);
            return unsent_;
        }
        case Progress::some:
            return true;
        case Progress::blocked:
        case Progress::lost:
            break;
    }
    return false;
}

void TransportState::forget(FileOperation& file) noexcept {
    const Keep keep(*this);
    const StateOwner<FileOperation> cancelled = extras_->output->queue.take(file);
    if (extras_->output->queue.empty()) output_empty();
}

/// The connection has ended before their turn.
void TransportState::end_files(Output& output) noexcept {
    // One that nobody holds is reported as it goes, and the handler may cancel the others: they are
    // not in the transport's queue any more.
    output.queue.for_each_file([](FileOperation& file) { file.owner = nullptr; });
    while (FileOperation* const next = output.queue.drop_bytes()) {
        const StateOwner<FileOperation> file = output.queue.take(*next);
        if (file->done()) continue;
        if (const std::exception_ptr why = error()) {
            file->fail(why);
        } else {
            cancel_operation(*file, "the transport was aborted");
        }
    }
}

}  // namespace detail
}  // namespace net
}  // namespace reactor
