/// \file
/// The number that lets a resource refuse a late writer.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include <holdfast/detail/export.hpp>

namespace holdfast {

/// A number that grows with every grant of a lock, so that a resource can refuse a late writer.
///
/// Give it to the resource with each write. The resource should refuse a token that is smaller than
/// the largest it has seen (M. Kleppmann, "How to do distributed locking", 2016). For one lock
/// tokens strictly increase, also across FLUSHALL and an empty restart of the server. They are not
/// consecutive. 64 bits: print them as text, since JSON readers lose digits above 2^53.
///
/// Thread safety: a value type.
class HOLDFAST_EXPORT fencing_token {
 public:
  /// No token: what a lock with `fencing::off` has. Compares below every real token.
  constexpr fencing_token() noexcept = default;
  /// A token that was kept as a number, by a resource for example. Zero: no token.
  constexpr explicit fencing_token(std::uint64_t value) noexcept : value_(value) {}

  /// False when the lock has no token (`fencing::off`, or a layout without tokens).
  constexpr explicit operator bool() const noexcept { return value_ != 0; }

  /// The number; throws `failure{errc::unsupported}` when there is none, so that a missing token
  /// cannot be mistaken for a small one.
  [[nodiscard]] std::uint64_t value() const;

  /// Decimal text; "none" when there is no token.
  [[nodiscard]] std::string to_string() const;

  /// The later grant has the larger token.
  friend constexpr auto operator<=>(fencing_token, fencing_token) noexcept = default;

 private:
  std::uint64_t value_ = 0;
};

}  // namespace holdfast
