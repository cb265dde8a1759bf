// SPDX-License-Identifier: BSL-1.0
//
// Fetches pictures concurrently: one loop, one thread for the network, files written by the loop's
// executor. See options.cpp for the usage.
#include "crawl.hpp"
#include "options.hpp"
#include "picture_file.hpp"
#include "picture_server.hpp"

#include <apps/command_line/arguments.hpp>

#include <reactor/error.hpp>
#include <reactor/event_loop.hpp>
#include <reactor/executor.hpp>
#include <reactor/signals.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

namespace {

using command_line::exit_failed;
using command_line::exit_signal;
using command_line::exit_usage;

int serve(reactor::EventLoop& loop, const crawler::Options& options) {
    const crawler::PictureServer server(loop,
                                        crawler::Gallery::uniform(options.count, options.latency));
    std::printf("%s/\n", server.base().c_str());
    std::fflush(stdout);
    for (const int signal : {SIGINT, SIGTERM}) {
        loop.add_signal_handler(signal, &reactor::EventLoop::stop, &loop);
    }
    loop.run_forever();
    std::printf("at most %zu requests open at once\n", server.most_open());
    return 0;
}

int crawl(reactor::EventLoop& loop, crawler::Options options) {
    std::unique_ptr<crawler::PictureServer> server;
    if (options.mode == crawler::Options::Mode::demo) {
        server.reset(new crawler::PictureServer(loop, crawler::Gallery::demo()));
        for (const std::string& path : crawler::Gallery::demo().paths()) {
            options.urls.push_back(server->base() + path);
        }
    }
    const std::size_t wanted = std::min(options.jobs, options.urls.size());
    const std::size_t jobs = crawler::affordable_jobs(wanted, server ? 2 : 1);
    if (jobs < wanted) {
        std::fprintf(stderr,
                     "crawler: %zu fetches at once need more descriptors than the system's limit "
                     "allows: fetching %zu at a time (raise it with ulimit -n)\n",
                     wanted, jobs);
    }
    options.jobs = jobs;
    crawler::make_directory(options.output);

    crawler::Crawl crawl(loop, options);
    int interrupted_by = 0;
    for (const int signal : {SIGINT, SIGTERM}) {
        loop.add_signal_handler(signal, [&crawl, &interrupted_by, signal] {
            interrupted_by = signal;
            crawl.cancel();
        });
    }
    loop.run_until_complete(crawl.start());
    // A writer that was told to give up may be about to remove its temporary file.
    loop.run_until_complete(reactor::shutdown_default_executor(loop));
    if (server) {
        std::printf("Requests open at once: at most %zu\n", server->most_open());
    }
    crawl.print_summary();
    if (interrupted_by != 0) return exit_signal + interrupted_by;
    return crawl.all_succeeded() ? 0 : exit_failed;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const crawler::Options options = crawler::parse_options(argc, argv);
        if (options.mode == crawler::Options::Mode::help) {
            std::fputs(crawler::usage, stdout);
            return 0;
        }
        reactor::EventLoop loop;
        return options.mode == crawler::Options::Mode::serve ? serve(loop, options)
                                                             : crawl(loop, options);
    } catch (const command_line::UsageError& error) {
        std::fprintf(stderr, "crawler: %s\n\n%s", error.what(), crawler::usage);
        return exit_usage;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "crawler: %s\n", error.what());
        return exit_failed;
    }
}
