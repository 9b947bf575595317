#include "inspection/all_dialects.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/glob.hpp"
#include "base/lock_key.hpp"
#include "inspection/foreign_status.hpp"
#include "inspection/key_scan.hpp"
#include "inspection/lock_names.hpp"
#include "inspection/native_status.hpp"
#include "inspection/registry.hpp"
#include "inspection/survey.hpp"
#include "redis/calls/ask.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/dialects/recognition.hpp"
#include "redis/locks/foreign_place.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::inspection {
namespace {

// Collects locks of other libraries among keys.
class collection {
 public:
  collection(runtime::client_core& core, std::string_view pattern, survey& over,
             const list_options& options)
      : core_(core),
        pattern_(pattern),
        survey_(over),
        within_(until_stopped(options)),
        clients_(core, within_) {}

  void look_at(std::vector<std::string> keys) {
    std::erase_if(keys, [](const auto& key) { return key.starts_with(key_space::without_tenant); });
    // Nodes of a cluster answer for keys of one hash slot at a time.
    const bool is_cluster = redis_locks::engine_of(core_).is_cluster();
    const auto slot_of = [=](const auto& key) { return is_cluster ? hash_slot(key) : 0; };
    if (is_cluster) std::ranges::sort(keys, {}, slot_of);
    for (auto from = keys.begin(); from != keys.end();) {
      const auto slot = slot_of(*from);
      const auto end =
          std::find_if(from, keys.end(), [&](const auto& key) { return slot_of(key) != slot; });
      const auto many = std::min<std::ptrdiff_t>(end - from, dialects::look_batch);
      survey_.look_at_keys(static_cast<std::size_t>(many), static_cast<std::uint16_t>(slot), [&] {
        look_at({from, from + many}, static_cast<std::uint16_t>(slot));
      });
      from += many;
    }
  }

  // For a pattern that is one name. Finds what `find_foreign` finds: a lock at each key that some
  // library makes of this name, also where that library calls the lock otherwise.
  void look_at_name() {
    auto keys = dialects::keys_of(pattern_);
    named_ = {keys.begin(), keys.end()};
    look_at(std::move(keys));
  }

  std::vector<lock_status>& found() noexcept { return found_; }

 private:
  void look_at(std::span<const std::string> keys, std::uint16_t slot) {
    const auto query = [&](resp::writer& out) { dialects::write_look(keys, out); };
    const auto kept =
        calls::accept(dialects::read_look(keys, calls::ask(core_, slot, query, within_)));
    std::vector<dialects::recognised> locks;
    std::vector<known_clients::wanted> holders;
    for (const auto& one : kept) {
      auto lock = recognise(one);
      if (!lock) continue;
      if (!known_.emplace(one.key).second) continue;  // SCAN may tell a key twice
      std::ranges::move(clients_of(*lock->layout, lock->holders), std::back_inserter(holders));
      locks.push_back(*std::move(lock));
    }
    clients_.learn(holders);
    for (auto& lock : locks) {
      found_.push_back(
          show_foreign(clients_, *lock.layout, std::move(lock.name), std::move(lock.holders)));
      found_.back().dialect = std::move(lock.dialect);
      if (!lock.remark.empty()) found_.back().detail = std::move(lock.remark);
    }
  }

  std::optional<dialects::recognised> recognise(const dialects::kept& one) const {
    if (named_.contains(one.key)) return dialects::recognise_for(pattern_, one);
    auto lock = dialects::recognise(one);
    return lock && matches(pattern_, lock->name) ? std::move(lock) : std::nullopt;
  }

  runtime::client_core& core_;
  const std::string_view pattern_;
  survey& survey_;
  const redis_locks::bound within_;  // of each round trip
  known_clients clients_;
  std::set<std::string, std::less<>> named_;
  std::set<std::string> known_;  // keys of the locks that were found
  std::vector<lock_status> found_;
};

}  // namespace

lock_listing list_all_dialects(runtime::client_core& core, std::string_view pattern,
                               const list_options& options) {
  redis_locks::refuse_for_tenant(core);
  check_stop(options);
  survey all{core, until_stopped(options)};
  lock_names ours{core, pattern};
  shown_locks found{core, all, options};
  collection others{core, pattern, all, options};
  key_scan scan{core, all, options};
  // Of those that we may have, so many may be ours.
  const auto left = [&] { return options.most - std::min(options.most, others.found().size()); };
  lock_listing listing;
  const bool is_large = scan.count() > options.most_scanned;
  if (is_one_name(pattern)) {
    ours.add(std::string{pattern});
    others.look_at_name();
  } else {
    listing.indexed = is_large && ours.read_index(all, options);
  }
  listing.cut_short = !scan.walk("*", [&](std::vector<std::string> keys) {
    for (const auto& key : keys) ours.add_key(key);
    others.look_at(std::move(keys));
    return others.found().size() <= options.most && !found.are_more_than(left(), ours);
  });
  found.look_at(ours, options.most);
  listing.locks = std::move(found.all());
  std::ranges::move(others.found(), std::back_inserter(listing.locks));
  finish(listing, options, all);
  return listing;
}

}  // namespace holdfast::inspection
