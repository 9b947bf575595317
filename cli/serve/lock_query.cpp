#include "cli/serve/lock_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

using order_by = lock_query::order_by;

[[noreturn]] void refuse(const std::string& name, const std::string& expected) {
  throw std::invalid_argument(fmt::format("the parameter {} is {}", name, expected));
}

std::size_t parse_count(const std::string& name, const std::string& text, std::size_t most) {
  std::size_t count = 0;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, count);
  if (read.ec != std::errc{} || read.ptr != end || count < 1 || count > most) {
    refuse(name, fmt::format("a number from 1 to {}", most));
  }
  return count;
}

lock_state parse_state(const std::string& text) {
  if (text == "held") return lock_state::held;
  if (text == "shut") return lock_state::shut;
  refuse("state", "held or shut");
}

order_by parse_order(const std::string& text) {
  if (text == "name") return order_by::name;
  if (text == "since") return order_by::since;
  if (text == "remaining") return order_by::remaining;
  if (text == "waiting") return order_by::waiting;
  refuse("sort", "name, since, remaining or waiting");
}

bool parse_descending(const std::string& text) {
  if (text != "asc" && text != "desc") refuse("order", "asc or desc");
  return text == "desc";
}

bool parse_flag(const std::string& name, const std::string& text) {
  if (text != "0" && text != "1" && !text.empty()) refuse(name, "0 or 1");
  return text == "1";
}

bool matches(const lock_status& lock, const lock_query& wanted) {
  const std::string_view name = lock.name;
  return name.starts_with(wanted.prefix) && name.find(wanted.contains) != name.npos &&
         (!wanted.state || lock.state == *wanted.state) &&
         (wanted.kind.empty() || wanted.kind == name_of(lock.kind)) &&
         (!wanted.waited_for || lock.waiting > 0);
}

std::optional<std::int64_t> rank(const lock_status& lock, order_by sort) {
  switch (sort) {
    case order_by::since:
      if (!lock.since) return std::nullopt;
      return lock.since->time_since_epoch().count();
    case order_by::remaining:
      if (!lock.remaining) return std::nullopt;
      return lock.remaining->count();
    case order_by::waiting:
      return static_cast<std::int64_t>(lock.waiting);
    case order_by::name:
      break;
  }
  return std::nullopt;
}

void sort(std::vector<const lock_status*>& locks, const lock_query& wanted) {
  const auto by_name = [](const lock_status* a, const lock_status* b) { return a->name < b->name; };
  if (wanted.sort == order_by::name) {
    std::ranges::sort(locks, by_name);
    if (wanted.descending) std::ranges::reverse(locks);
    return;
  }
  std::ranges::sort(locks, [&](const lock_status* a, const lock_status* b) {
    const auto of_a = rank(*a, wanted.sort);
    const auto of_b = rank(*b, wanted.sort);
    if (of_a == of_b) return by_name(a, b);
    if (!of_a || !of_b) return of_a.has_value();
    return wanted.descending ? *of_a > *of_b : *of_a < *of_b;
  });
}

}  // namespace

lock_query parse_lock_query(const std::map<std::string, std::string>& query) {
  constexpr std::size_t most_pages = 1'000'000;
  constexpr std::size_t most_per_page = 1'000;
  lock_query wanted;
  for (const auto& [name, value] : query) {
    if (name == "prefix") wanted.prefix = value;
    if (name == "contains") wanted.contains = value;
    if (name == "state" && !value.empty()) wanted.state = parse_state(value);
    if (name == "kind") wanted.kind = value;
    if (name == "waited") wanted.waited_for = parse_flag(name, value);
    if (name == "sort") wanted.sort = parse_order(value);
    if (name == "order") wanted.descending = parse_descending(value);
    if (name == "page") wanted.page = parse_count(name, value, most_pages);
    if (name == "per_page") wanted.per_page = parse_count(name, value, most_per_page);
  }
  return wanted;
}

lock_page find_locks(const std::vector<lock_status>& all, const lock_query& wanted) {
  std::vector<const lock_status*> found;
  for (const auto& lock : all) {
    if (matches(lock, wanted)) found.push_back(&lock);
  }
  sort(found, wanted);
  lock_page page;
  page.total = found.size();
  page.pages = std::max<std::size_t>(1, (found.size() + wanted.per_page - 1) / wanted.per_page);
  const auto first = std::min((wanted.page - 1) * wanted.per_page, found.size());
  const auto last = std::min(first + wanted.per_page, found.size());
  page.locks.assign(found.begin() + static_cast<std::ptrdiff_t>(first),
                    found.begin() + static_cast<std::ptrdiff_t>(last));
  return page;
}

}  // namespace holdfast::cli
