#include "inspection/survey.hpp"

#include <algorithm>
#include <utility>

#include "redis/calls/ask.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::inspection {
namespace {

// Another server may answer all the same.
bool is_of_one_server(errc reason) {
  return reason != errc::forked && reason != errc::invalid_argument && reason != errc::cancelled;
}

bool may_pass(errc reason) {
  return reason == errc::unavailable || reason == errc::server_busy || reason == errc::loading;
}

}  // namespace

survey::survey(runtime::client_core& core, const redis_locks::bound& within) : core_(core) {
  if (!is_cluster()) return;
  try {
    calls::ask(core_, 0, {"PING"}, within);
  } catch (const failure& why) {
    if (why.reason() == errc::cancelled) throw;
    // It was sent to the master of slot 0, if that is known.
    if (redis_locks::engine_of(core_).its_cluster()->shares().empty()) throw;
  }
}

const std::string* survey::why_unseen(const redis_locks::master& server) const {
  const auto found = std::ranges::find(silent_, &server, &silent_server::server);
  return found == silent_.end() ? nullptr : &found->why;
}

void survey::note(unseen_locks which, const failure& why) {
  if (!first_) first_ = why;
  if (which.why.empty()) which.why = why.what();
  unseen_.push_back(std::move(which));
}

void survey::each_server(const std::function<void(redis::connection&)>& walk) {
  const auto all = redis_locks::engine_of(core_).masters();
  std::size_t asked = 0;
  for (auto* const one : all) {
    if (why_unseen(*one) != nullptr) continue;
    try {
      walk(one->connection);
      ++asked;
    } catch (const failure& why) {
      if (!is_cluster() || !is_of_one_server(why.reason())) throw;
      silent_.push_back({one, why.what()});
      note({.server = net::to_string(one->where())}, why);
    }
  }
  if (asked == 0 && first_) throw failure{*first_};
}

bool survey::may_look(const std::string& name, std::uint16_t slot) {
  const auto* const why = why_unseen(redis_locks::engine_of(core_).at(slot));
  if (why != nullptr) unseen_.push_back({.name = name, .why = *why});
  return why == nullptr;
}

bool survey::look(const std::string& name, std::uint16_t slot, const std::function<void()>& at) {
  if (!may_look(name, slot)) return false;
  auto& server = redis_locks::engine_of(core_).at(slot);
  try {
    at();
    saw_something_ = true;
    return true;
  } catch (const failure& why) {
    if (!is_of_one_server(why.reason())) throw;
    if (why.reason() == errc::unavailable) {
      if (!is_cluster()) throw;
      if (!server.connection.is_up()) silent_.push_back({&server, why.what()});
    }
    note({.name = name}, why);
    return false;
  }
}

void survey::look_at_keys(std::size_t count, std::uint16_t slot, const std::function<void()>& at) {
  try {
    at();
  } catch (const failure& why) {
    if (!is_cluster() || !may_pass(why.reason())) throw;
    note({.why = std::to_string(count) + (count == 1 ? " key" : " keys") + " of the hash slot " +
                 std::to_string(slot) + ": " + why.what()},
         why);
  }
}

std::vector<unseen_locks> survey::unseen() {
  if (first_ && !saw_something_ && !is_cluster()) throw failure{*first_};
  if (is_cluster()) {
    std::size_t served = 0;
    for (const auto& one : redis_locks::engine_of(core_).its_cluster()->shares())
      served += one.slots;
    if (served < hash_slots) {
      unseen_.push_back(
          {.why = std::to_string(hash_slots - served) + " hash slots have no master"});
    }
  }
  return std::move(unseen_);
}

}  // namespace holdfast::inspection
