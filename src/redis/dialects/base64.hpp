// Values that other libraries write in base64.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::dialects {

// Of hexadecimal digits, in lower case: three are two letters, and their number is one of threes.
std::string as_base64(std::string_view digits);

}  // namespace holdfast::dialects
