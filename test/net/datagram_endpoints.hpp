// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_DATAGRAM_ENDPOINTS_HPP
#define REACTOR_TEST_NET_DATAGRAM_ENDPOINTS_HPP

#include <net/create_datagram_endpoint.hpp>

#include "datagrams.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

/// What tests of datagram transports share: a protocol that writes down what it is told.
namespace datagram_endpoints {

using namespace datagrams;
using reactor::net::ByteView;
using reactor::net::create_datagram_endpoint;
using reactor::net::DatagramEndpointOptions;
using reactor::net::DatagramProtocol;
using reactor::net::DatagramProtocolFactory;
using reactor::net::DatagramTransport;
using reactor::net::WriteLimits;

/// What happens at one endpoint, and what to do then.
struct Course {
    std::string calls;             // "made lost pause error": no datagrams
    std::vector<std::string> got;  // "(first 4 of 6)abcd" of one that was cut
    std::vector<Endpoint> from;
    std::vector<std::string> errors;  // the texts
    int code = 0;                     // of the last one
    int lost = 0;
    int destroyed = 0;
    std::exception_ptr error;
    DatagramTransport transport;

    std::function<void()> on_made, on_datagram, on_error, on_pause, on_lost;

    void note(const std::string& call) {
        BOOST_TEST((lost == 0), call << " after connection_lost");
        calls += (calls.empty() ? "" : " ") + call;
    }
    static void run(const std::function<void()>& hook) {
        if (hook) hook();
    }
};

class Told : public DatagramProtocol {
public:
    explicit Told(Course& course) : course_(course) {}
    ~Told() override { ++course_.destroyed; }

    void connection_made(const DatagramTransport& transport) override {
        course_.note("made");
        course_.transport = transport;
        Course::run(course_.on_made);
    }
    void datagram_received(ByteView bytes, const Endpoint& from) override {
        BOOST_TEST(course_.lost == 0);
        course_.got.push_back(bytes.str());
        course_.from.push_back(from);
        Course::run(course_.on_datagram);
    }
    void error_received(const std::system_error& error) override {
        course_.note("error");
        course_.errors.push_back(error.what());
        course_.code = error.code().value();
        Course::run(course_.on_error);
    }
    void connection_lost(std::exception_ptr error) override {
        course_.note("lost");
        course_.error = std::move(error);
        Course::run(course_.on_lost);
        ++course_.lost;
    }
    void pause_writing() override {
        course_.note("pause");
        Course::run(course_.on_pause);
    }
    void resume_writing() override { course_.note("resume"); }
    const char* protocol_name() const noexcept override { return "Told"; }

private:
    Course& course_;
};

/// Sees those that were cut.
class ToldAll : public Told {
public:
    explicit ToldAll(Course& course) : Told(course), course_(course) {}
    void datagram_truncated(ByteView beginning, const Endpoint& from, std::size_t full) override {
        course_.got.push_back("(first " + std::to_string(beginning.size()) + " of " +
                              std::to_string(full) + ")" + beginning.str());
        course_.from.push_back(from);
    }

private:
    Course& course_;
};

inline DatagramProtocolFactory told(Course& course) {
    return [&course] { return std::unique_ptr<DatagramProtocol>(new Told(course)); };
}

inline DatagramEndpointOptions at(const Endpoint& local) {
    return DatagramEndpointOptions().local(local);
}
inline DatagramEndpointOptions to(const Endpoint& remote) {
    return DatagramEndpointOptions().remote(remote);
}

/// Opens an endpoint, and waits for it.
inline DatagramTransport open(TestLoop& loop, Course& course,
                              const DatagramEndpointOptions& options) {
    be_patient(loop);
    return loop.run_until_complete(create_datagram_endpoint(loop, told(course), options));
}

/// Turns the loop until that has come.
inline void run_until(TestLoop& loop, const std::function<bool()>& reached) {
    for (int i = 0; i < 1000 && !reached(); ++i) loop.run_once(milliseconds(10));
    BOOST_TEST(reached());
}

/// Ends the endpoint; nothing of it is left then.
inline void end(TestLoop& loop, Course& course) {
    course.transport.abort();
    run_until(loop, [&] { return course.lost == 1; });
    BOOST_TEST(course.destroyed == 1);
}

}  // namespace datagram_endpoints

#endif
