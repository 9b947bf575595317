// SHA-1 (FIPS 180-4), by which Redis names scripts. Not for secrets.
#pragma once

#include <string>
#include <string_view>

namespace holdfast {

// 40 lower-case hexadecimal digits.
std::string sha1_hex(std::string_view bytes);

}  // namespace holdfast
