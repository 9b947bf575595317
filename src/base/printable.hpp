// Bytes from outside, made fit for messages and terminals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast {

// ASCII only: `"`, `\`, control bytes and everything above 0x7e are written as escapes, so that no
// terminal can be misled. Longer than `most` characters: cut, and "..." appended.
std::string printable(std::string_view bytes, std::size_t most = 200);

}  // namespace holdfast
