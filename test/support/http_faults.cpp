// SPDX-License-Identifier: BSL-1.0
#include "http_faults.hpp"

#include <chrono>
#include <string>
#include <thread>

namespace support {

void add_faults(HttpPeer& server) {
    const auto answers = [&server](const std::string& path, const std::string& bytes) {
        server.on(path, [bytes](PeerConnection& to) { to.send(bytes); });
    };
    const std::string half =
        "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + std::string(1000, 'x');

    server.on("/silent", [](PeerConnection& to) { to.hold(); });
    server.on("/stalled", [half](PeerConnection& to) {
        to.send(half);
        to.hold();
    });
    server.on("/drip", [](PeerConnection& to) {
        bool alive = to.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
        while (alive) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            alive = to.send("x");
        }
    });
    answers("/half", half);
    server.on("/half-reset", [half](PeerConnection& to) {
        to.send(half);
        to.reset();
    });
    server.on("/open-reset", [](PeerConnection& to) {
        to.send("HTTP/1.1 200 OK\r\n\r\n" + std::string(1000, 'x'));
        to.reset();
    });
    answers("/half-head", "HTTP/1.1 200 OK\r\nContent-Le");
    answers("/empty", "");
    server.on("/reset", [](PeerConnection& to) { to.reset(); });
    server.on("/endless-head", [](PeerConnection& to) {
        bool alive = to.send("HTTP/1.1 200 OK\r\n");
        while (alive) alive = to.send("X-Filler: " + std::string(1000, 'f') + "\r\n");
    });
    answers("/not-http", "220 mail.example ESMTP\r\n");
    answers("/loop", "HTTP/1.1 302 Found\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n");
    answers("/nowhere", "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n");
    answers("/bad-location",
            "HTTP/1.1 302 Found\r\nLocation: http://[broken/\r\nContent-Length: 0\r\n\r\n");
    answers("/to-https",
            "HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1/\r\nContent-Length: 0\r\n\r\n");
    answers("/missing", "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone");
}

}  // namespace support
