#include "several/all_of_source.hpp"

#include <utility>
#include <variant>

#include "redis/locks/joint_request.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/take_together.hpp"
#include "runtime/client_core.hpp"
#include "runtime/local_lock.hpp"
#include "runtime/lock_access.hpp"
#include "several/gathering.hpp"

namespace holdfast::several {
namespace {

using detail::lock_access;

std::string joined(const lock_list& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : ", ") + one.name();
  return text;
}

// Where one command can ask for all of them. Empty: it cannot.
std::vector<runtime::local_lock*> locals_of(const lock_list& all) {
  std::vector<runtime::local_lock*> locals;
  const auto* const at =
      runtime::find_engine<redis_locks::redis_engine>(lock_access::core(all.front())->engine());
  if (all.size() < 2 || all.size() > redis_locks::joint_request::most) return locals;
  for (const auto& one : all) {
    auto* const local = dynamic_cast<runtime::local_lock*>(lock_access::source(one).get());
    const bool joins = local != nullptr && at != nullptr &&
                       redis_locks::joint_request::can_have(local->spec()) &&
                       &local->owner() == &lock_access::core(all.front())->engine() &&
                       (locals.empty() || !at->is_cluster() ||
                        local->spec().key.slot() == locals.front()->spec().key.slot());
    if (!joins) return {};
    locals.push_back(local);
  }
  return locals;
}

// Whether nothing more is to be tried when they could not be had together.
bool ends(const leasing::outcome& why, const leasing::patience& patience) noexcept {
  if (why.code == errc::timed_out || why.code == errc::cancelled) return true;
  return !patience.waits && why.code != errc::busy;
}

}  // namespace

all_of_source::all_of_source(lock_list parts)
    : parts_(std::make_shared<const lock_list>(std::move(parts))),
      name_(joined(*parts_)),
      locals_(locals_of(*parts_)) {}

runtime::acquired all_of_source::wait(leasing::patience patience, std::stop_token stop) {
  bool together = !locals_.empty() && !stop.stop_requested();
  for (;; together = false) {
    gathered got{*parts_};
    if (together) {
      lock_access::core(parts_->front())->check_process();
      auto outcome = redis_locks::take_together(locals_, patience, stop);
      if (auto* const all = std::get_if<0>(&outcome)) {
        got.add(std::move(*all));
      } else if (ends(std::get<1>(outcome), patience)) {
        return std::get<1>(std::move(outcome));
      }
    }
    while (const lock* const next = got.next()) {
      lock_access::core(*next)->check_process();
      auto outcome = lock_access::source(*next)->wait(patience, stop);
      if (auto* const why = std::get_if<leasing::outcome>(&outcome)) {
        return without(*next, std::move(*why));
      }
      got.add(std::get<runtime::grant>(std::move(outcome)));
    }
    if (got.are_held()) return got.join(name_);
    if (!patience.waits) return lost_on_the_way();
  }
}

std::unique_ptr<runtime::acquisition> all_of_source::ask() { return gather(parts_, name_); }

}  // namespace holdfast::several
