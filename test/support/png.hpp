// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_TEST_PNG_HPP
#define REACTOR_TEST_PNG_HPP

#include <string>

namespace support {

/// What is wrong with the structure of a PNG file (PNG specification, 5): signature, order and size
/// of the chunks, their CRCs, bytes after the end. Empty if nothing is.
std::string png_fault(const std::string& file);

/// The file with one more chunk behind its header, for example of type "tEXt".
std::string png_with_chunk(const std::string& file, const std::string& type,
                           const std::string& data);

}  // namespace support

#endif
