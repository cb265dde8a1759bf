// SPDX-License-Identifier: BSL-1.0
#include <net/listening_sockets.hpp>

#include "connected.hpp"
#include "unix_sockets.hpp"
#include <test/reactor/forked.hpp>
#include <test/support/temporary_directory.hpp>

#include <fcntl.h>
#include <netinet/in.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <vector>

using namespace connected;
using reactor::net::inherited_sockets;
using reactor::net::ListenEnvironment;
using reactor::net::ListeningSockets;

namespace {

int plain_listener(int type = SOCK_STREAM, bool listens = true) {
    const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
    ::sockaddr_in address = ::sockaddr_in();
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    BOOST_REQUIRE(::bind(fd, reinterpret_cast<const ::sockaddr*>(&address), sizeof address) == 0);
    if (listens) BOOST_REQUIRE(::listen(fd, 5) == 0);
    return fd;
}

bool is_close_on_exec(int fd) { return (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }

/// What `f` says in a child of this process.
std::string said_by_child(const std::function<std::string()>& f) {
    const Forked child = forked([&] {
        const std::string text = f();
        if (::write(STDERR_FILENO, text.data(), text.size()) < 0) throw 1;
    });
    BOOST_TEST(child.status == 0);
    return child.errors;
}

/// Puts the descriptors in place, as a program finds them after exec().
void inherit(const std::vector<int>& descriptors) {
    std::vector<int> above;
    for (const int fd : descriptors) above.push_back(::fcntl(fd, F_DUPFD_CLOEXEC, 100));
    int next = 3;
    for (const int fd : above) ::dup2(fd, next++);
    ::close(next);
}

void say_environment(const char* count, const char* names,
                     const std::string& process = std::to_string(::getpid())) {
    ::setenv("LISTEN_PID", process.c_str(), 1);
    ::setenv("LISTEN_FDS", count, 1);
    if (names) ::setenv("LISTEN_FDNAMES", names, 1);
}

/// "3 http 127.0.0.1:80, 4 ..." or the error's text.
std::string told(ListenEnvironment environment = ListenEnvironment::keep) {
    try {
        const ListeningSockets sockets = inherited_sockets(environment);
        std::string text;
        for (std::size_t i = 0; i < sockets.size(); ++i) {
            text += (i ? ", " : "") + std::to_string(sockets.descriptor(i)) + ' ' +
                    sockets.name(i) + ' ' + sockets.endpoint(i).str();
            if (!is_close_on_exec(sockets.descriptor(i))) text += " open on exec";
        }
        return text;
    } catch (const std::exception& error) {
        return error.what();
    }
}

Endpoint name_of(int fd) {
    ::sockaddr_storage address;
    ::socklen_t size = sizeof address;
    ::getsockname(fd, reinterpret_cast<::sockaddr*>(&address), &size);
    return Endpoint::from_sockaddr(&address, size);
}

struct TwoListeners {
    TwoListeners() : a(plain_listener()), b(plain_listener()) {}
    ~TwoListeners() {
        ::close(a);
        ::close(b);
    }
    TwoListeners(const TwoListeners&) = delete;
    TwoListeners& operator=(const TwoListeners&) = delete;
    int a, b;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(sockets_taken_over)

BOOST_AUTO_TEST_CASE(a_program_takes_the_sockets_it_was_started_with) {
    // This very program, started as systemd would.
    if (const char* const expected = std::getenv("REACTOR_TEST_EXPECTED")) {
        BOOST_TEST(told() == expected);
        BOOST_TEST(std::getenv("LISTEN_FDS") != nullptr);
        return;
    }
    BOOST_TEST(told() == "");
    const TwoListeners two;
    const std::string expected =
        "3 http " + name_of(two.a).str() + ", 4 unknown-2 " + name_of(two.b).str();
    const Forked child = forked([&] {
        inherit({two.a, two.b});
        say_environment("2", "http:unknown-2");
        ::setenv("REACTOR_TEST_EXPECTED", expected.c_str(), 1);
        ::execl("/proc/self/exe", "test", "--run_test=sockets_taken_over/a_program_takes*",
                static_cast<char*>(nullptr));
        throw 1;
    });
    BOOST_TEST(child.status == 0, child.errors);
}

BOOST_AUTO_TEST_CASE(they_are_taken_once_and_the_environment_is_left_alone) {
    const TwoListeners two;
    const std::string a = name_of(two.a).str(), b = name_of(two.b).str();
    const std::string said = said_by_child([&] {
        inherit({two.a, two.b});
        say_environment("2", nullptr);
        const ListeningSockets first = inherited_sockets();
        std::string text = first.name(0) + '\n' + told();
        if (!std::getenv("LISTEN_PID")) text += "\nremoved";
        return text;
    });
    BOOST_TEST(said ==
               "unknown\n"
               "inherited sockets: descriptor 3 (\"unknown\") has been taken already");
    BOOST_TEST(said_by_child([&] {
                   inherit({two.a, two.b});
                   say_environment("2", "a:");
                   std::string text = told(ListenEnvironment::remove);
                   for (const char* const name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) {
                       if (std::getenv(name)) text += name;
                   }
                   return text + '|' + told();
               }) == "3 a " + a + ", 4  " + b + "|");
}

BOOST_AUTO_TEST_CASE(those_of_another_process_are_not_ours) {
    const TwoListeners two;
    const auto told_with = [&](const std::string& process, const char* count) {
        return said_by_child([&] {
            inherit({two.a});
            say_environment(count, nullptr, process);
            return told();
        });
    };
    BOOST_TEST(told_with("1", "1") == "");
    BOOST_TEST(told_with("1", "rubbish") == "");
    BOOST_TEST(said_by_child([&] {
                   say_environment("0", nullptr);
                   return told();
               }) == "");
    const std::string wrong = "inherited sockets: LISTEN_PID is ";
    BOOST_TEST(told_with("me", "1") == wrong + "\"me\", which is no number: Invalid argument");
    BOOST_TEST(told_with("-4", "1") == wrong + "\"-4\", which is no number: Invalid argument");
    BOOST_TEST(told_with("", "1") == wrong + "\"\", which is no number: Invalid argument");
    BOOST_TEST(told_with("4294967296", "1") ==
               wrong + "\"4294967296\", which is more than there can be: Invalid argument");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_is_told_and_nothing_is_taken) {
    const TwoListeners two;
    const std::string start = "inherited sockets: ";
    const auto told_of = [&](const std::vector<int>& descriptors, const char* count,
                             const char* names) {
        return said_by_child([&] {
            inherit(descriptors);
            say_environment(count, names);
            const std::string text = told();
            return is_close_on_exec(3) ? text + " taken" : text;
        });
    };
    const std::string fds = start + "LISTEN_FDS is ";
    BOOST_TEST(told_of({two.a}, "two", nullptr) ==
               fds + "\"two\", which is no number: Invalid argument");
    BOOST_TEST(told_of({two.a}, "-1", nullptr) ==
               fds + "\"-1\", which is no number: Invalid argument");
    BOOST_TEST(told_of({two.a}, "1 ", nullptr) ==
               fds + "\"1 \", which is no number: Invalid argument");
    for (const std::string count : {"2147483645", "99999999999999999999999"}) {
        BOOST_TEST(told_of({two.a}, count.c_str(), nullptr) ==
                   fds + '"' + count + "\", which is more than there can be: Invalid argument");
    }
    BOOST_TEST(told_of({two.a}, "2147483644", "a") ==
               start +
                   "LISTEN_FDNAMES is \"a\", which is not one name for each of 2147483644 "
                   "descriptors: Invalid argument");
    BOOST_TEST(told_of({two.a, two.b}, "2", "a:b:c") ==
               start +
                   "LISTEN_FDNAMES is \"a:b:c\", which is not one name for each of 2 "
                   "descriptors: Invalid argument");
    BOOST_TEST(told_of({two.a}, "2", "a:b") == start + "descriptor 4 (\"b\"): Bad file descriptor");
    BOOST_TEST(told_of({two.a}, "2147483644", nullptr) ==
               start + "descriptor 4 (\"unknown\"): Bad file descriptor");
    const int datagrams = plain_listener(SOCK_DGRAM, false);
    const int not_yet = plain_listener(SOCK_STREAM, false);
    for (const int fd : {datagrams, not_yet}) {
        BOOST_TEST(told_of({two.a, fd}, "2", nullptr) ==
                   start +
                       "descriptor 4 (\"unknown\") is no stream socket that listens: "
                       "Invalid argument");
        ::close(fd);
    }
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    BOOST_TEST(told_of({two.a, file}, "2", nullptr) ==
               start +
                   "descriptor 4 (\"unknown\") is no stream socket that listens: "
                   "Socket operation on non-socket");
    ::close(file);
}

BOOST_AUTO_TEST_CASE(sockets_are_closed_unless_somebody_takes_them) {
    const std::size_t before = reactor::testing::open_descriptors();
    {
        ListeningSockets sockets;
        BOOST_TEST(sockets.empty());
        std::vector<int> fds;
        for (const char* const name : {"http", "admin", "http"}) {
            fds.push_back(plain_listener());
            sockets.add(fds.back(), name);
        }
        ListeningSockets http = sockets.take("http");
        BOOST_TEST(http.size() == 2u);
        BOOST_TEST(http.descriptor(0) == fds[0]);
        BOOST_TEST(http.descriptor(1) == fds[2]);
        BOOST_TEST(sockets.size() == 1u);
        BOOST_TEST(sockets.name(0) == "admin");
        BOOST_TEST((sockets.endpoint(0) == name_of(fds[1])));
        BOOST_TEST(sockets.take("nobody").empty());
        BOOST_CHECK_THROW(sockets.name(1), std::out_of_range);
        BOOST_CHECK_THROW(sockets.release(1), std::out_of_range);

        BOOST_TEST(http.release(0) == fds[0]);
        ::close(fds[0]);
        http = std::move(sockets);
        BOOST_TEST(::fcntl(fds[2], F_GETFD) == -1);
        BOOST_TEST(sockets.empty());
        BOOST_TEST(http.descriptor(0) == fds[1]);

        const int datagrams = plain_listener(SOCK_DGRAM, false);
        BOOST_CHECK_THROW(http.add(datagrams), std::invalid_argument);
        BOOST_CHECK_THROW(http.add(-1), std::system_error);
        BOOST_TEST(http.size() == 1u);
        ::close(datagrams);
    }
    BOOST_TEST(reactor::testing::open_descriptors() == before);
}

REACTOR_LOOP_TEST(a_listener_takes_one_over) {
    be_patient(loop);
    ListeningSockets sockets;
    sockets.add(plain_listener());
    const Endpoint at = sockets.endpoint(0);
    {
        Listener listener = Listener::adopt(loop, sockets.descriptor(0));
        BOOST_TEST(listener.native_handle() == sockets.release(0));
        BOOST_TEST((listener.local_endpoint() == at));
        BOOST_TEST((::fcntl(listener.native_handle(), F_GETFL) & O_NONBLOCK) != 0);
        Socket client(loop);
        const Promise<void> connected = client.connect(at);
        Socket server = loop.run_until_complete(listener.accept());
        loop.run_until_complete(connected);
        BOOST_TEST(server.no_delay());
        BOOST_TEST((server.remote_endpoint() == client.local_endpoint()));
    }
    Socket client(loop);
    BOOST_TEST(error_of(loop, client.connect(at)) ==
               "connect to " + at.str() + ": Connection refused");
}

// The path is its maker's, who may want to pass the socket on once more.
REACTOR_LOOP_TEST(the_file_of_a_socket_taken_over_stays) {
    const support::TemporaryDirectory directory;
    const std::string path = directory / "socket";
    unix_sockets::PlainSocket made;
    BOOST_REQUIRE(made.bind(path) == 0);
    BOOST_REQUIRE(::listen(made.fd, 5) == 0);
    const int fd = ::fcntl(made.fd, F_DUPFD, 0);
    {
        const Listener listener = Listener::adopt(loop, fd);
        BOOST_TEST(listener.local_endpoint().address() == path);
        BOOST_TEST(is_close_on_exec(fd));
    }
    BOOST_TEST(unix_sockets::exists(path));
    BOOST_TEST(::fcntl(fd, F_GETFD) == -1);
}

REACTOR_LOOP_TEST(what_does_not_listen_is_refused_and_stays_the_callers) {
    const int datagrams = plain_listener(SOCK_DGRAM, false);
    const int not_yet = plain_listener(SOCK_STREAM, false);
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    for (const int fd : {datagrams, not_yet, file}) {
        BOOST_CHECK_EXCEPTION(Listener::adopt(loop, fd), std::invalid_argument,
                              [&](const std::invalid_argument& error) {
                                  return error.what() == "adopt: descriptor " + std::to_string(fd) +
                                                             " is no stream socket that listens";
                              });
        BOOST_TEST(::fcntl(fd, F_GETFD) != -1);
        ::close(fd);
    }
    BOOST_CHECK_THROW(Listener::adopt(loop, -1), std::system_error);
    BOOST_CHECK_THROW(Listener::adopt(loop, datagrams), std::system_error);
}

BOOST_AUTO_TEST_CASE(the_same_descriptor_is_taken_once) {
    const int fd = plain_listener(), other = plain_listener();
    ListeningSockets sockets;
    sockets.add(fd, "a");
    sockets.add(other, "a");
    for (const char* const name : {"a", "b"}) {
        BOOST_CHECK_EXCEPTION(
            sockets.add(fd, name), reactor::StateError, [&](const reactor::StateError& error) {
                return error.what() == "ListeningSockets::add: descriptor " + std::to_string(fd) +
                                           " is in here already";
            });
    }
    BOOST_TEST(sockets.size() == 2u);
    // What has been taken out may come back.
    sockets.add(sockets.release(0));
    BOOST_TEST(sockets.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
