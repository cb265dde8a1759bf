// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_NET_HTTP_CASES_HPP
#define REACTOR_TEST_NET_HTTP_CASES_HPP

#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace http_cases {

/// The bytes of a file in http_cases/, which lies beside this header.
inline std::string read(const std::string& name) {
    const std::string here = __FILE__;
    const std::string path = here.substr(0, here.rfind("http_cases.hpp")) + "http_cases/" + name;
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

using Row = std::map<std::string, std::string>;  // by the names of the first line

inline std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    for (char c : text) {
        if (c == separator)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

/// A table of http_cases/: the first line names the columns, tabs part them.
inline std::vector<Row> read_table(const std::string& name) {
    std::vector<Row> rows;
    std::vector<std::string> names;
    for (const std::string& line : split(read(name), '\n')) {
        const std::vector<std::string> cells = split(line, '\t');
        if (names.empty()) {
            names = cells;
        } else if (cells.size() == names.size()) {
            rows.emplace_back();
            for (std::size_t i = 0; i < cells.size(); ++i) rows.back()[names[i]] = cells[i];
        } else if (!line.empty()) {
            throw std::runtime_error("bad row in " + name + ": " + line);
        }
    }
    return rows;
}

/// The escapes of the URL tables: \r \n \t \\ \xHH.
inline std::string unescape(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            out += text[i];
            continue;
        }
        const char kind = text.at(++i);
        if (kind == 'x') {
            out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
            i += 2;
        } else {
            out += kind == 'r' ? '\r' : kind == 'n' ? '\n' : kind == 't' ? '\t' : kind;
        }
    }
    return out;
}

}  // namespace http_cases

#endif
