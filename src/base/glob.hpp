// Shell patterns over lock names, which may hold any byte: fnmatch() would end at a NUL.
#pragma once

#include <string_view>

namespace holdfast {

// Whether the whole text matches: `*`, `?` (one byte), `[a-z]`, `[!a-z]` or `[^a-z]`, and `\`
// before a literal byte. A `[` that nothing closes stands for itself.
bool matches(std::string_view pattern, std::string_view text) noexcept;

}  // namespace holdfast
