// SPDX-License-Identifier: BSL-1.0
#include <net/http/message.hpp>

#include <algorithm>
#include <net/http/detail/quoted.hpp>
#include <utility>

namespace reactor {
namespace net {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_token(const std::string& text) {
    return !text.empty() && text.find_first_not_of(
                                "!#$%&'*+-.^_`|~0123456789"
                                "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
}

// One line break in a value would be a second field, two of them a second message.
void check_value(const char* part, const std::string& value) {
    static const std::string breaks("\r\n\0", 3);
    if (value.find_first_of(breaks) != std::string::npos)
        throw std::invalid_argument(std::string("serialize: CR, LF or NUL in the ") + part + ' ' +
                                    detail::quoted(value));
}

void check_token(const char* part, const std::string& text) {
    if (!is_token(text))
        throw std::invalid_argument(std::string("serialize: the ") + part + ' ' +
                                    detail::quoted(text) +
                                    " is not a token (letters, digits, !#$%&'*+-.^_`|~)");
}

const char* version_text(int version) {
    if (version == 11) return "HTTP/1.1";
    if (version == 10) return "HTTP/1.0";
    throw std::invalid_argument("serialize: HTTP version " + std::to_string(version) +
                                "; expected 10 or 11");
}

void append_fields(std::string& out, const HeaderFields& fields) {
    for (const HeaderField& field : fields) {
        check_token("field name", field.name);
        check_value("value of a field", field.value);
        out += field.name;
        out += ": ";
        out += field.value;
        out += "\r\n";
    }
    out += "\r\n";
}

}  // namespace

bool equals_ignoring_case(const std::string& a, const std::string& b) noexcept {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                              [](char x, char y) { return lower(x) == lower(y); });
}

HeaderFields& HeaderFields::add(std::string name, std::string value) {
    fields_.push_back(HeaderField{std::move(name), std::move(value)});
    return *this;
}

HeaderFields& HeaderFields::set(const std::string& name, std::string value) {
    const auto named = [&name](const HeaderField& field) {
        return equals_ignoring_case(field.name, name);
    };
    const auto first = std::find_if(fields_.begin(), fields_.end(), named);
    if (first == fields_.end()) return add(name, std::move(value));
    first->value = std::move(value);
    fields_.erase(std::remove_if(first + 1, fields_.end(), named), fields_.end());
    return *this;
}

std::size_t HeaderFields::remove(const std::string& name) {
    const std::size_t before = fields_.size();
    fields_.erase(std::remove_if(fields_.begin(), fields_.end(),
                                 [&name](const HeaderField& field) {
                                     return equals_ignoring_case(field.name, name);
                                 }),
                  fields_.end());
    return before - fields_.size();
}

const std::string* HeaderFields::find(const std::string& name) const noexcept {
    for (const HeaderField& field : fields_)
        if (equals_ignoring_case(field.name, name)) return &field.value;
    return nullptr;
}

std::vector<std::string> HeaderFields::all(const std::string& name) const {
    std::vector<std::string> values;
    for (const HeaderField& field : fields_)
        if (equals_ignoring_case(field.name, name)) values.push_back(field.value);
    return values;
}

std::size_t HeaderFields::count(const std::string& name) const noexcept {
    std::size_t found = 0;
    for (const HeaderField& field : fields_)
        if (equals_ignoring_case(field.name, name)) ++found;
    return found;
}

std::string serialize(const RequestHead& head) {
    check_token("method", head.method);
    const bool visible = std::all_of(head.target.begin(), head.target.end(),
                                     [](char c) { return c > ' ' && c < '\x7f'; });
    if (head.target.empty() || !visible)
        throw std::invalid_argument("serialize: the target " + detail::quoted(head.target) +
                                    " must be visible ASCII, at least \"/\"");
    std::string out = head.method + ' ' + head.target + ' ' + version_text(head.version) + "\r\n";
    append_fields(out, head.fields);
    return out;
}

std::string serialize(const ResponseHead& head) {
    if (head.status < 100 || head.status > 999)
        throw std::invalid_argument("serialize: status " + std::to_string(head.status) +
                                    "; expected 100 to 999");
    check_value("reason", head.reason);
    std::string out = version_text(head.version);
    out += ' ' + std::to_string(head.status) + ' ' + head.reason + "\r\n";
    append_fields(out, head.fields);
    return out;
}

}  // namespace net
}  // namespace reactor
