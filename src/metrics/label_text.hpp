// A label that Prometheus can read.
#pragma once

#include <string>

namespace holdfast::metering {

// Prometheus refuses everything where one label is not UTF-8, and names of locks may be any bytes:
// each that does not belong there becomes U+FFFD.
std::string as_utf8(std::string bytes);

}  // namespace holdfast::metering
