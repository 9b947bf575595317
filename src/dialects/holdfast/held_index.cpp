#include "dialects/holdfast/held_index.hpp"

#include <algorithm>
#include <utility>

#include "base/lock_key.hpp"
#include "dialects/holdfast/answers.hpp"
#include "holdfast_scripts.hpp"

namespace holdfast::dialects {
namespace {

constexpr int page = 1000;  // about

}  // namespace

held_index_place::held_index_place(const key_space& space)
    : key(space.named("held")), slot(hash_slot(key)) {}

void write_held(const held_index_place& at, std::span<const held_name> names, resp::writer& out) {
  out.call(scripts::holdfast_note_held, 1, 1 + 2 * names.size());
  out.arg(at.key);
  out.arg(std::ranges::max_element(names, {}, &held_name::at_most)->at_most.count());
  for (const auto& one : names) {
    out.arg(one.at_most.count());
    out.arg(one.lock);
  }
}

std::optional<refused> read_held_written(const resp::value& v) {
  if (v.is(resp::type::integer) && v.number == 1) return std::nullopt;
  return refused_or_not_understood("note held", v);
}

void write_held_query(const held_index_place& at, std::string_view cursor, resp::writer& out) {
  out.command(5);
  out.arg("ZSCAN");
  out.arg(at.key);
  out.arg(cursor);
  out.arg("COUNT");
  out.arg(page);
}

std::variant<held_page, refused> read_held(resp::value&& v) {
  const bool is_page = v.is(resp::type::array) && v.items.size() == 2 && v.items[0].is_text() &&
                       v.items[1].is(resp::type::array);
  if (!is_page) return refused_or_not_understood("ZSCAN", v);
  held_page found{.cursor = std::move(v.items[0].text), .locks = {}};
  auto& pairs = v.items[1].items;  // of a name and a time
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    if (pairs[i].is_text() && lock_key::may_be(pairs[i].text)) {
      found.locks.push_back(std::move(pairs[i].text));
    }
  }
  return found;
}

}  // namespace holdfast::dialects
