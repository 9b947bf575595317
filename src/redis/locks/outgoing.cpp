#include "redis/locks/outgoing.hpp"

#include <algorithm>
#include <chrono>

#include "lease/server_clock.hpp"
#include "redis/dialects/nothing.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {

substrate::claim claim_of(redis_engine& owner, const lock_spec& spec,
                          const leasing::patience& patience) {
  const auto request = owner.next_request(spec.is_retained());
  auto asked = spec.claim_of(request, patience.waits && spec.usual.has_queue);
  if (spec.usual.is_counted) asked.floor = owner.floor(spec.key.slot());
  if (!owner.hears()) asked.way = substrate::wakeup_way::poll;
  if (asked.waits) asked.proof = owner.proof_of(request.counter());
  return asked;
}

leasing::lock_session::terms terms_of(redis_engine& owner, const lock_spec& spec) {
  // A holder that changes what it has would lose it, were the change taken back; and at a gate
  // nothing is held that could be.
  const bool counts_at_once = spec.changes() != nullptr || spec.is_gate;
  return {.response_timeout = short_milliseconds{owner.options().response_timeout},
          .is_of_a_slot = owner.is_cluster(),
          .renews = spec.renews,
          .is_gate = spec.is_gate,
          .needs_replicas = owner.options().min_replicas > 0 && !counts_at_once};
}

leasing::outcome outgoing::in_quarantine() {
  return {errc::unavailable,
          "the server is another one than before, and client_options::quarantine keeps this client "
          "from taking new locks for a while"};
}

void outgoing::write(redis_engine& from, const lock_spec& spec, substrate::claim& claim,
                     resp::writer& out, monotonic_time sent_at) {
  const auto& recipe = *spec.recipe;
  switch (what) {
    case leasing::ask::nothing:
      return;
    case leasing::ask::acquire: {
      // Nobody knew before there was a connection whether messages come through it.
      const bool is_first = !resend && claim.ticket == 0;
      if (is_first && !from.hears()) claim.way = substrate::wakeup_way::poll;
      held_back = sent_at < from.quarantine_ends();
      if (held_back) return dialects::write_nothing(out);
      // A request that has waited is given less time.
      const auto left = std::max(nanoseconds{0}, not_after - sent_at);
      const auto sent = from.clock(spec.key.slot()).at(sent_at);
      const auto whole = std::chrono::duration_cast<milliseconds>(left);
      return recipe.write_acquire(claim, resend, leasing::not_after(sent, whole), out);
    }
    case leasing::ask::release:
      return recipe.write_release(claim, out);
    case leasing::ask::lone_release:
      return recipe.write_lone_release(claim, out);
    case leasing::ask::withdraw:
      return recipe.write_withdraw(claim, out);
  }
}

}  // namespace holdfast::redis_locks
