#include "base/request_id.hpp"

#include <charconv>

namespace holdfast {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

char* put_hex(const client_id::bits& bits, char* at) noexcept {
  for (const std::uint8_t byte : bits) {
    *at++ = digits[byte >> 4];
    *at++ = digits[byte & 0xf];
  }
  return at;
}

}  // namespace

client_id::client_id(bits random_bits) noexcept : bits_(random_bits) {
  put_hex(bits_, text_.data());
}

request_text::request_text(const client_id::bits& client, std::uint64_t counter,
                           bool revocable) noexcept {
  char* at = put_hex(client, text_.data());
  *at++ = '-';
  at = std::to_chars(at, text_.data() + text_.size(), counter, 16).ptr;
  if (revocable) *at++ = 'r';
  size_ = static_cast<std::uint8_t>(at - text_.data());
}

std::string request_id::shortened() const {
  const request_text whole = text();
  const std::string_view text = whole;
  return std::string{text.substr(0, shown_client_digits)}.append(text.substr(32));
}

char* put_proof(std::uint64_t proof, char* to) noexcept {
  for (int bit = 60; bit >= 0; bit -= 4) *to++ = digits[proof >> bit & 0xf];
  return to;
}

}  // namespace holdfast
