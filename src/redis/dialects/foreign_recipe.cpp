#include "redis/dialects/foreign_recipe.hpp"

#include <cassert>
#include <string>

#include <holdfast/errc.hpp>

#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"

namespace holdfast::dialects {
namespace {

// {owner, holds, ms}, and of a read-write lock the mode.
std::optional<foreign_holder> read_holder(const resp::value& v) {
  const bool has_mode = v.items.size() == 4 && v.items[3].text.size() == 1;
  if (!v.is(resp::type::array) || (v.items.size() != 3 && !has_mode)) return std::nullopt;
  const bool is_told = v.items[0].is_text() && v.items[1].is(resp::type::integer) &&
                       v.items[2].is(resp::type::integer);
  if (!is_told) return std::nullopt;
  foreign_holder found{.owner = v.items[0].text};
  found.holds = static_cast<std::uint64_t>(std::max<std::int64_t>(v.items[1].number, 0));
  found.remaining = read_ttl(v.items[2]);
  if (has_mode) found.mode = v.items[3].text.front();
  return found;
}

}  // namespace

// Answers that only these scripts give. OK: granted for the lease asked for. Nil: another holder
// has it, without an expiry.
acquire_verdict foreign_recipe::read_acquire(const claim& wanted, const resp::value& v) const {
  if (v.is(resp::type::simple) && v.text == "OK") return granted{0, wanted.lease};
  if (v.is(resp::type::null)) return busy{};
  auto verdict = native_recipe::read_acquire(wanted, v);
  const auto* const grant = std::get_if<granted>(&verdict);
  const bool is_with_token = grant != nullptr && grant->major != 0;
  if (is_with_token && !usual_.has_tokens) return not_understood("acquire", v);
  return verdict;
}

void foreign_recipe::write_renew(std::span<const claim* const> held, server_time not_after,
                                 resp::writer& out) const {
  assert(!held.empty() && held.size() <= renew_batch);
  out.call(renewal(), held.size(), 1 + 2 * held.size());
  for (const claim* one : held) out.arg(key_of(one->key->name()));
  out.arg(micros(not_after));
  for (const claim* one : held) {
    out.arg(owner_of(*one));
    out.arg(kept_time(*one).count());
  }
}

void check_longest_lease(const foreign_recipe& layout, milliseconds lease) {
  const auto longest = layout.usual().longest_lease;
  if (longest == milliseconds{0} || lease <= longest) return;
  throw failure{errc::invalid_argument,
                "a lease of the dialect " + std::string(layout.usual().name) + " lasts " +
                    std::to_string(longest.count()) + " ms at most: other users end it then"};
}

std::string with_hyphens(std::string digits) {
  for (const std::size_t at : {20, 16, 12, 8}) digits.insert(at, 1, '-');
  return digits;
}

void foreign_recipe::write_inspect(std::string_view name, resp::writer& out) const {
  out.call(inspection(), 1, 0);
  out.arg(key_of(name));
}

// A list of holders.
foreign_verdict foreign_recipe::read_inspect(const resp::value& v) const {
  if (!v.is(resp::type::array)) {
    auto why = unquoted_not_understood("inspect", v);
    if (why.code == errc::foreign_key) why.detail = "a key of a type that no such lock has";
    return why;
  }
  foreign_holders all;
  for (const auto& one : v.items) {
    auto found = read_holder(one);
    if (!found) return unquoted_not_understood("inspect", v);
    all.push_back(*std::move(found));
  }
  return all;
}

void foreign_recipe::write_break(std::string_view name, std::string_view owner,
                                 server_time not_after, resp::writer& out) const {
  auto keys = all_keys_of(name);
  const auto told = told_when_free(name);
  if (told.command == "LPUSH") keys.push_back(told.where);
  out.call(scripts::foreign_break_lock, keys.size(), 5);
  for (const auto& key : keys) out.arg(key);
  out.arg(micros(not_after));
  out.arg(owner);
  out.arg(told.where);
  out.arg(told.what);
  out.arg(told.command);
}

std::variant<break_end, refused> foreign_recipe::read_break(const resp::value& v) const {
  const bool is_said = v.is(resp::type::array) && !v.items.empty() && v.items[0].is_text();
  const auto word = is_said ? std::string_view(v.items[0].text) : std::string_view{};
  if (word == "broken") return break_end::broken;
  if (word == "free") return break_end::free;
  if (word == "changed") return break_end::changed;
  return refused_or_not_understood("break", v);
}

}  // namespace holdfast::dialects
