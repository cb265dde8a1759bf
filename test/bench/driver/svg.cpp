// SPDX-License-Identifier: BSL-1.0
#include <test/bench/driver/svg.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <test/bench/driver/numbers.hpp>

namespace bench {

namespace {

constexpr double width = 720;
constexpr double margin = 16;
constexpr double title_height = 40;

std::string at(double place) { return fixed(place, 1); }

/// A picture of that size, as shapes are added.
class Picture {
public:
    Picture(double height, const std::string& title)
        : svg_("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + at(width) + "\" height=\"" +
               at(height) + "\" viewBox=\"0 0 " + at(width) + " " + at(height) +
               "\" font-family=\"sans-serif\" font-size=\"13\">\n<title>" + xml_escaped(title) +
               "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n") {
        text(margin, 26, "start", title, "font-weight=\"bold\"");
    }

    void text(double x, double y, const char* anchor, const std::string& words,
              const char* more = "") {
        svg_ += "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" + anchor +
                "\" fill=\"#222222\" " + more + ">" + xml_escaped(words) + "</text>\n";
    }
    void bar(double x, double y, double length, double height, const char* colour) {
        svg_ += "<rect x=\"" + at(x) + "\" y=\"" + at(y) + "\" width=\"" + at(length) +
                "\" height=\"" + at(height) + "\" fill=\"" + colour + "\"/>\n";
    }
    /// Through these places: "x,y x,y".
    void line(const std::string& places, const char* colour, const char* more = "") {
        svg_ += "<polyline points=\"" + places + "\" fill=\"none\" stroke=\"" + colour + "\" " +
                more + "/>\n";
    }
    void dot(double x, double y, const char* colour) {
        svg_ +=
            "<circle cx=\"" + at(x) + "\" cy=\"" + at(y) + "\" r=\"4\" fill=\"" + colour + "\"/>\n";
    }
    std::string done() const { return svg_ + "</svg>\n"; }

private:
    std::string svg_;
};

std::string place(double x, double y) { return at(x) + "," + at(y) + " "; }

const char* colour_of(const Cell& cell) {
    if (cell.implementation == "ours") return "#1f5fa8";
    return cell.ours() ? "#8ab4de" : cell.limit() ? "#6b6b6b" : "#d9a441";
}

/// The longest bar: that of the slowest, but for those that would make all others dots.
double longest(const Table& table) {
    double slowest = 0;
    for (const Row& row : table.rows) slowest = std::max(slowest, row.nanoseconds);
    const Row* const ours = table.ours();
    const double most = 5 * (ours ? ours->nanoseconds : slowest);
    return slowest <= 0 ? 1 : most > 0 ? std::min(slowest, most) : slowest;
}

}  // namespace

std::string xml_escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            // What XML cannot have in any form.
            default:
                out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
        }
    }
    return out;
}

std::string bars(const Table& table) {
    constexpr double room = 170, row_height = 26, thick = 18, character = 8;
    double label = 130;
    for (const Row& row : table.rows) {
        label = std::max(label, character * double(row.series.cell.implementation.size()));
    }
    const double most = width - label - room - 2 * margin;
    Picture picture(title_height + row_height * double(table.rows.size()) + margin,
                    table.workload + ": CPU time of an operation");
    const double scale = most / longest(table);
    double y = title_height;
    for (const Row& row : table.rows) {
        const double length = std::min(most, row.nanoseconds * scale);
        const bool cut = row.nanoseconds * scale > most * 1.001;
        picture.text(margin + label - 8, y + 14, "end", row.series.cell.implementation,
                     row.series.cell.ours() ? "font-weight=\"bold\"" : "");
        picture.bar(margin + label, y, length, thick, colour_of(row.series.cell));
        if (cut) picture.bar(margin + label + most - 14, y, 6, thick, "#ffffff");
        picture.text(
            margin + label + length + 8, y + 14, "start",
            duration(row.nanoseconds) + (std::isnan(row.to_limit)
                                             ? std::string()
                                             : ", " + short_number(row.to_limit) + " × limit"));
        y += row_height;
    }
    return picture.done();
}

std::string curve(const Growth& growth) {
    constexpr double height = 340, left = 90, right = 40, bottom = 40, subtitle_height = 20;
    constexpr double base = height - bottom;
    Picture picture(
        height, growth.of + (growth.implementation == "ours" ? "" : ", " + growth.implementation) +
                    ": CPU time of an operation");
    picture.text(margin, 26 + subtitle_height, "start",
                 std::string("by how many of them there are; it should be ") +
                     (growth.kind == Kind::flat ? "flat" : "logarithmic"));
    double top = 0;
    for (const Growth::Point& point : growth.points) top = std::max(top, point.nanoseconds);
    if (top <= 0) top = 1;
    const double first = std::log10(double(growth.points.front().size));
    const double last = std::log10(double(growth.points.back().size));
    const auto x_of = [&](const Growth::Point& point) {
        const double part =
            last > first ? (std::log10(double(point.size)) - first) / (last - first) : 0.5;
        return left + part * (width - left - right);
    };
    const auto y_of = [&](double nanoseconds) {
        return base - nanoseconds / top * (base - title_height - subtitle_height - margin);
    };
    for (const double part : {0.0, 0.5, 1.0}) {
        const double y = y_of(part * top);
        picture.line(place(left, y) + place(width - right, y), "#dddddd");
        picture.text(left - 8, y + 4, "end", duration(part * top));
    }
    std::string places;
    for (const Growth::Point& point : growth.points) {
        places += place(x_of(point), y_of(point.nanoseconds));
        picture.text(x_of(point), base + 22, "middle", size(point.size));
    }
    picture.line(places, "#1f5fa8", "stroke-width=\"2\"");
    for (const Growth::Point& point : growth.points) {
        picture.dot(x_of(point), y_of(point.nanoseconds), "#1f5fa8");
    }
    return picture.done();
}

}  // namespace bench
