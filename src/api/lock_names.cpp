#include "api/lock_names.hpp"

#include <utility>

#include "api/ask.hpp"
#include "api/once.hpp"
#include "base/glob.hpp"
#include "base/lock_key.hpp"
#include "dialects/holdfast/held_index.hpp"

namespace holdfast::api {
namespace {

// Of about 1,000 names each: no server may go on for ever.
constexpr int most_pages = 5'000;

}  // namespace

bool is_one_name(std::string_view pattern) noexcept {
  return lock_key::may_be(pattern) && pattern.find_first_of("*?[\\") == pattern.npos;
}

void lock_names::add(std::string name) {
  if (matches(pattern_, name)) names_.insert(std::move(name));
}

void lock_names::add_key(std::string_view key) {
  if (auto name = name_in(core_.engine().space(), key)) add(*std::move(name));
}

bool lock_names::read_index(survey& over) {
  const dialects::held_index_place place{core_.engine().space()};
  bool is_whole = true;
  over.look("", place.slot, [&] {
    std::string cursor = "0";
    int left = most_pages;
    do {
      auto page = accept(dialects::read_held(ask(core_, place.slot, [&](resp::writer& out) {
        dialects::write_held_query(place, cursor, out);
      })));
      for (auto& name : page.locks) add(std::move(name));
      cursor = std::move(page.cursor);
    } while (cursor != "0" && --left > 0);
    is_whole = cursor == "0";
  });
  return is_whole;
}

}  // namespace holdfast::api
