#include "base/printable.hpp"

namespace holdfast {
namespace {

std::string escaped(char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '"':
    case '\\':
      return {'\\', c};
    default:
      break;
  }
  if (c >= 0x20 && c < 0x7f) return {c};
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', hex[byte >> 4], hex[byte & 0xf]};
}

}  // namespace

std::string without_control_bytes(std::string_view text) {
  std::string fit;
  fit.reserve(text.size());
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      fit += c;
    } else {
      fit += escaped(c);
    }
  }
  return fit;
}

std::string printable(std::string_view bytes, std::size_t most) {
  std::string text;
  for (const char c : bytes) {
    const std::string next = escaped(c);
    if (text.size() + next.size() > most) return text + "...";
    text += next;
  }
  return text;
}

}  // namespace holdfast
