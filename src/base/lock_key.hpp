// A lock name and the Redis keys that belong to it in the holdfast layout (docs/wire/holdfast.md).
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/key_space.hpp"

namespace holdfast {

// The hash slot of a key (Redis Cluster specification: CRC-16/XMODEM modulo 16384 of the part
// between the first `{` and the next `}`, or of the whole key).
std::uint16_t hash_slot(std::string_view key) noexcept;
inline constexpr std::size_t hash_slots = 16384;
using slot_set = std::bitset<hash_slots>;

// The shortest decimal number whose text has this hash slot; smallest number first.
std::uint32_t slot_number(std::uint16_t slot) noexcept;
std::string slot_tag(std::uint16_t slot);

// Percent-encodes `{`, `}`, `%` and control bytes (0x00-0x1f, 0x7f), so that no two names meet and
// every key of a lock has one hash slot.
std::string encode_name(std::string_view name);

// The reverse; throws nothing: an escape that is not one stays as it is.
std::string decode_name(std::string_view encoded);

// Immutable after construction. Small, since every lock has one: the keys are made when they are
// written, see write_keys.
class lock_key {
 public:
  static bool may_be(std::string_view name) noexcept;  // 1 to 512 bytes

  // Throws failure{errc::invalid_name} unless it may be one.
  lock_key(const key_space& space, std::string_view name);
  // Of no tenant: for code that has no client.
  explicit lock_key(std::string_view name) : lock_key(key_space{}, name) {}

  // Of a lock that another library keeps at `key`, which says what its slot is.
  lock_key(std::string_view name, std::string_view key);

  const std::string& name() const noexcept { return name_; }
  const std::string& encoded() const noexcept { return written_ ? written_->name : name_; }
  // Of its keys: `hf:`, or that of its tenant. Together with the brace in front of the name, which
  // is cheaper to write as one.
  std::string_view prefix() const noexcept { return opening().substr(0, opening().size() - 1); }
  std::string_view opening() const noexcept {
    return written_ ? std::string_view{written_->opening} : opening_without_tenant;
  }
  std::uint16_t slot() const noexcept { return slot_; }

  std::string value_key() const { return std::string{opening()} + encoded() + "}"; }
  std::string fence_key() const {
    return std::string{prefix()} + "fence:{" + slot_tag(slot_) + "}";
  }

 private:
  struct written {
    std::string opening;
    std::string name;
  };
  static constexpr std::string_view opening_without_tenant = "hf:{";

  std::string name_;
  std::shared_ptr<const written> written_;  // where that is not `hf:` and the name itself
  std::uint16_t slot_;
};

// The name of the lock that has its value at this key; nothing: none of this key space has.
std::optional<std::string> name_in(const key_space& space, std::string_view value_key);

}  // namespace holdfast
