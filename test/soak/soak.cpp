// SPDX-License-Identifier: BSL-1.0
//
// Servers and clients in one loop, for a long time, with all that can happen to a connection, at
// random from a seed: what was sent must come, and in the end the process must hold what it held
// after the first tenth.
//
//   soak [--seconds N] [--seed N]       ten minutes by default; SIGINT ends it with its figures
//   soak --operations N [--seed N]      N connections, however long they take
//
// The seed decides what each connection is to do, and what is done to it. When that happens is the
// system's affair, too: two runs with one seed are alike, not the same.
#include <reactor/detail/loop_core.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/inspect.hpp>
#include <reactor/report.hpp>
#include <reactor/signals.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <test/soak/clients.hpp>
#include <test/soak/content.hpp>
#include <test/soak/disturbances.hpp>
#include <test/soak/ledger.hpp>
#include <test/soak/memory.hpp>
#include <test/soak/plan.hpp>
#include <test/soak/sites.hpp>
#include <test/support/temporary_directory.hpp>

namespace soak {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Length {
    std::uint64_t seconds = 600;
    std::uint64_t operations = 0;  // 0: it is the seconds that count
    std::uint64_t seed = 1;
};

int checked(int result, const std::string& what) {
    if (result < 0) throw std::system_error(errno, std::system_category(), what);
    return result;
}

/// A place for a socket, and a file without a name.
class Directory {
public:
    Directory() {
        const std::string name = directory_ / "content";
        file_ = checked(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "make " + name);
        ::unlink(name.c_str());
        const std::string bytes = Content(file_key).bytes(0, most_bytes);
        if (::pwrite(file_, bytes.data(), bytes.size(), 0) !=
            static_cast<::ssize_t>(bytes.size())) {
            throw std::runtime_error("write " + name + ": too little was written");
        }
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory() { ::close(file_); }

    const std::string& path() const noexcept { return directory_.path(); }
    int file() const noexcept { return file_; }

private:
    support::TemporaryDirectory directory_;
    int file_ = -1;
};

class Soak {
public:
    explicit Soak(const Length& length)
        : length_(length),
          ledger_(loop_),
          sites_(loop_, ledger_, directory_.path(), directory_.file(), length.seed),
          disturbances_(loop_, ledger_, sites_, length.seed),
          clients_(loop_, ledger_, sites_, directory_.file(), length.seed) {
        loop_.set_exception_handler([this](reactor::EventLoop&, const reactor::Report& report) {
            const bool rests = report.message.find("resting for") != std::string::npos;
            if (!rests || ledger_.totals.shortages == 0) ledger_.fault(report.text());
        });
        loop_.set_log([this](reactor::LogLevel level, const std::string& text) {
            if (level < reactor::LogLevel::warning) return;
            // A task that is cancelled when its stream has just come drops it.
            const bool dropped = text.find("a Stream is destroyed") != std::string::npos;
            if (!dropped || ++dropped_ > ledger_.totals.cancelled) {
                ledger_.fault("logged: " + text);
            }
        });
        loop_.add_signal_handler(SIGINT, [this] { interrupted_ = true; });
        loop_.run_once(milliseconds(0));
        quiet_watches_ = loop_.watch_count();
    }

    /// Whether all was well.
    bool run() {
        // A tenth each: of ten minutes, the first minute.
        bool quiet = run_to(1) && settle();
        const Holdings before = look("after the warm-up:");
        const bool compared = quiet && !interrupted_;
        if (compared) quiet = run_to(10) && settle();
        const Holdings after = look("at the end:       ");
        std::printf("soak: %s\n", figures().c_str());
        if (!quiet) return false;
        if (!compared) std::printf("soak: interrupted before there was anything to compare\n");
        const std::vector<std::string> grown = growth(before, after);
        for (const std::string& words : grown) {
            std::fprintf(stderr, "soak: NOT THE SAME: %s\n", words.c_str());
        }
        if (!grown.empty()) std::fprintf(stderr, "%s\n", why_alive(loop_).text(40).c_str());
        return grown.empty() && ledger_.faults() == 0;
    }

private:
    /// So many tenths of the whole. The first one, the warm-up, is as long as it takes to have seen
    /// everything, such as a connection that lingers, once.
    bool reached(std::uint64_t tenths) const {
        if (interrupted_) return true;
        if (!disturbances_.complete() || ledger_.totals.begun < warm_up) return false;
        if (length_.operations != 0) return ledger_.totals.begun >= most_operations(tenths);
        return loop_.time() - start_ >= milliseconds(length_.seconds * 100 * tenths);
    }
    std::uint64_t most_operations(std::uint64_t tenths) const {
        if (length_.operations == 0) return static_cast<std::uint64_t>(-1);
        return std::max(warm_up, length_.operations * tenths / 10);
    }
    static constexpr std::uint64_t warm_up = 300;

    bool run_to(std::uint64_t tenths) {
        disturbances_.go();
        reactor::TimerHandle tick = loop_.call_every(milliseconds(1), [this, tenths] {
            clients_.top_up(most_operations(tenths));
            tell();
            if (reached(tenths)) loop_.stop();
        });
        loop_.run_forever();
        tick.cancel();
        return true;
    }

    /// Ends all, and makes ready for a comparison.
    bool settle() {
        disturbances_.stop();
        if (!wait_until_quiet()) return false;
        disturbances_.fill_up();
        return wait_until_quiet();
    }

    /// Until nothing happens any more; false if that takes too long, which says what still does.
    bool wait_until_quiet() {
        const reactor::TimePoint end = loop_.time() + seconds(120);
        bool quiet = false;
        reactor::TimerHandle tick = loop_.call_every(milliseconds(2), [this, end, &quiet] {
            quiet = is_quiet();
            if (!quiet && tell()) std::printf("%s\n", waiting().c_str());
            if (quiet || loop_.time() > end) loop_.stop();
        });
        loop_.run_forever();
        tick.cancel();
        if (quiet) return true;
        ledger_.fault("it does not come to rest: " + waiting());
        return false;
    }

    std::string waiting() {
        return disturbances_.state() + ", " + std::to_string(ledger_.open()) + " connections" +
               ledger_.open_ones() + "\n" + why_alive(loop_).text(40);
    }

    /// Several times in a row: a client may wait to be accepted, or for his first callback.
    bool is_quiet() {
        const bool now = ledger_.open() == 0 && sites_.all_up() && sites_.open() == 0 &&
                         disturbances_.idle() && loop_.watch_count() == quiet_watches_;
        quiet_looks_ = now ? quiet_looks_ + 1 : 0;
        return quiet_looks_ >= 10;
    }

    /// A worker thread ends the job of a promise that was cancelled, and frees it, when it comes to
    /// it, which nothing tells: looks until nothing has changed for a while.
    Holdings look(const char* when) {
        ledger_.totals.rests = sites_.rests();
        Holdings now = holdings(loop_);
        for (int same = 0, looks = 0; same < 10 && looks < 500; ++looks) {
            // What a worker has posted must be able to arrive.
            const reactor::TimerHandle soon =
                loop_.call_later(milliseconds(20), [this] { loop_.stop(); });
            loop_.run_forever();
            const Holdings next = holdings(loop_);
            same = next.live == now.live && next.blocks == now.blocks && next.threads == now.threads
                       ? same + 1
                       : 0;
            now = next;
        }
        std::printf("soak: %s %s\n", when, now.str().c_str());
        std::fflush(stdout);
        return now;
    }

    std::string figures() {
        ledger_.totals.rests = sites_.rests();
        const Totals& t = ledger_.totals;
        const auto number = [](std::uint64_t n) { return std::to_string(n); };
        return number(t.begun) + " connections (" + number(t.whole) + " whole, " +
               number(t.struck) + " struck, " + number(t.cut) + " cut, " + number(t.not_connected) +
               " not made), " + number(t.bytes >> 20) + " MiB checked, " + number(t.restarts) +
               " restarts, " + number(t.shortages) + " shortages with " + number(t.rests) +
               " rests, " + number(t.disturbances) + " disturbances, " + number(ledger_.faults()) +
               " faults";
    }

    /// Every ten seconds.
    bool tell() {
        const auto length = loop_.time() - start_;
        if (length < seconds(10) * told_) return false;
        const auto now = std::chrono::duration_cast<seconds>(length).count();
        if (told_ != 0) {
            std::printf("soak: %d:%02d  %s\n", static_cast<int>(now / 60),
                        static_cast<int>(now % 60), figures().c_str());
            std::fflush(stdout);
        }
        told_ = static_cast<int>(now / 10) + 1;
        return now >= 10;
    }

    const Length length_;
    const Directory directory_;
    reactor::EventLoop loop_;
    Ledger ledger_;
    Sites sites_;
    Disturbances disturbances_;
    Clients clients_;
    const reactor::TimePoint start_ = loop_.time();
    std::size_t quiet_watches_ = 0;
    int quiet_looks_ = 0;
    int told_ = 0;
    std::uint64_t dropped_ = 0;
    bool interrupted_ = false;
};

constexpr std::uint64_t Soak::warm_up;

/// Throws std::invalid_argument.
Length parse(int argc, char** argv) {
    Length length;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        std::uint64_t* const value = option == "--seconds"      ? &length.seconds
                                     : option == "--operations" ? &length.operations
                                     : option == "--seed"       ? &length.seed
                                                                : nullptr;
        if (!value) throw std::invalid_argument("unknown option " + option);
        char* end = nullptr;
        if (i + 1 < argc) *value = std::strtoull(argv[++i], &end, 10);
        if (!end || *end != '\0' || end == argv[i]) {
            throw std::invalid_argument(option + " needs a number");
        }
    }
    if (length.seconds == 0) throw std::invalid_argument("--seconds must be positive");
    return length;
}

}  // namespace
}  // namespace soak

int main(int argc, char** argv) {
    soak::Length length;
    try {
        length = soak::parse(argc, argv);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "soak: %s\nusage: %s [--seconds N | --operations N] [--seed N]\n",
                     error.what(), argv[0]);
        return 2;
    }
    try {
        std::printf("soak: seed %llu, process %ld\n", static_cast<unsigned long long>(length.seed),
                    static_cast<long>(::getpid()));
        soak::Soak soak(length);
        const bool good = soak.run();
        std::printf(good ? "soak: nothing lost, nothing left behind\n" : "soak: FAILED\n");
        return good ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "soak: %s\n", error.what());
        return 1;
    }
}
