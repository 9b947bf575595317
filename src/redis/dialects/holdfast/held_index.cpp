#include "redis/dialects/holdfast/held_index.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/lock_key.hpp"
#include "base/number.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"

namespace holdfast::dialects {
namespace {

constexpr int page_hint = 1000;  // COUNT of ZSCAN: about so many names

// The server wrote the time as a double, in whole milliseconds.
bool is_over(const resp::value& until, server_time now) {
  const auto ends = parse_number<std::int64_t>(until.text.substr(0, until.text.find('.')));
  const auto since = std::chrono::floor<milliseconds>(now.time_since_epoch());
  return until.is_text() && ends && *ends < since.count();
}

}  // namespace

held_index_place::held_index_place(const key_space& space)
    : key(space.named("held")), slot(hash_slot(key)) {}

void write_held(const held_index_place& at, std::span<const held_name> names, resp::writer& out) {
  out.call(scripts::holdfast_note_held, 1, 1 + 2 * names.size());
  out.arg(at.key);
  out.arg(std::ranges::max_element(names, {}, &held_name::at_most)->at_most.count());
  for (const auto& one : names) {
    if (one.is_released) {
      out.arg({"=", std::to_string(one.at_most.count())});
    } else {
      out.arg(one.at_most.count());
    }
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
  out.arg(page_hint);
}

std::variant<held_page, refused> read_held(resp::value&& v, server_time now) {
  const bool is_page = v.is(resp::type::array) && v.items.size() == 2 && v.items[0].is_text() &&
                       v.items[1].is(resp::type::array);
  if (v.is(resp::type::error) && v.text.starts_with("WRONGTYPE")) {
    return refused{errc::foreign_key, false, "the key is of another type; delete it"};
  }
  if (!is_page) return refused_or_not_understood("ZSCAN", v);
  held_page found{.cursor = std::move(v.items[0].text), .locks = {}};
  auto& pairs = v.items[1].items;  // of a name and a time
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const bool is_name = pairs[i].is_text() && lock_key::may_be(pairs[i].text);
    if (is_name && !is_over(pairs[i + 1], now)) found.locks.push_back(std::move(pairs[i].text));
  }
  return found;
}

}  // namespace holdfast::dialects
