// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/json_report.hpp>

#include <cmath>
#include <cstdio>

#include <test/bench/driver/targets.hpp>

namespace bench {

namespace {

std::string number(double value) {
    if (!std::isfinite(value)) return "null";
    char text[64];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

/// An object or an array, as its parts are added: "{" and "}", or "[" and "]".
class Group {
public:
    explicit Group(const char* brackets) : text_(1, brackets[0]), end_(brackets[1]) {}

    Group& add(const std::string& value) {
        if (text_.size() > 1) text_ += ",";
        text_ += value;
        return *this;
    }
    Group& add(const std::string& name, const std::string& value) {
        return add(json_string(name) + ":" + value);
    }
    std::string done() const { return text_ + end_; }

private:
    std::string text_;
    char end_;
};

template <class T, class F>
std::string array(const std::vector<T>& all, F to_json_of_one) {
    Group group("[]");
    for (const T& one : all) group.add(to_json_of_one(one));
    return group.done();
}

std::string object(const std::vector<std::pair<std::string, double>>& figures) {
    Group group("{}");
    for (const auto& figure : figures) group.add(figure.first, number(figure.second));
    return group.done();
}

std::string json_of(const Row& row) {
    const Series& series = row.series;
    return Group("{}")
        .add("implementation", json_string(series.cell.implementation))
        .add("nanoseconds", number(row.nanoseconds))
        .add("to_limit", number(row.to_limit))
        .add("ours_to", number(row.ours_to))
        .add("instructions", number(series.instructions))
        .add("syscalls", number(series.syscalls))
        .add("operations", std::to_string(series.operations))
        .add("samples", array(series.samples,
                              [](const Sample& sample) {
                                  return Group("{}")
                                      .add("round", std::to_string(sample.round))
                                      .add("nanoseconds", number(sample.value))
                                      .done();
                              }))
        .done();
}

std::string json_of(const Table& table) {
    return Group("{}")
        .add("workload", json_string(table.workload))
        .add("rows", array(table.rows, [](const Row& row) { return json_of(row); }))
        .done();
}

std::string json_of(const Growth& growth) {
    return Group("{}")
        .add("of", json_string(growth.of))
        .add("implementation", json_string(growth.implementation))
        .add("promised", json_string(growth.kind == Kind::flat ? "flat" : "logarithmic"))
        .add("points", array(growth.points,
                             [](const Growth::Point& point) {
                                 return Group("{}")
                                     .add("rounds", std::to_string(point.rounds))
                                     .add("size", std::to_string(point.size))
                                     .add("nanoseconds", number(point.nanoseconds))
                                     .done();
                             }))
        .done();
}

std::string json_of(const FigureTable& table) {
    return Group("{}")
        .add("workload", json_string(table.workload))
        .add("rows", array(table.lines,
                           [](const FigureTable::Line& line) {
                               return Group("{}")
                                   .add("implementation", json_string(line.cell.implementation))
                                   .add("operations", std::to_string(line.operations))
                                   .add("rounds", std::to_string(line.rounds))
                                   .add("figures", object(line.figures))
                                   .done();
                           }))
        .done();
}

std::string json_of(const Reached& reached) {
    return Group("{}")
        .add("what", json_string(reached.target.what))
        .add("workload", json_string(reached.target.workload))
        .add("implementation", json_string(reached.target.implementation))
        .add("measure", json_string(reached.target.measure))
        .add("at_most", number(reached.target.most))
        .add("ours", number(reached.ours))
        .add("best_peer", json_string(reached.best_peer))
        .add("best_peers", number(reached.best_peers))
        .done();
}

std::string json_of(const Versions& versions) {
    Group group("{}");
    for (const auto& version : versions) group.add(version.first, json_string(version.second));
    return group.done();
}

bool continues(const std::string& text, std::size_t at) {
    return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0u) == 0x80u;
}

/// The length of the character of UTF-8 that begins there; 0 if there is none.
std::size_t character_at(const std::string& text, std::size_t at) {
    const unsigned first = static_cast<unsigned char>(text[at]);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xc2 ? 0
                               : first < 0xe0 ? 2
                               : first < 0xf0 ? 3
                               : first < 0xf5 ? 4
                                              : 0;
    for (std::size_t i = 1; i < length; ++i) {
        if (!continues(text, at + i)) return 0;
    }
    if (length < 3) return length;
    const unsigned second = static_cast<unsigned char>(text[at + 1]);
    // Longer than they need to be, surrogates, beyond the last one.
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90)) {
        return 0;
    }
    return length;
}

}  // namespace

std::string json_string(const std::string& text) {
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size();) {
        const unsigned char c = static_cast<unsigned char>(text[i]);
        const std::size_t length = character_at(text, i);
        if (length == 0) {
            out += "\\ufffd";
        } else if (c == '"' || c == '\\') {
            out += {'\\', text[i]};
        } else if (c < 0x20) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", unsigned(c));
            out += escaped;
        } else {
            out.append(text, i, length);
        }
        i += length == 0 ? 1 : length;
    }
    return out + "\"";
}

std::string to_json(const Results& results) {
    const Circumstances& circumstances = results.circumstances;
    return Group("{}")
               .add("date", json_string(circumstances.date))
               .add("machine", json_string(circumstances.machine))
               .add("command", json_string(circumstances.command))
               .add("rounds", std::to_string(circumstances.rounds))
               .add("minutes", number(circumstances.minutes))
               .add("seconds", number(circumstances.seconds))
               .add("targets", array(compare(targets(), results),
                                     [](const Reached& reached) { return json_of(reached); }))
               .add("versions", json_of(results.versions))
               .add("workloads",
                    array(results.tables, [](const Table& table) { return json_of(table); }))
               .add("growth",
                    array(results.growths, [](const Growth& growth) { return json_of(growth); }))
               .add("figures",
                    array(results.figures, [](const FigureTable& table) { return json_of(table); }))
               .add("left_out", array(results.left_out,
                                      [](const LeftOut& one) {
                                          return Group("{}")
                                              .add("what", json_string(one.what))
                                              .add("why", json_string(one.why))
                                              .done();
                                      }))
               .done() +
           "\n";
}

}  // namespace bench
