// One lock that is kept in this process: its holders and its waiters.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>

#include <holdfast/inspector.hpp>

#include "base/request_id.hpp"
#include "base/time.hpp"
#include "substrate/claim.hpp"
#include "substrate/verdict.hpp"

namespace holdfast::memory {

// News for a request: it shall ask again, since its turn may have come; or its lock is revoked,
// which it holds and may retain.
enum class news : std::uint8_t { ask_again, wanted };

// Of one request. Is called under the table's mutex: it only writes down what it hears.
struct ear {
  std::weak_ptr<void> whose;
  std::function<void(news)> hear;
};

// First come, first served; a request that changes a lease goes before those that hold nothing. A
// grant to a waiter is provisional until it has asked again. Time is given; not thread-safe.
class lock_record {
 public:
  // The tokens of all locks of a table come from `counter`.
  explicit lock_record(substrate::token_major& counter) : counter_(counter) {}

  substrate::acquire_verdict acquire(const substrate::claim& wants, const ear& who,
                                     monotonic_time now);
  substrate::renew_verdict renew(const substrate::claim& held, monotonic_time now);
  substrate::release_verdict release(const substrate::claim& held, monotonic_time now);
  substrate::release_verdict withdraw(const substrate::claim& wants, monotonic_time now);
  // Takes it from all that hold it.
  void free(monotonic_time now);
  bool is_unused() const noexcept { return all_.empty(); }

  struct request {
    request_id owner;
    lock_kind kind;
    substrate::demand how;
    milliseconds provisional;          // for so long, until it has asked again
    ear who;                           // hears nothing before its first answer
    substrate::token_major token = 0;  // 0: it waits
    monotonic_time until = monotonic_time::max();
    std::shared_ptr<request> before{};  // which it has replaced

    bool waits() const noexcept { return token == 0; }
  };
  // Those that hold it, and behind them those that wait, in their order.
  const std::list<request>& requests(monotonic_time now);

 private:
  using place = std::list<request>::iterator;
  void settle(monotonic_time now);
  void grant(place next, monotonic_time now);
  place find(const std::optional<request_id>& owner) noexcept;
  place place_for(const request& one, bool can_wait) noexcept;
  bool fits(const substrate::demand& how, const std::optional<request_id>& replaced) const noexcept;
  std::optional<substrate::refused> refusal_of(const request& one) noexcept;
  std::optional<substrate::refused> refusal_to_wait(const request& one, std::size_t limit) noexcept;

  substrate::token_major& counter_;
  std::list<request> all_;
};

}  // namespace holdfast::memory
