// A tenure that stands in the server's queue.
#include <utility>

#include "net/clock.hpp"
#include "runtime/tenure.hpp"

namespace holdfast::runtime {

// The server has answered that somebody else holds the lock: now its messages concern us.
void tenure::stand_in_line() {
  in_line_ = true;
  line_sleeper_ = listener_.sleeper;
  auto& machine = std::get<acquiring>(machine_);
  const auto came_already = engine_.waiting().enter(claim_.owner.counter(), shared_from_this());
  engine_.connection().listen(line_sleeper_);
  if (!engine_.hears()) return obey(machine.on_deaf(present()));
  if (came_already) obey(hear(machine, *came_already));
}

void tenure::leave_line() {
  if (!std::exchange(in_line_, false)) return;
  engine_.connection().unlisten(line_sleeper_);
  is_known_ = true;
}

// From now on a message that this request has the lock is for one that has left. Not before: the
// message may come after the answer that said the same, and the lock is ours.
void tenure::leave_room() {
  if (std::exchange(is_known_, false)) engine_.waiting().leave(claim_.owner.counter());
}

leasing::step tenure::hear(acquiring& machine, const line_message& message) {
  const auto position = message.position;
  if (const auto* const first = std::get_if<dialects::first_in_line>(&message.what)) {
    return machine.on_first_in_line(first->owner_has, present(), position);
  }
  const auto& grant = std::get<dialects::handed_over>(message.what);
  const auto granted_at = engine_.earliest(grant.at);
  if (!granted_at) return machine.on_woken(present());
  const milliseconds ours = grant.claim - claim_.delay;
  return machine.on_handed_over({grant.major, ours}, *granted_at, present(), position);
}

void tenure::on_message(const line_message& message) {
  const auto alive = shared_from_this();
  const scoped_mutex lock(mutex_);
  if (auto* const machine = std::get_if<acquiring>(&machine_)) obey(hear(*machine, message));
}

void tenure::on_woken() {
  const auto alive = shared_from_this();
  const scoped_mutex lock(mutex_);
  if (auto* const machine = std::get_if<acquiring>(&machine_)) obey(machine->on_woken(present()));
}

}  // namespace holdfast::runtime
