// SPDX-License-Identifier: BSL-1.0
#include "json.hpp"

#include <cstddef>
#include <stdexcept>

namespace support {

namespace {

class Parser {
public:
    explicit Parser(const std::string& text) : text_(text) {}

    Json all() {
        const Json json = value();
        space();
        if (at_ != text_.size()) fail("something behind the value");
        return json;
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        throw std::runtime_error("JSON, byte " + std::to_string(at_) + ": " + why + ": " +
                                 text_.substr(at_, 30));
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool take(char c) {
        if (peek() != c || at_ == text_.size()) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!take(c)) fail(std::string("no '") + c + "'");
    }
    void space() {
        while (at_ < text_.size() && std::string(" \t\r\n").find(text_[at_]) != std::string::npos) {
            ++at_;
        }
    }
    static bool digit(char c) { return c >= '0' && c <= '9'; }

    Json value() {
        space();
        Json json;
        switch (peek()) {
            case '{':
                json.kind = Json::Kind::object;
                object(json);
                break;
            case '[':
                json.kind = Json::Kind::array;
                array(json);
                break;
            case '"':
                json.kind = Json::Kind::string;
                json.text = string();
                break;
            case 't':
            case 'f':
            case 'n':
                word(json);
                break;
            default:
                json.kind = Json::Kind::number;
                json.text = number();
        }
        return json;
    }

    void object(Json& json) {
        expect('{');
        space();
        if (take('}')) return;
        do {
            space();
            const std::string name = string();
            space();
            expect(':');
            if (!json.members.emplace(name, value()).second) fail("a name twice");
            space();
        } while (take(','));
        expect('}');
    }

    void array(Json& json) {
        expect('[');
        space();
        if (take(']')) return;
        do {
            json.items.push_back(value());
            space();
        } while (take(','));
        expect(']');
    }

    void word(Json& json) {
        for (const char* const word : {"true", "false", "null"}) {
            const std::string known(word);
            if (text_.compare(at_, known.size(), known) != 0) continue;
            at_ += known.size();
            json.kind = known == "null" ? Json::Kind::null : Json::Kind::boolean;
            json.text = known;
            return;
        }
        fail("no value");
    }

    std::string number() {
        const std::size_t begin = at_;
        take('-');
        if (!take('0')) digits();
        if (take('.')) digits();
        if (take('e') || take('E')) {
            if (!take('+')) take('-');
            digits();
        }
        return text_.substr(begin, at_ - begin);
    }
    void digits() {
        if (!digit(peek())) fail("no digit");
        while (digit(peek())) ++at_;
    }

    std::string string() {
        expect('"');
        std::string all;
        for (;;) {
            if (at_ == text_.size()) fail("a string without its end");
            const unsigned char c = static_cast<unsigned char>(text_[at_]);
            if (c < 0x20) fail("a control character in a string");
            if (take('"')) return all;
            if (take('\\')) {
                escape(all);
            } else {
                character(all);
            }
        }
    }

    void escape(std::string& to) {
        static const std::string letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
        const std::size_t found = letters.find(peek());
        if (at_ < text_.size() && found != std::string::npos) {
            ++at_;
            to += meant[found];
            return;
        }
        expect('u');
        unsigned code = 0;
        for (int i = 0; i < 4; ++i) {
            const std::size_t hex = std::string("0123456789abcdef").find(peek());
            if (hex == std::string::npos) fail("no hexadecimal digit");
            code = code * 16 + static_cast<unsigned>(hex);
            ++at_;
        }
        if (code >= 0xd800 && code < 0xe000) fail("half of a surrogate pair");
        if (code < 0x80) {
            to += static_cast<char>(code);
        } else if (code < 0x800) {
            to += static_cast<char>(0xc0 | code >> 6);
            to += static_cast<char>(0x80 | (code & 0x3f));
        } else {
            to += static_cast<char>(0xe0 | code >> 12);
            to += static_cast<char>(0x80 | (code >> 6 & 0x3f));
            to += static_cast<char>(0x80 | (code & 0x3f));
        }
    }

    // One character of UTF-8, by the ranges of RFC 3629.
    void character(std::string& to) {
        const auto byte = [&](std::size_t i) -> unsigned {
            return at_ + i < text_.size() ? static_cast<unsigned char>(text_[at_ + i]) : 0u;
        };
        const unsigned lead = byte(0);
        std::size_t length = 1;
        unsigned code = lead;
        if (lead >= 0x80) {
            length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
            code = lead & (0xffu >> (length + 1));
            if (lead < 0xc0 || lead > 0xf7) fail("no UTF-8");
        }
        for (std::size_t i = 1; i < length; ++i) {
            if ((byte(i) & 0xc0) != 0x80) fail("no UTF-8");
            code = code << 6 | (byte(i) & 0x3f);
        }
        static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
        if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
            fail("no UTF-8");
        }
        to.append(text_, at_, length);
        at_ += length;
    }

    const std::string& text_;
    std::size_t at_ = 0;
};

}  // namespace

const Json& Json::operator[](const std::string& name) const {
    const auto found = members.find(name);
    if (found == members.end()) throw std::runtime_error("JSON: no member " + name);
    return found->second;
}

Json parse_json(const std::string& text) { return Parser(text).all(); }

}  // namespace support
