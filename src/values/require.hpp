// Refuses arguments that callers must not pass.
#pragma once

#include <holdfast/errc.hpp>

namespace holdfast::values {

inline void require(bool good, const char* what) {
  if (!good) throw failure{errc::invalid_argument, what};
}

}  // namespace holdfast::values
