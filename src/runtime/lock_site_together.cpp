// Several locks that are asked for at once, with one command.
#include <algorithm>
#include <utility>

#include "runtime/engine.hpp"
#include "runtime/joint_request.hpp"
#include "runtime/lock_site.hpp"
#include "runtime/site_acquisition.hpp"

namespace holdfast::runtime {

std::variant<std::vector<grant>, leasing::outcome> lock_site::take_together(
    const std::vector<lock_site*>& all) {
  auto& engine = all.front()->engine_;
  auto& connection = engine.connection(all.front()->spec_.key.slot());
  redis::waiter self{redis::waiter::kind::caller, &connection};
  auto joint = std::make_unique<joint_request>(engine);
  std::vector<std::unique_ptr<site_acquisition>> parts;
  bool free = true;
  for (auto it = all.begin(); it != all.end() && free; ++it) {
    auto& one = *parts.emplace_back(std::make_unique<site_acquisition>((*it)->shared_from_this()));
    const bool ended = one.begin({}, {}, {.sleeper = &self, .together = joint.get()});
    free = !ended || one.has_grant();
  }
  if (free) {
    joint_request::submit(std::move(joint), &self, redis::connection::delivery::driven);
  } else {
    joint->cancel();
  }
  const auto is_answered = [](const auto& one) { return one->has_answer(); };
  while (self.clear_done(), !std::ranges::all_of(parts, is_answered)) {
    connection.drive(self);
  }
  self.done();
  connection.drive(self);
  std::vector<grant> got;
  leasing::outcome why;
  for (const auto& one : parts) {
    auto outcome = one->finish();
    if (auto* const granted = std::get_if<grant>(&outcome)) {
      got.push_back(std::move(*granted));
    } else if (!why.code || why.code == errc::busy) {
      why = std::get<leasing::outcome>(std::move(outcome));
    }
  }
  if (!why.code) {
    if (auto* const watch = engine.deadlocks()) {
      for (const auto& one : got) {
        watch->acquired(this_thread(), std::static_pointer_cast<tenure>(one.of));
      }
    }
    return got;
  }
  connection.forget(self);
  for (const auto& one : got) one.of->give_back({});
  return why;
}

}  // namespace holdfast::runtime
