// SPDX-License-Identifier: BSL-1.0
#include "png.hpp"

#include <cstddef>
#include <cstdint>

#include <boost/crc.hpp>

namespace support {

namespace {

constexpr std::size_t signature_size = 8;
constexpr std::size_t header_end = signature_size + 4 + 4 + 13 + 4;  // the IHDR chunk is the first

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
        number = number << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return number;
}

std::string as_bytes(std::uint32_t number) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) {
        bytes += static_cast<char>(static_cast<unsigned char>(number >> shift));
    }
    return bytes;
}

std::uint32_t crc_of(const char* data, std::size_t size) {
    boost::crc_32_type crc;
    crc.process_bytes(data, size);
    return crc.checksum();
}

}  // namespace

std::string png_fault(const std::string& file) {
    if (file.compare(0, signature_size, "\x89PNG\r\n\x1a\n") != 0) return "no signature";
    std::string type;
    bool data = false;
    for (std::size_t at = signature_size; at < file.size();) {
        if (type == "IEND") return "bytes behind IEND";
        if (file.size() - at < 12) return "a chunk that is cut off behind " + type;
        const std::size_t size = number_at(file, at);
        if (file.size() - at - 12 < size) return "a chunk that is cut off behind " + type;
        if (type.empty() != (file.compare(at + 4, 4, "IHDR") == 0)) return "IHDR is not the first";
        type = file.substr(at + 4, 4);
        data = data || type == "IDAT";
        if (crc_of(file.data() + at + 4, size + 4) != number_at(file, at + 8 + size)) {
            return "a wrong CRC of " + type;
        }
        at += size + 12;
    }
    if (!data) return "no IDAT";
    return type == "IEND" ? "" : "no IEND";
}

std::string png_with_chunk(const std::string& file, const std::string& type,
                           const std::string& data) {
    const std::string checked = type + data;
    return file.substr(0, header_end) + as_bytes(static_cast<std::uint32_t>(data.size())) +
           checked + as_bytes(crc_of(checked.data(), checked.size())) + file.substr(header_end);
}

}  // namespace support
