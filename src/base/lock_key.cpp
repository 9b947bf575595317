#include "base/lock_key.hpp"

#include <array>
#include <charconv>
#include <utility>

#include <holdfast/errc.hpp>

namespace holdfast {
namespace {

constexpr std::size_t slots = 16384;
constexpr std::string_view hex = "0123456789ABCDEF";

// CRC-16/XMODEM: polynomial 0x1021, nothing reflected, starts at zero.
constexpr auto crc_table = [] {
  std::array<std::uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0);
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}();

std::uint16_t crc16(std::string_view bytes) noexcept {
  unsigned crc = 0;
  for (const char c : bytes) {
    crc = (crc << 8 & 0xffff) ^ crc_table[(crc >> 8 ^ static_cast<unsigned char>(c)) & 0xff];
  }
  return static_cast<std::uint16_t>(crc);
}

std::string_view hashed_part(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == key.npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == key.npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

using tag_table = std::array<std::uint32_t, slots>;

// Counting up until every slot has been met costs about a millisecond, once in a process: less than
// carrying a table of 64 KiB in the program or searching again for each new slot.
tag_table find_tags() noexcept {
  constexpr std::uint32_t none = UINT32_MAX;
  tag_table tags;
  tags.fill(none);
  std::array<char, 10> text;
  std::size_t missing = slots;
  for (std::uint32_t number = 0; missing > 0; ++number) {
    const char* end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    std::uint32_t& tag = tags[crc16({text.data(), end}) % slots];
    if (tag != none) continue;
    tag = number;
    --missing;
  }
  return tags;
}

bool must_encode(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f || c == '{' || c == '}' || c == '%';
}

// The value of an upper-case hexadecimal digit, or 16. Lower case is never written, so it is no
// escape: otherwise two texts would decode to one name.
unsigned hex_value(char c) noexcept {
  const std::size_t at = hex.find(c);
  return at == hex.npos ? 16 : static_cast<unsigned>(at);
}

std::string_view checked(std::string_view name) {
  if (name.empty()) throw failure{errc::invalid_name, "the name is empty"};
  if (!lock_key::may_be(name)) {
    throw failure{errc::invalid_name, "the name has " + std::to_string(name.size()) + " bytes"};
  }
  return name;
}

}  // namespace

std::uint16_t hash_slot(std::string_view key) noexcept {
  return static_cast<std::uint16_t>(crc16(hashed_part(key)) % slots);
}

std::uint32_t slot_number(std::uint16_t slot) noexcept {
  static const tag_table tags = find_tags();
  return tags[slot % slots];
}

std::string slot_tag(std::uint16_t slot) { return std::to_string(slot_number(slot)); }

std::string encode_name(std::string_view name) {
  std::string encoded;
  encoded.reserve(name.size());
  for (const char c : name) {
    if (must_encode(c)) {
      const auto byte = static_cast<unsigned char>(c);
      encoded.append({'%', hex[byte >> 4], hex[byte & 0xf]});
    } else {
      encoded.push_back(c);
    }
  }
  return encoded;
}

std::string decode_name(std::string_view encoded) {
  std::string name;
  name.reserve(encoded.size());
  for (std::size_t at = 0; at < encoded.size(); ++at) {
    if (encoded[at] == '%' && encoded.size() - at > 2) {
      const unsigned high = hex_value(encoded[at + 1]);
      const unsigned low = hex_value(encoded[at + 2]);
      const char decoded = static_cast<char>(high << 4 | low);
      if (high < 16 && low < 16 && must_encode(decoded)) {
        name.push_back(decoded);
        at += 2;
        continue;
      }
    }
    name.push_back(encoded[at]);
  }
  return name;
}

bool lock_key::may_be(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 512;
}

lock_key::lock_key(const key_space& space, std::string_view name) : name_(checked(name)) {
  std::string encoded = encode_name(name);
  slot_ = hash_slot(encoded);
  if (encoded == name_ && !space.is_of_tenant()) return;
  written_ = std::make_shared<const written>(written{space.named("{"), std::move(encoded)});
}

lock_key::lock_key(std::string_view name, std::string_view key) : lock_key(name) {
  slot_ = hash_slot(key);
}

std::optional<std::string> name_in(const key_space& space, std::string_view value_key) {
  if (!value_key.starts_with(space.prefix())) return std::nullopt;
  value_key.remove_prefix(space.prefix().size());
  if (!value_key.starts_with('{') || !value_key.ends_with('}')) return std::nullopt;
  auto name = decode_name(value_key.substr(1, value_key.size() - 2));
  return lock_key::may_be(name) ? std::optional{std::move(name)} : std::nullopt;
}

}  // namespace holdfast
