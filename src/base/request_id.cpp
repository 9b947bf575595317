#include "base/request_id.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast {

client_id::client_id(std::array<std::uint8_t, 16> random_bits) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  char* at = text_.data();
  for (const std::uint8_t byte : random_bits) {
    *at++ = digits[byte >> 4];
    *at++ = digits[byte & 0xf];
  }
}

request_id::request_id(const client_id& client, std::uint64_t counter, bool revocable) noexcept
    : counter_(counter) {
  char* at = std::copy(client.text().begin(), client.text().end(), text_.data());
  *at++ = '-';
  at = std::to_chars(at, text_.data() + text_.size(), counter, 16).ptr;
  if (revocable) *at++ = 'r';
  size_ = static_cast<std::uint8_t>(at - text_.data());
}

std::string request_id::shortened() const {
  const std::string_view counter = text().substr(32);
  return std::string{text().substr(0, 8)}.append(counter);
}

}  // namespace holdfast
