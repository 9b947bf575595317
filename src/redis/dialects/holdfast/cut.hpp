// The beginning of a text that is too long to keep or to show.
#pragma once

#include <cstddef>
#include <string_view>

namespace holdfast::dialects {

// Between two characters where the text is UTF-8: half of one is no text at all.
inline std::string_view cut(std::string_view text, std::size_t longest) noexcept {
  if (text.size() <= longest) return text;
  const auto continues = [&](std::size_t at) { return (text[at] & '\xc0') == '\x80'; };
  std::size_t end = longest;
  while (end > longest - 4 && continues(end)) --end;
  return text.substr(0, continues(end) ? longest : end);
}

}  // namespace holdfast::dialects
