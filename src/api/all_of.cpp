#include <holdfast/all_of.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/several.hpp"
#include "base/printable.hpp"
#include "redis/locks/joint_request.hpp"
#include "redis/locks/redis_engine.hpp"
#include "redis/locks/take_together.hpp"
#include "runtime/client_core.hpp"
#include "runtime/local_lock.hpp"
#include "runtime/lock_access.hpp"

namespace holdfast {
namespace {

using detail::lock_access;

// Where everybody sees the same locks. A private server is its client's alone, and each tenant has
// locks of its own.
auto place_of(const lock& one) {
  const auto& core = lock_access::core(one);
  const void* const alone = core->url() == "embedded:" ? core.get() : nullptr;
  return std::tuple<const std::string&, const void*, const std::string&, const std::string&>{
      core->url(), alone, core->engine().space().prefix(), one.name()};
}

std::string joined(const api::lock_list& all) {
  std::string text;
  for (const auto& one : all) text += (text.empty() ? "" : ", ") + one.name();
  return text;
}

// Where one command can ask for all of them. Empty: it cannot.
std::vector<runtime::local_lock*> locals_of(const api::lock_list& all) {
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

class all_of_source final : public runtime::lock_source {
 public:
  explicit all_of_source(api::lock_list parts)
      : parts_(std::make_shared<const api::lock_list>(std::move(parts))),
        name_(joined(*parts_)),
        locals_(locals_of(*parts_)) {}

  const std::string& name() const noexcept override { return name_; }
  lock_kind kind() const noexcept override { return lock_kind::several; }
  const api::lock_list& parts() const noexcept { return *parts_; }

  runtime::acquired wait(leasing::patience patience, std::stop_token stop) override {
    bool together = !locals_.empty() && !stop.stop_requested();
    for (;; together = false) {
      api::gathered got{*parts_};
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
          return api::without(*next, std::move(*why));
        }
        got.add(std::get<runtime::grant>(std::move(outcome)));
      }
      if (got.are_held()) return got.join(name_);
      if (!patience.waits) return api::lost_on_the_way();
    }
  }

  std::unique_ptr<runtime::acquisition> ask() override { return api::gather(parts_, name_); }

 private:
  // Whether nothing more is to be tried when they could not be had together.
  static bool ends(const leasing::outcome& why, const leasing::patience& patience) noexcept {
    if (why.code == errc::timed_out || why.code == errc::cancelled) return true;
    return !patience.waits && why.code != errc::busy;
  }

  const std::shared_ptr<const api::lock_list> parts_;
  const std::string name_;
  const std::vector<runtime::local_lock*>
      locals_;  // of the parts, where they can be asked together
};

// The parts of an all_of are parts like others, so that there is one order.
void add(api::lock_list& all, lock&& one) {
  const auto& source = lock_access::source(one);
  if (const auto* inner = dynamic_cast<const all_of_source*>(source.get())) {
    all.insert(all.end(), inner->parts().begin(), inner->parts().end());
    return;
  }
  const auto* local = dynamic_cast<const runtime::local_lock*>(source.get());
  if (local != nullptr && local->spec().changes() != nullptr) {
    throw failure{errc::invalid_argument, "'" + printable(one.name()) +
                                              "' changes what is held, and could not be given "
                                              "back with the other parts of all_of"};
  }
  all.push_back(std::move(one));
}

}  // namespace

lock all_of(std::vector<lock> locks) {
  if (locks.empty()) throw failure{errc::invalid_argument, "all_of needs at least one lock"};
  api::lock_list all;
  for (auto& one : locks) add(all, std::move(one));
  const auto is_before = [](const lock& a, const lock& b) { return place_of(a) < place_of(b); };
  std::ranges::sort(all, is_before);
  const auto same = std::ranges::adjacent_find(
      all, [](const lock& a, const lock& b) { return place_of(a) == place_of(b); });
  if (same != all.end()) {
    throw failure{errc::invalid_argument, "the lock '" + printable(same->name()) +
                                              "' is there twice and would wait for itself"};
  }
  const auto core = lock_access::core(all.front());
  return lock_access::make(core, std::make_shared<all_of_source>(std::move(all)));
}

}  // namespace holdfast
