// SPDX-License-Identifier: BSL-1.0
#ifndef REACTOR_CRAWLER_PICTURE_HPP
#define REACTOR_CRAWLER_PICTURE_HPP

#include <string>

namespace crawler {

/// A PNG of a colour gradient, different for each number: something real to serve, without files.
std::string make_png(unsigned number);

}  // namespace crawler

#endif
