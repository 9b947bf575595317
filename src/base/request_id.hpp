// The identity of one attempt to get a lock, and of the grant that comes of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast {

// 128 random bits of one client; as text 32 lower-case hex digits.
class client_id {
 public:
  using bits = std::array<std::uint8_t, 16>;
  explicit client_id(bits random_bits) noexcept;
  std::string_view text() const noexcept { return {text_.data(), text_.size()}; }
  const bits& raw() const noexcept { return bits_; }

 private:
  bits bits_;
  std::array<char, 32> text_{};
};

// The text of a request id: client id, '-', counter in hex, and 'r' when it is revocable.
class request_text {
 public:
  request_text(const client_id::bits& client, std::uint64_t counter, bool revocable) noexcept;
  operator std::string_view() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, 32 + 1 + 16 + 1> text_;
  std::uint8_t size_;
};

// How many of a client's 32 digits are shown: enough to tell clients apart, too few to act as one.
inline constexpr std::size_t shown_client_digits = 16;

// One attempt of a client. It is revocable when its holder may retain the lock: a client that wants
// the lock then revokes it. It is no secret: it stands in the lock's value and in messages. But a
// client that may call the lock's scripts could release the lock with it, so logs and people see
// only `shortened()`. Every resend of one attempt has the same; it is never used again after that.
// Small, since every held lock has one: its text is made when it is written.
class request_id {
 public:
  request_id(const client_id& client, std::uint64_t counter, bool revocable = false) noexcept
      : client_(client.raw()), counter_(counter), revocable_(revocable) {}
  request_text text() const noexcept { return {client_, counter_, revocable_}; }
  std::uint64_t counter() const noexcept { return counter_; }
  bool is_revocable() const noexcept { return revocable_; }
  std::string shortened() const;  // the beginning of the client, then "-" and the counter

  friend bool operator==(const request_id&, const request_id&) = default;

 private:
  client_id::bits client_;
  std::uint64_t counter_ : 63;
  bool revocable_ : 1;
};

// A random number for one request, which no other client can foresee: 16 lower-case hex digits.
// Returns their end.
char* put_proof(std::uint64_t proof, char* to) noexcept;

}  // namespace holdfast
