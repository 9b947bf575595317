// Ids of 63 bits: 41 for the milliseconds since 2020, 10 for the machine, 12 for a number.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace holdfast::values {

// Thread safety: none.
class snowflake {
 public:
  static constexpr std::uint32_t machines = 1024;
  static constexpr std::int64_t ids_in_a_millisecond = 4096;

  // No id has a time that the clock had shown by `granted`, when the machine number became ours.
  snowflake(std::uint32_t machine, server_time granted) noexcept
      : machine_(machine), time_(to_ms(granted + server_jitter)) {}

  // The next id, larger than the one before. Its time is that of `now`, or of the last id where the
  // clock is behind that. Nothing when the ids of that millisecond are used up.
  std::optional<std::int64_t> next(server_time now) noexcept {
    if (const auto ms = to_ms(now); ms > time_) {
      time_ = ms;
      used_ = 0;
    }
    if (used_ == ids_in_a_millisecond) return std::nullopt;
    return (time_ - epoch) << 22 | std::int64_t{machine_} << 12 | used_++;
  }

  // How long until there is another id, after `next` has returned nothing.
  milliseconds wait(server_time now) const noexcept { return milliseconds{time_ + 1 - to_ms(now)}; }

 private:
  // Valkey from 9.1 on reads the clock once in a millisecond and counts on by itself. When it is
  // interrupted while it reads, it shows for that millisecond up to as much more than it is.
  static constexpr milliseconds server_jitter{1};
  static constexpr std::int64_t epoch = 1'577'836'800'000;  // 2020-01-01, in ms since 1970

  static std::int64_t to_ms(server_time t) noexcept {
    return std::chrono::floor<milliseconds>(t.time_since_epoch()).count();
  }

  std::uint32_t machine_;
  std::int64_t time_;                         // of the last id
  std::int64_t used_ = ids_in_a_millisecond;  // numbers of that time
};

}  // namespace holdfast::values
