#include "redis/locks/index_entry.hpp"

#include <algorithm>
#include <chrono>

#include "redis/locks/redis_engine.hpp"
#include "redis/locks/words.hpp"

namespace holdfast::redis_locks {
namespace {

bool is_listed(const lock_spec& spec) noexcept { return !spec.is_gate && spec.foreign == nullptr; }

}  // namespace

void index_entry::begin(redis_engine& of, const lock_spec& spec, monotonic_time granted_at) {
  if (is_listed(spec)) of.held().sample(spec.key, granted_at);
  due_at_ = is_listed(spec) ? granted_at + noted_after : monotonic_time::max();
}

// Should this client end without a release, as late as just before the next time, the entry still
// outlives what the server keeps for it then.
void index_entry::note_when_due(redis_engine& of, const lock_spec& spec, nanoseconds held,
                                monotonic_time now) {
  if (now < due_at_) return;
  const auto left = std::chrono::ceil<milliseconds>(held);
  const auto kept = spec.renews ? std::max<milliseconds>(left, spec.lease) : left;
  of.held().note(spec.key, kept + spec.delay + noted_every + noted_every / 2);
  due_at_ = now + noted_every;
}

// A gate is shut while somebody waits there.
void index_entry::note_gate_when_due(redis_engine& of, const lock_spec& spec, monotonic_time now) {
  if (!spec.is_gate || spec.foreign || now < due_at_) return;
  of.held().note(spec.key, 2 * noted_every);
  due_at_ = now + noted_every;
}

void index_entry::note_soon(const lock_spec& spec, monotonic_time now) noexcept {
  if (is_listed(spec)) due_at_ = std::min(due_at_, now + noted_after);
}

// Entries of long leases would pile up. Those of short ones end by themselves.
void index_entry::end(redis_engine& of, const lock_spec& spec, monotonic_time now) {
  const bool is_long = spec.lease + spec.delay > 2 * noted_every;
  const bool is_noted = due_at_ > now + noted_after;
  if (is_listed(spec) && is_long && is_noted) of.held().note_released(spec.key);
}

}  // namespace holdfast::redis_locks
