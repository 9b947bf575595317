#include "redis/dialects/base64.hpp"

#include "base/number.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string as_base64(std::string_view digits) {
  std::string text;
  for (std::size_t at = 0; at < digits.size(); at += 3) {
    const auto bits = parse_number<std::size_t>(digits.substr(at, 3), 16).value_or(0);
    text += {letters[bits / letters.size()], letters[bits % letters.size()]};
  }
  return text;
}

}  // namespace holdfast::dialects
