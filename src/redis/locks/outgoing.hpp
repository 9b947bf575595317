// The part of a lock's request that is kept while it is under way.
#pragma once

#include "base/time.hpp"
#include "lease/lock_session.hpp"
#include "redis/dialects/recipe.hpp"
#include "redis/locks/words.hpp"
#include "redis/resp/writer.hpp"

namespace holdfast::redis_locks {

class redis_engine;

// Its bytes are written later, maybe on another thread.
struct outgoing {
  leasing::ask what = leasing::ask::nothing;
  bool resend = false;
  bool held_back = false;  // not asked after all: the client is in quarantine
  // On our clock. A request may wait for its connection: the server's is known when it is written.
  monotonic_time not_after{};

  void write(redis_engine& from, const lock_spec& spec, substrate::claim& claim, resp::writer& out,
             monotonic_time sent_at);
  static leasing::outcome in_quarantine();
};

// The claim to ask for, and the terms of its session.
substrate::claim claim_of(redis_engine& owner, const lock_spec& spec,
                          const leasing::patience& patience);
leasing::lock_session::terms terms_of(redis_engine& owner, const lock_spec& spec);

}  // namespace holdfast::redis_locks
