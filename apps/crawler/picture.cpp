// SPDX-License-Identifier: BSL-1.0
#include "picture.hpp"

#include <cstddef>
#include <cstdint>

#include <boost/crc.hpp>

namespace crawler {

namespace {

void put_number(std::string& to, std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        to += static_cast<char>(static_cast<unsigned char>(number >> shift));
    }
}

/// A chunk of a PNG file (PNG specification, 5.3): length, type, data, CRC of type and data.
void put_chunk(std::string& to, const std::string& type, const std::string& data) {
    put_number(to, static_cast<std::uint32_t>(data.size()));
    boost::crc_32_type crc;
    crc.process_bytes(type.data(), type.size());
    crc.process_bytes(data.data(), data.size());
    to += type;
    to += data;
    put_number(to, crc.checksum());
}

/// A zlib stream that compresses nothing (RFC 1950, RFC 1951 3.2.4): blocks of up to 65,535 bytes.
std::string stored(const std::string& data) {
    std::string stream = "\x78\x01";
    std::size_t at = 0;
    do {
        const std::size_t size = data.size() - at < 65535 ? data.size() - at : 65535;
        stream += at + size == data.size() ? '\1' : '\0';  // whether it is the last block
        for (const std::size_t number : {size, ~size}) {
            stream += static_cast<char>(static_cast<unsigned char>(number));
            stream += static_cast<char>(static_cast<unsigned char>(number >> 8));
        }
        stream.append(data, at, size);
        at += size;
    } while (at < data.size());

    std::uint32_t a = 1;
    std::uint32_t b = 0;
    for (const char c : data) {
        a = (a + static_cast<unsigned char>(c)) % 65521;
        b = (b + a) % 65521;
    }
    put_number(stream, b << 16 | a);
    return stream;
}

}  // namespace

std::string make_png(unsigned number) {
    const unsigned side = 64 + 16 * (number % 8);
    std::string rows;
    rows.reserve(side * (side * 3 + 1));
    for (unsigned y = 0; y < side; ++y) {
        rows += '\0';  // this row is not filtered
        for (unsigned x = 0; x < side; ++x) {
            rows += static_cast<char>(static_cast<unsigned char>(x * 255 / side));
            rows += static_cast<char>(static_cast<unsigned char>(y * 255 / side));
            rows += static_cast<char>(static_cast<unsigned char>(number * 37));
        }
    }

    std::string header;
    put_number(header, side);
    put_number(header, side);
    header += std::string("\x08\x02\0\0\0", 5);  // 8 bits for each of red, green and blue

    std::string file = "\x89PNG\r\n\x1a\n";
    put_chunk(file, "IHDR", header);
    put_chunk(file, "tEXt", std::string("Comment\0a blank line\r\n\r\nis data", 29));
    put_chunk(file, "IDAT", stored(rows));
    put_chunk(file, "IEND", std::string());
    return file;
}

}  // namespace crawler
