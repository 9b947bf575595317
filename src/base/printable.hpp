// Bytes from outside, made fit for messages and terminals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast {

// ASCII only: `"`, `\`, control bytes and everything above 0x7e are written as escapes, so that no
// terminal can be misled. Longer than `most` characters: cut, and "..." appended.
std::string printable(std::string_view bytes, std::size_t most = 200);

// For text that is ours and may contain some that was not made printable: the same bytes are
// written as escapes, but no `"` and no `\`, so that nothing is escaped twice. Never cut.
std::string without_control_bytes(std::string_view text);

}  // namespace holdfast
