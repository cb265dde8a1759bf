// SPDX-License-Identifier: BSL-1.0
#include <net/pipe.hpp>

#include "piped.hpp"

#include <net/testing.hpp>

#include <test/support/temporary_directory.hpp>

#include <stdlib.h>
#include <sys/stat.h>

using namespace piped;

BOOST_AUTO_TEST_SUITE(pipe_descriptors)

namespace {

/// What a call that must fail says.
template <class F>
std::string refusal(F call) {
    try {
        call();
    } catch (const std::invalid_argument& error) {
        return error.what();
    } catch (const std::exception& error) {
        return std::string("another error: ") + error.what();
    }
    return "none";
}

struct Terminal {
    Terminal() : master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
        char name[64];
        BOOST_REQUIRE(::grantpt(master.number) == 0);
        BOOST_REQUIRE(::unlockpt(master.number) == 0);
        BOOST_REQUIRE(::ptsname_r(master.number, name, sizeof name) == 0);
        slave.number = ::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
        BOOST_REQUIRE(slave.number >= 0);
    }
    Descriptor master, slave;
};

}  // namespace

// A shell whose terminal does not block any more is broken: the flag belongs to the open file.
REACTOR_LOOP_TEST(who_shares_the_pipe_is_not_made_non_blocking) {
    Pipe pipe(0);
    const Descriptor other_out(::dup(pipe.out.number));
    const Descriptor other_in(::dup(pipe.in.number));
    Course reader, writer;
    const Transport out = reading(loop, pipe.out, reader);
    const Transport in = writing(loop, pipe.in, writer);
    BOOST_TEST(!blocks(out.native_handle()));
    BOOST_TEST(!blocks(in.native_handle()));
    BOOST_TEST(blocks(other_out.number));
    BOOST_TEST(blocks(other_in.number));
    BOOST_TEST((::fcntl(out.native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
    in.write("through");
    loop.run_until_idle();
    BOOST_TEST(reader.bytes == "through");
    in.close();
    out.close();
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(a_terminal_is_shared_likewise) {
    Terminal terminal;
    const Descriptor other(::dup(terminal.slave.number));
    Course course;
    const Transport transport = reading(loop, terminal.slave, course);
    BOOST_TEST(blocks(other.number));
    BOOST_TEST(!blocks(transport.native_handle()));
    BOOST_REQUIRE(::write(terminal.master.number, "typed\n", 6) == 6);
    for (int i = 0; i < 1000 && course.bytes.empty(); ++i) {
        ::poll(nullptr, 0, 1);
        loop.run_iterations(1);
    }
    BOOST_TEST(course.bytes == "typed\n");
    transport.close();
    loop.run_until_idle();
}

// Opened anew, it would be another terminal.
REACTOR_LOOP_TEST(the_master_of_a_terminal_stays_the_same) {
    Terminal terminal;
    Course course;
    const Transport transport = writing(loop, terminal.master, course);
    transport.write("line\n");
    loop.run_until_idle();
    char bytes[16];
    BOOST_TEST(::read(terminal.slave.number, bytes, sizeof bytes) == 5);
    transport.close();
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(a_fifo_is_a_pipe) {
    const support::TemporaryDirectory directory;
    const std::string path = directory.path() + "/fifo";
    BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    Descriptor out(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    Descriptor in(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    Course reader, writer;
    reading(loop, out, reader);
    const Transport transport = writing(loop, in, writer);
    transport.write("named");
    transport.close();
    loop.run_until_idle();
    BOOST_TEST(reader.calls == "made data eof lost");
    BOOST_TEST(reader.bytes == "named");
}

REACTOR_LOOP_TEST(what_is_no_pipe_is_refused_and_stays_the_callers) {
    Course course;
    const Descriptor file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    const std::string number = std::to_string(file.number);
    BOOST_TEST(refusal([&] { connect_read_pipe(loop, file.number, told(course)); }) ==
               "connect_read_pipe: descriptor " + number +
                   " is a file that is never waited for: run_in_executor() is for those");
    BOOST_TEST(is_open(file.number));
    Pipe pipe(0);
    BOOST_TEST(refusal([&] {
                   connect_read_pipe(loop, pipe.in.number, told(course));
               }).find("is open for writing only") != std::string::npos);
    BOOST_TEST(refusal([&] {
                   open_write_pipe(loop, pipe.out.number);
               }).find("is open for reading only") != std::string::npos);
    BOOST_TEST(refusal([&] { connect_read_pipe(loop, pipe.out.number, nullptr); }) ==
               "connect_read_pipe: the protocol is a null pointer");
    BOOST_TEST(blocks(pipe.in.number));
    BOOST_TEST(blocks(pipe.out.number));
    const Descriptor datagrams(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    BOOST_TEST(refusal([&] {
                   connect_read_pipe(loop, datagrams.number, told(course));
               }).find("is a socket without a stream") != std::string::npos);
    const Descriptor listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    BOOST_REQUIRE(::listen(listening.number, 1) == 0);
    for (const auto& call : {&open_read_pipe, &open_write_pipe}) {
        BOOST_TEST(refusal([&] {
                       call(loop, listening.number, reactor::Here());
                   }).find("is a listening socket") != std::string::npos);
    }
    BOOST_TEST(blocks(listening.number));
    BOOST_CHECK_EXCEPTION(connect_read_pipe(loop, -1, told(course)), std::system_error,
                          [](const std::system_error& error) {
                              return error.code() == std::errc::bad_file_descriptor;
                          });
    BOOST_TEST(course.calls == "");
}

REACTOR_LOOP_TEST(a_descriptor_has_one_transport) {
    Pipe pipe;
    Course first, second;
    const Transport transport = reading(loop, pipe.out, first);
    BOOST_CHECK_THROW(connect_read_pipe(loop, transport.native_handle(), told(second)), StateError);
    BOOST_CHECK_THROW(loop.add_reader(transport.native_handle(), [] {}), StateError);
    transport.close();
    loop.run_until_idle();
}

REACTOR_LOOP_TEST(what_is_always_ready_is_read_to_its_end) {
    Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    Course course;
    reading(loop, nothing, course);
    loop.run_until_idle();
    BOOST_TEST(course.calls == "made eof lost");
}

REACTOR_LOOP_TEST(pipes_work_beside_a_network_in_memory) {
    reactor::net::testing::MemoryNetwork network(loop);
    Pipe pipe;
    Course reader, writer;
    reading(loop, pipe.out, reader);
    const Transport transport = writing(loop, pipe.in, writer);
    transport.write("real");
    transport.close();
    loop.run_until_idle();
    BOOST_TEST(reader.bytes == "real");
    const std::pair<int, int> made_up = network.pair();
    BOOST_TEST(refusal([&] {
                   connect_read_pipe(loop, made_up.first, told(reader));
               }).find("make_transport() takes it") != std::string::npos);
    network.close(made_up.first);
    network.close(made_up.second);
}

BOOST_AUTO_TEST_SUITE_END()
