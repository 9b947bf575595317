// A tenure that waits: in the server's queue, or for what is said on a channel.
#include <utility>

#include "net/clock.hpp"
#include "runtime/tenure.hpp"

namespace holdfast::runtime {

bool tenure::hears_messages() const {
  const auto* const asking = std::get_if<acquiring>(&machine_);
  return asking != nullptr && asking->hears_messages();
}

// The server has answered that somebody else holds the lock: now its messages concern us. In a
// cluster it may be another server than the one whose messages did so far.
void tenure::stand_in_line() {
  auto& machine = std::get<acquiring>(machine_);
  if (!engine_.hears()) return obey(machine.on_deaf(present()));
  auto* const here = &engine_.connection(slot());
  if (line_ == here) return;
  if (line_ != nullptr) line_->unlisten(line_sleeper_);
  line_ = here;
  const bool drives_it = listener_.sleeper != nullptr && listener_.sleeper->home() == line_;
  line_sleeper_ = drives_it ? listener_.sleeper : nullptr;
  const auto came_already = engine_.waiting().enter(claim_.owner.counter(), shared_from_this());
  line_->listen(line_sleeper_);
  if (came_already) obey(hear(machine, *came_already));
}

void tenure::leave_line() {
  auto* const listened = std::exchange(line_, nullptr);
  if (listened == nullptr) return;
  listened->unlisten(line_sleeper_);
  is_known_ = true;
}

// From now on a message that this request has the lock is for one that has left. Not before: the
// message may come after the answer that said the same, and the lock is ours.
void tenure::leave_room() {
  if (std::exchange(is_known_, false)) engine_.waiting().leave(claim_.owner.counter());
}

leasing::step tenure::hear(acquiring& machine, const line_message& message) {
  // As if it had been lost: it is asked again when the quarantine is over.
  const auto ends = engine_.quarantine_ends();
  if (ends != monotonic_time{} && net::now() < ends) return {};
  const auto position = message.position;
  if (const auto* const first = std::get_if<dialects::first_in_line>(&message.what)) {
    return machine.on_first_in_line(first->owner_has, present(), position);
  }
  const auto& grant = std::get<dialects::handed_over>(message.what);
  if (!dialects::is_for(grant, spec_->recipe->queue_family(), claim_)) return {};
  const auto granted_at = engine_.clock(slot()).earliest(grant.at);
  if (!granted_at || !dialects::is_plausible(grant, claim_)) return machine.on_woken(present());
  const milliseconds ours = grant.claim - claim_.delay;
  return machine.on_handed_over({grant.major, ours}, *granted_at, present(), position);
}

// The same message of another node is no news.
void tenure::on_message(const master& from, const line_message& message) {
  if (&engine_.at(slot()) != &from) return;
  if (std::holds_alternative<dialects::first_in_line>(message.what)) {
    engine_.connection(slot()).expect_push();
  }
  const auto alive = shared_from_this();
  const scoped_mutex lock(mutex_);
  if (auto* const machine = std::get_if<acquiring>(&machine_)) obey(hear(*machine, message));
}

// In a cluster the messages about the lock need not come through every node, once the server knows
// that we listen within its hash slot. Until then they do.
void tenure::listen_in_slot() {
  if (!engine_.is_cluster() || !engine_.hears()) return;
  is_tuned_in_ = true;
  engine_.channels().join(channel_in_slot(), channels::kind::ours, shared_from_this());
}

std::string tenure::channel_in_slot() const {
  return dialects::channel_of(engine_.id(), spec_->key);
}

// Another library's lock is held by somebody, of whom we may hear when he gives it back.
void tenure::tune_in() {
  const auto& how = *spec_->foreign;
  const auto place = how.told_at(claim_);
  if (place.empty()) return;
  is_tuned_in_ = true;
  const auto self = shared_from_this();
  using enum channels::kind;
  const auto messages = how.shards_messages() ? in_slot : to_all_nodes;
  const bool is_told = how.is_told_by_key() ? engine_.told_keys().join(place, self)
                                            : engine_.channels().join(place, messages, self);
  if (!is_told) return;
  // It may have been given back before this began to listen.
  obey(std::get<acquiring>(machine_).on_tuned_in(true, present()));
}

void tenure::tune_out() {
  if (!std::exchange(is_tuned_in_, false)) return;
  if (!spec_->foreign) return engine_.channels().leave(channel_in_slot(), *this);
  const auto& how = *spec_->foreign;
  if (how.is_told_by_key()) {
    engine_.told_keys().leave(how.told_at(claim_), *this);
  } else {
    engine_.channels().leave(how.told_at(claim_), *this);
  }
}

void tenure::on_tuned_in(bool hears) {
  if (!spec_->foreign) return;
  const auto alive = shared_from_this();
  const scoped_mutex lock(mutex_);
  if (auto* const machine = std::get_if<acquiring>(&machine_)) {
    obey(machine->on_tuned_in(hears, present()));
  }
}

void tenure::on_woken() {
  const auto alive = shared_from_this();
  const scoped_mutex lock(mutex_);
  if (auto* const machine = std::get_if<acquiring>(&machine_)) obey(machine->on_woken(present()));
}

}  // namespace holdfast::runtime
