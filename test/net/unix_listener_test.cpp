// SPDX-License-Identifier: BSL-1.0
#include <net/listener.hpp>

#include "connected.hpp"
#include "unix_sockets.hpp"
#include <net/detail/unix_socket_file.hpp>
#include <test/reactor/forked.hpp>
#include <test/support/temporary_directory.hpp>

#include <atomic>
#include <csignal>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>

using namespace connected;
using namespace unix_sockets;
using support::names_in;
using support::TemporaryDirectory;
using Names = std::vector<std::string>;

namespace {

/// The code of the error, which must name the path; 0 if it listens.
int code_of_listening(reactor::EventLoop& loop, const std::string& path) {
    const Endpoint at = Endpoint::local_path(path);
    try {
        const Listener listener(loop, at);
    } catch (const std::system_error& error) {
        BOOST_TEST(std::string(error.what()).find("listen on unix:" + path + ": ") == 0u);
        BOOST_TEST((error.code().category() == std::system_category()));
        return error.code().value();
    }
    return 0;
}

void serves(TestLoop& loop, Listener& listener) {
    be_patient(loop);
    Socket client(loop);
    const Promise<void> connected = client.connect(listener.local_endpoint());
    Socket server = loop.run_until_complete(listener.accept());
    loop.run_until_complete(connected);
    loop.run_until_complete(client.send("hello"));
    BOOST_TEST(loop.run_until_complete(server.read()) == "hello");
}

::mode_t mode_of(const std::string& path) {
    struct ::stat found;
    BOOST_REQUIRE(::lstat(path.c_str(), &found) == 0);
    return found.st_mode & 07777;
}

/// Goes there, and back at its end.
struct WorkingDirectory {
    explicit WorkingDirectory(const std::string& path)
        : before(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        BOOST_REQUIRE(::chdir(path.c_str()) == 0);
    }
    ~WorkingDirectory() {
        BOOST_TEST(::fchdir(before) == 0);
        ::close(before);
    }
    WorkingDirectory(const WorkingDirectory&) = delete;
    WorkingDirectory& operator=(const WorkingDirectory&) = delete;
    const int before;
};

struct Umask {
    explicit Umask(::mode_t mask) : before(::umask(mask)) {}
    ~Umask() { ::umask(before); }
    Umask(const Umask&) = delete;
    Umask& operator=(const Umask&) = delete;
    const ::mode_t before;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(unix_listener)

// Fault E8, 2 and 5: stackia/rtp2httpd#572.
REACTOR_LOOP_TEST(UX_01_a_stale_file_is_replaced_and_no_other) {
    const TemporaryDirectory directory;
    const std::string path = directory / "socket";
    const Endpoint at = Endpoint::local_path(path);
    {
        Listener nothing_there(loop, at);
        BOOST_TEST((nothing_there.local_endpoint() == at));
        serves(loop, nothing_there);
    }
    BOOST_TEST(names_in(directory.path()) == Names());

    leave_stale(path);
    BOOST_TEST(connecting_to(path) == ECONNREFUSED);
    {
        Listener stale(loop, at);
        BOOST_TEST((stale.local_endpoint() == at));
        serves(loop, stale);
        BOOST_TEST(names_in(directory.path()) == Names{"socket"});
    }
    BOOST_TEST(names_in(directory.path()) == Names());

    support::write_file(path, "mine");
    BOOST_TEST(code_of_listening(loop, path) == EADDRINUSE);
    BOOST_TEST(support::read_file(path) == "mine");
}

REACTOR_LOOP_TEST(UX_03_a_server_is_found_by_its_path_and_both_ends_know_it) {
    be_patient(loop);
    const TemporaryDirectory directory;
    const Endpoint at = Endpoint::local_path(directory / "socket");
    Socket client(loop);
    BOOST_TEST(error_of(loop, client.connect(at)) ==
               "connect to " + at.str() + ": No such file or directory");
    BOOST_TEST(client.native_handle() == -1);

    Listener listener(loop, at);
    const Promise<Socket> accepted = listener.accept();
    loop.run_until_complete(client.connect(at));
    Socket server = loop.run_until_complete(accepted);
    BOOST_TEST((client.remote_endpoint() == at));
    BOOST_TEST((server.local_endpoint() == at));
    BOOST_TEST(client.local_endpoint().str() == "unix:");
    BOOST_TEST(server.remote_endpoint().str() == "unix:");
    loop.run_until_complete(client.send("echo"));
    loop.run_until_complete(server.send(loop.run_until_complete(server.read())));
    BOOST_TEST(loop.run_until_complete(client.read()) == "echo");
}

REACTOR_LOOP_TEST(a_server_that_lives_is_never_replaced) {
    be_patient(loop);
    const TemporaryDirectory directory;
    const std::string path = directory / "socket";
    {
        Full full(loop, Endpoint::local_path(path));
        BOOST_TEST(connecting_to(path) == EAGAIN);
        BOOST_TEST(code_of_listening(loop, path) == EADDRINUSE);
        BOOST_TEST(connecting_to(path) == EAGAIN);
    }
    {
        PlainSocket not_listening_yet;
        BOOST_REQUIRE(not_listening_yet.bind(path) == 0);
        BOOST_TEST(connecting_to(path) == ECONNREFUSED);
        BOOST_TEST(code_of_listening(loop, path) == EADDRINUSE);
        BOOST_REQUIRE(::listen(not_listening_yet.fd, 5) == 0);
        BOOST_TEST(connecting_to(path) == 0);
        BOOST_TEST(code_of_listening(loop, path) == EADDRINUSE);
        // The client from above waits, and none that only looked whether somebody is there.
        const int client = ::accept4(not_listening_yet.fd, nullptr, nullptr, SOCK_CLOEXEC);
        BOOST_TEST(client >= 0);
        ::close(client);
        BOOST_TEST(::accept4(not_listening_yet.fd, nullptr, nullptr, SOCK_CLOEXEC) == -1);
    }
    BOOST_TEST(code_of_listening(loop, path) == 0);
    for (const int type : {SOCK_DGRAM, SOCK_SEQPACKET}) {
        PlainSocket other(type);
        BOOST_REQUIRE(other.bind(path) == 0);
        BOOST_TEST(code_of_listening(loop, path) == EADDRINUSE);
        ::unlink(path.c_str());
    }
    BOOST_TEST(names_in(directory.path()) == Names());
}

REACTOR_LOOP_TEST(what_is_no_socket_is_left_alone) {
    const TemporaryDirectory directory;
    const std::string socket = directory / "socket";
    leave_stale(socket);
    BOOST_REQUIRE(::symlink("socket", (directory / "link").c_str()) == 0);
    BOOST_REQUIRE(::symlink("nowhere", (directory / "dangling").c_str()) == 0);
    BOOST_REQUIRE(::mkdir((directory / "folder").c_str(), 0777) == 0);
    BOOST_REQUIRE(::mkfifo((directory / "pipe").c_str(), 0777) == 0);
    const Names before = names_in(directory.path());
    for (const char* const name : {"link", "dangling", "folder", "pipe"}) {
        BOOST_TEST(code_of_listening(loop, directory / name) == EADDRINUSE);
    }
    BOOST_TEST(names_in(directory.path()) == before);
    BOOST_TEST(code_of_listening(loop, directory / "missing/socket") == ENOENT);
}

// Fault E8, 3 (redis/redis#15575): the file is removed by its server only.
REACTOR_LOOP_TEST(close_removes_its_own_file_and_no_other) {
    const TemporaryDirectory directory;
    const std::string path = directory / "socket";
    const Endpoint at = Endpoint::local_path(path);
    Listener a(loop, at);
    ::unlink(path.c_str());
    Listener b(loop, at);
    a.close();
    BOOST_TEST(names_in(directory.path()) == Names{"socket"});
    serves(loop, b);

    Listener moved = std::move(b);
    BOOST_TEST(exists(path));
    // Not what it has become meanwhile, either.
    ::unlink(path.c_str());
    support::write_file(path, "theirs");
    moved.close();
    BOOST_TEST(support::read_file(path) == "theirs");
    ::unlink(path.c_str());

    Listener assigned(loop, at);
    assigned = Listener();
    BOOST_TEST(!exists(path));
    Listener gone(loop, at);
    ::unlink(path.c_str());
    gone.close();
    gone.close();
    BOOST_TEST(names_in(directory.path()) == Names());
}

// Law 9.
REACTOR_LOOP_TEST(a_forked_child_removes_nothing) {
    const TemporaryDirectory directory;
    const std::string path = directory / "socket";
    std::unique_ptr<Listener> listener(new Listener(loop, Endpoint::local_path(path)));
    const Forked child = forked([&] {
        listener.reset();
        if (!exists(path)) throw 1;
    });
    BOOST_TEST(child.status == 0);
    serves(loop, *listener);
    listener.reset();
    BOOST_TEST(!exists(path));
}

// Fault E8, 2, for many at once: one of them serves, the others are told so.
BOOST_AUTO_TEST_CASE(of_servers_that_start_together_one_replaces_the_stale_file) {
    constexpr int count = 4;
    const TemporaryDirectory directory;
    const std::string path = directory / "socket";
    const Endpoint at = Endpoint::local_path(path);
    for (int round = 0; round < 25; ++round) {
        leave_stale(path);
        std::atomic<int> started{0}, won{0}, lost{0};
        std::atomic<bool> looked{false};
        const auto wait_for = [](const std::function<bool()>& reached) {
            while (!reached()) std::this_thread::yield();
        };
        const auto serve = [&] {
            TestLoop loop;
            Listener listener;
            ++started;
            wait_for([&] { return started == count; });
            try {
                listener = Listener(loop, at);
                ++won;
            } catch (const std::system_error& error) {
                if (error.code().value() == EADDRINUSE) ++lost;
            }
            wait_for([&] { return looked.load(); });
        };
        std::vector<std::thread> threads;
        for (int i = 0; i < count; ++i) threads.emplace_back(serve);
        wait_for([&] { return won + lost == count; });
        BOOST_TEST(won == 1);
        BOOST_TEST(connecting_to(path) == 0);
        BOOST_TEST(names_in(directory.path()) == Names{"socket"});
        looked = true;
        for (std::thread& thread : threads) thread.join();
        BOOST_TEST(names_in(directory.path()) == Names());
    }
}

BOOST_AUTO_TEST_CASE(the_directory_is_locked_until_the_path_is_bound_again) {
    const TemporaryDirectory directory;
    leave_stale(directory / "socket");
    const int fd = ::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    {
        const reactor::net::detail::StaleSocketRemoval removal(directory / "socket");
        BOOST_TEST(removal.made_way());
        BOOST_TEST(::flock(fd, LOCK_EX | LOCK_NB) == -1);
        BOOST_TEST(errno == EWOULDBLOCK);
    }
    BOOST_TEST(::flock(fd, LOCK_EX | LOCK_NB) == 0);
    ::close(fd);
    BOOST_TEST(names_in(directory.path()) == Names());
}

REACTOR_LOOP_TEST(a_lock_that_somebody_keeps_on_the_directory_does_not_matter) {
    const TemporaryDirectory directory;
    leave_stale(directory / "socket");
    const int locked = ::open(directory.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    BOOST_REQUIRE(::flock(locked, LOCK_SH) == 0);
    BOOST_TEST(code_of_listening(loop, directory / "socket") == 0);
    ::close(locked);
}

REACTOR_LOOP_TEST(a_server_that_was_killed_is_replaced) {
    const TemporaryDirectory directory;
    const std::string path = directory / "socket";
    int ready[2];
    BOOST_REQUIRE(::pipe(ready) == 0);
    const ::pid_t child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
        TestLoop own;
        const Listener listener(own, Endpoint::local_path(path));
        if (::write(ready[1], "x", 1) == 1) ::pause();
        ::_exit(1);
    }
    char byte;
    BOOST_TEST(::read(ready[0], &byte, 1) == 1);
    BOOST_TEST(code_of_listening(loop, path) == EADDRINUSE);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    BOOST_TEST(exists(path));
    Listener listener(loop, Endpoint::local_path(path));
    serves(loop, listener);
    ::close(ready[0]);
    ::close(ready[1]);
}

// Fault E8, 1 and 4.
REACTOR_LOOP_TEST(a_path_is_never_cut_and_an_abstract_name_has_exactly_its_bytes) {
    const TemporaryDirectory directory;
    const auto path_of = [&](std::size_t size) {
        const std::string start = directory / "";
        return start + std::string(size - start.size(), 's');
    };
    {
        Listener longest(loop, Endpoint::local_path(path_of(107)));
        BOOST_TEST(connecting_to(path_of(107)) == 0);
        BOOST_TEST(longest.local_endpoint().address() == path_of(107));
    }
    leave_stale(path_of(107));
    BOOST_TEST(code_of_listening(loop, path_of(107)) == 0);
    for (const std::size_t size : {108u, 200u}) {
        BOOST_CHECK_EXCEPTION(
            Endpoint::local_path(path_of(size)), std::system_error,
            [](const std::system_error& error) { return error.code().value() == ENAMETOOLONG; });
    }
    BOOST_TEST(names_in(directory.path()) == Names());

    const std::string name = std::string("ap\0p", 4) + std::to_string(::getpid());
    Listener listener(loop, Endpoint::local_abstract(name));
    BOOST_TEST(listener.local_endpoint().is_abstract());
    BOOST_TEST(listener.local_endpoint().address() == name);
    BOOST_TEST(connecting_to('\0' + name) == 0);
    BOOST_TEST(connecting_to('\0' + name + '\0') == ECONNREFUSED);
    BOOST_CHECK_THROW(Listener(loop, Endpoint::local_abstract(name)), std::system_error);
}

// Its address has 111 bytes, and a sockaddr_un 110.
REACTOR_LOOP_TEST(a_client_with_the_longest_path_of_all_is_one_without_a_name) {
    const TemporaryDirectory directory;
    const std::string path = directory / "socket";
    Listener listener(loop, Endpoint::local_path(path));
    PlainSocket client;
    BOOST_REQUIRE(client.bind(longest_path(directory.path())) == 0);
    BOOST_REQUIRE(client.connect(path) == 0);
    Socket server = loop.run_until_complete(listener.accept());
    BOOST_TEST(server.remote_endpoint().str() == "unix:");
    BOOST_TEST(::write(client.fd, "x", 1) == 1);
    BOOST_TEST(loop.run_until_complete(server.read()) == "x");

    // And so is a listener, if others have opened it.
    const std::string longest = longest_path(directory.path() + "/.");
    PlainSocket others;
    BOOST_REQUIRE(others.bind(longest) == 0);
    BOOST_REQUIRE(::listen(others.fd, 5) == 0);
    Listener adopted = Listener::adopt(loop, ::dup(others.fd));
    BOOST_TEST(adopted.local_endpoint().str() == "unix:");
    PlainSocket second;
    BOOST_REQUIRE(second.connect(longest) == 0);
    const Socket connected = Socket::adopt(loop, ::dup(second.fd));
    BOOST_TEST(connected.remote_endpoint().str() == "unix:");
    BOOST_TEST(loop.run_until_complete(adopted.accept()).is_connected());
}

REACTOR_LOOP_TEST(permissions_are_those_asked_for_or_the_umasks) {
    const TemporaryDirectory directory;
    const std::string path = directory / "socket";
    const Endpoint at = Endpoint::local_path(path);
    const Umask strict(077);
    {
        const Listener listener(loop, at);
        BOOST_TEST(mode_of(path) == 0700u);
    }
    for (const int mode : {0666, 0600, 0777, 0}) {
        const Listener listener(loop, at, ListenerOptions().permissions(mode));
        BOOST_TEST(mode_of(path) == static_cast<::mode_t>(mode));
    }
    const Umask none(0);
    const Listener listener(loop, at, ListenerOptions().permissions(0600));
    BOOST_TEST(mode_of(path) == 0600u);
    for (const int nonsense : {-2, 01000}) {
        BOOST_CHECK_THROW(Listener(loop, Endpoint::local_path(directory / "other"),
                                   ListenerOptions().permissions(nonsense)),
                          std::invalid_argument);
    }
    BOOST_TEST(names_in(directory.path()) == Names{"socket"});
}

// Neither what the umask leaves nor what the file that was there had.
REACTOR_LOOP_TEST(permissions_are_those_asked_for_in_the_place_of_a_stale_file_too) {
    const TemporaryDirectory directory;
    const std::string path = directory / "socket";
    const Endpoint at = Endpoint::local_path(path);
    for (const ::mode_t mask : {0u, 077u}) {
        const Umask umask(mask);
        for (const int mode : {0600, 0666}) {
            leave_stale(path);
            BOOST_REQUIRE(::chmod(path.c_str(), 0755) == 0);
            const Listener listener(loop, at, ListenerOptions().permissions(mode));
            BOOST_TEST(mode_of(path) == static_cast<::mode_t>(mode));
        }
    }
    BOOST_TEST(names_in(directory.path()) == Names());
}

REACTOR_LOOP_TEST(the_file_of_a_relative_path_stays_if_the_program_has_gone_elsewhere) {
    const TemporaryDirectory first, second;
    const Endpoint at = Endpoint::local_path("socket");
    const WorkingDirectory there(first.path());
    {
        Listener listener(loop, at);
        serves(loop, listener);
        {
            const WorkingDirectory elsewhere(second.path());
            // Of the same name, and somebody else's.
            Listener other(loop, at);
            listener.close();
            BOOST_TEST(names_in(second.path()) == Names{"socket"});
            serves(loop, other);
        }
        BOOST_TEST(names_in(first.path()) == Names{"socket"});
        BOOST_TEST(connecting_to(first / "socket") == ECONNREFUSED);
    }
    // It is a stale one, and the file of one that has come back goes.
    Listener again(loop, at);
    { const WorkingDirectory elsewhere(second.path()); }
    again.close();
    BOOST_TEST(names_in(first.path()) == Names());
    BOOST_TEST(names_in(second.path()) == Names());
}

BOOST_AUTO_TEST_SUITE_END()
