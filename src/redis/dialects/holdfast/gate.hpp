// Latches and barriers: each client waits until all may go on, and then holds nothing.
#pragma once

#include <string>

#include "redis/dialects/holdfast/native_recipe.hpp"

namespace holdfast::dialects {

// The lease in a claim of such a thing: how long a message is believed that says that it is open.
inline constexpr milliseconds gate_lease = longest_claim;

// The key holds something else.
refused not_a_gate(const lock_key&);

// "Granted" means: go on.
class gate_recipe : public native_recipe {
 public:
  acquire_verdict read_acquire(const claim&, const resp::value&) const final;
  // There is nothing to renew, and nothing to give back but a place in the queue.
  void write_renew(std::span<const claim* const>, server_time not_after, resp::writer&) const final;
  void write_release(const claim& c, resp::writer& out) const final { write_withdraw(c, out); }
};

}  // namespace holdfast::dialects
