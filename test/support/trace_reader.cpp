// SPDX-License-Identifier: BSL-1.0
#include "trace_reader.hpp"

#include "json.hpp"
#include "temporary_directory.hpp"

#include <map>
#include <stdexcept>

namespace support {

namespace {

void require(bool condition, const std::string& what) {
    if (!condition) throw std::runtime_error("trace: " + what);
}

// "12.345" microseconds are 12345 nanoseconds.
long nanoseconds(const Json& json) {
    require(json.kind == Json::Kind::number, "a time is no number");
    const std::size_t dot = json.text.find('.');
    require(dot != std::string::npos && dot + 4 == json.text.size(), "time " + json.text);
    return std::stol(json.text.substr(0, dot) + json.text.substr(dot + 1));
}

long whole(const Json& json) {
    require(json.kind == Json::Kind::number, "an id is no number");
    return std::stol(json.text);
}

void check(const TraceRead& trace) {
    std::map<long, const TraceRead::Slice*> by_id;
    long last_end = 0;
    for (const auto& slice : trace.slices) {
        require(by_id.emplace(slice.id, &slice).second, "an id twice: " + slice.name);
        require(slice.begin >= last_end && slice.end >= slice.begin, "overlap: " + slice.name);
        last_end = slice.end;
    }
    std::map<long, int> arrows_to;
    for (const auto& arrow : trace.arrows) {
        require(arrow.begin >= 0 && arrow.end >= 0, "an arrow with one end");
        require(arrow.begin <= arrow.end, "an arrow back in time");
        require(by_id.count(arrow.id) == 1, "an arrow to nothing");
        const TraceRead::Slice& to = *by_id[arrow.id];
        require(arrow.end == to.begin, "an arrow beside " + to.name);
        require(by_id.count(to.cause) == 1, "an arrow from nothing to " + to.name);
        const TraceRead::Slice& from = *by_id[to.cause];
        require(arrow.begin >= from.begin && arrow.begin <= from.end, "beside " + from.name);
        require(arrow.begin < from.end || from.begin == from.end, "at the end of " + from.name);
        require(++arrows_to[arrow.id] == 1, "two arrows to " + to.name);
    }
    for (const auto& slice : trace.slices) {
        require(arrows_to.count(slice.id) == (slice.cause != 0), "no arrow to " + slice.name);
    }
}

}  // namespace

TraceRead read_trace(const std::string& path) {
    const Json json = parse_json(read_file(path));
    require(json.kind == Json::Kind::array, "no array");
    TraceRead trace;
    std::map<long, TraceRead::Arrow> arrows;
    for (const Json& event : json.items) {
        const std::string phase = event["ph"].text;
        whole(event["pid"]);
        whole(event["tid"]);
        if (phase == "M") continue;
        if (phase == "X") {
            TraceRead::Slice slice;
            slice.name = event["name"].text;
            slice.kind = event["cat"].text;
            slice.id = whole(event["args"]["id"]);
            slice.cause = whole(event["args"]["cause"]);
            slice.begin = nanoseconds(event["ts"]);
            slice.end = slice.begin + nanoseconds(event["dur"]);
            trace.slices.push_back(slice);
            continue;
        }
        require(phase == "s" || phase == "f", "phase " + phase);
        TraceRead::Arrow& arrow = arrows[whole(event["id"])];
        arrow.id = whole(event["id"]);
        long& end = phase == "s" ? arrow.begin : arrow.end;
        require(end < 0, "two ends of an arrow at the same place");
        end = nanoseconds(event["ts"]);
        if (phase == "f") require(event["bp"].text == "e", "an arrow to the next slice");
    }
    for (const auto& arrow : arrows) trace.arrows.push_back(arrow.second);
    check(trace);
    return trace;
}

const TraceRead::Slice& TraceRead::slice(const std::string& name) const {
    const Slice* found = nullptr;
    for (const Slice& slice : slices) {
        if (slice.name != name) continue;
        require(!found, "two slices " + name);
        found = &slice;
    }
    require(found != nullptr, "no slice " + name);
    return *found;
}

std::string TraceRead::cause_of(const Slice& slice) const {
    for (const Slice& other : slices) {
        if (slice.cause != 0 && other.id == slice.cause) return other.name;
    }
    return std::string();
}

}  // namespace support
