#include "inspection/lock_names.hpp"

#include <algorithm>
#include <utility>

#include "base/glob.hpp"
#include "base/lock_key.hpp"
#include "inspection/key_scan.hpp"
#include "redis/calls/ask.hpp"
#include "redis/calls/idempotent_call.hpp"
#include "redis/connection/server_reply.hpp"
#include "redis/dialects/holdfast/held_index.hpp"
#include "redis/locks/redis_engine.hpp"

namespace holdfast::inspection {
namespace {

// Of about 1,000 names each: no server may go on for ever.
constexpr int most_pages = 5'000;

}  // namespace

bool is_one_name(std::string_view pattern) noexcept {
  return lock_key::may_be(pattern) && pattern.find_first_of("*?[\\") == pattern.npos;
}

void lock_names::add(std::string name) {
  if (!matches(pattern_, name)) return;
  if (const auto [place, is_new] = names_.insert(std::move(name)); is_new) {
    untaken_.push_back(*place);
  }
}

std::vector<std::string> lock_names::take() {
  std::ranges::sort(untaken_);
  return std::exchange(untaken_, {});
}

void lock_names::add_key(std::string_view key) {
  if (auto name = name_in(redis_locks::engine_of(core_).space(), key)) add(*std::move(name));
}

bool lock_names::read_index(survey& over, const list_options& options) {
  const dialects::held_index_place place{redis_locks::engine_of(core_).space()};
  std::string cursor = "0";
  const auto read = [&] {
    const auto now =
        redis::read_time(calls::answer_to(core_, place.slot, {"TIME"}, until_stopped(options)));
    int left = most_pages;
    do {
      check_stop(options);
      const auto query = [&](resp::writer& out) { dialects::write_held_query(place, cursor, out); };
      auto answer = calls::ask(core_, place.slot, query, until_stopped(options));
      auto said = dialects::read_held(std::move(answer), now.value_or(server_time{}));
      if (const auto* const why = std::get_if<substrate::refused>(&said)) {
        throw failure{why->code,
                      "the index of held locks, " + place.key + ", cannot be read: " + why->detail};
      }
      auto& page = std::get<dialects::held_page>(said);
      for (auto& name : page.locks) add(std::move(name));
      cursor = std::move(page.cursor);
    } while (cursor != "0" && --left > 0);
  };
  const bool is_read = over.look("", place.slot, read);
  return is_read && cursor == "0";
}

}  // namespace holdfast::inspection
