// Bits that nobody can guess.
#pragma once

#include <sys/random.h>

#include <cerrno>
#include <system_error>

namespace holdfast {

// Throws std::system_error where the kernel has none.
template <typename Bits>
Bits random_bits() {
  Bits bits{};
  if (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return bits;
}

}  // namespace holdfast
