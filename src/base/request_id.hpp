// Who asks: the identity of one attempt to get a lock, and of the grant that comes of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

// 128 random bits of one client: 32 lower-case hex digits.
class client_id {
 public:
  explicit client_id(std::array<std::uint8_t, 16> random_bits) noexcept;
  std::string_view text() const noexcept { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 32> text_{};
};

// client id, '-', counter in hex, and 'r' when its owner may keep a lock that he does not use: who
// wants it then asks him to give it back. A capability: whoever knows it can release the lock. Logs
// and people see only `shortened()`. The same in every resend of one attempt; never used again
// after.
class request_id {
 public:
  request_id(const client_id& client, std::uint64_t counter, bool revocable = false) noexcept;
  std::string_view text() const noexcept { return {text_.data(), size_}; }
  std::uint64_t counter() const noexcept { return counter_; }
  std::string shortened() const;  // first 8 digits of the client, '-', counter

  friend bool operator==(const request_id& a, const request_id& b) noexcept {
    return a.text() == b.text();
  }

 private:
  std::array<char, 32 + 1 + 16 + 1> text_{};
  std::uint64_t counter_;
  std::uint8_t size_ = 0;
};

}  // namespace holdfast
