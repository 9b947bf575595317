// Latches: `hf:{N}` says how often it must still be counted down. Layout and scripts:
// docs/wire/holdfast.md.
#pragma once

#include <cstdint>
#include <variant>

#include "redis/dialects/holdfast/gate.hpp"
#include "redis/dialects/holdfast/once.hpp"

namespace holdfast::dialects {

class latch_recipe final : public gate_recipe {
 public:
  family queue_family() const noexcept override { return family::latch; }
  void write_acquire(const claim&, bool resend, server_time not_after,
                     resp::writer&) const override;
  void write_withdraw(const claim&, resp::writer&) const override;
};

once_call latch_set(const lock_key&, std::uint32_t count);
once_call latch_count_down(const lock_key&, std::uint32_t by);  // 0: notifies the other waiters

struct latch_change {
  bool changed = false;    // false: it was set already
  std::uint32_t left = 0;  // how often it must still be counted down
  bool more = false;       // it is open, but not all waiters are notified yet
  friend bool operator==(const latch_change&, const latch_change&) = default;
};
std::variant<latch_change, refused> read_latch_change(const lock_key&, const once_answer&);

void write_latch_query(const lock_key&, resp::writer&);
std::variant<std::uint32_t, refused> read_latch(const lock_key&, const resp::value&);

}  // namespace holdfast::dialects
