#include "redis/dialects/holdfast/inspect.hpp"

#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/printable.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "redis/dialects/holdfast/waiting.hpp"

namespace holdfast::dialects {
namespace {

constexpr std::int64_t audit_entries = 1000;
constexpr std::size_t most_shown = 100;
constexpr std::size_t reply_size = 8;  // of inspect

std::string audit_key(const key_space& space) { return space.named("audit"); }

// `1l:<count>` or `1b:<parties>:<floor>`.
std::optional<lock_gate> read_gate(std::string_view text) {
  if (!text.starts_with("1l:") && !text.starts_with("1b:")) return std::nullopt;
  lock_gate found{.family = text[1]};
  const char* const end = text.data() + text.size();
  const auto [last, failed] = std::from_chars(text.data() + 3, end, found.count);
  const bool complete = last == end || (found.family == 'b' && *last == ':');
  return failed == std::errc{} && complete ? std::optional(found) : std::nullopt;
}

// A score, which Redis writes as a double: "1795240014867674", or with an exponent. A holder that
// changes its mode goes first: its score is less by the largest major.
server_time read_ticket(const std::string& text) {
  double ticket = std::strtod(text.c_str(), nullptr);
  if (ticket < 0) ticket += static_cast<double>(largest_major);
  if (!(ticket >= 0 && ticket <= static_cast<double>(largest_major))) return {};
  return server_time(microseconds(static_cast<std::int64_t>(ticket)));
}

// `{summary, fields, {field, value, ...}}`, of a hash.
inspect_verdict read_shared(const resp::value& v, server_time now, counted_grant last) {
  if (!v.is(resp::type::array) || v.items.size() != 3) return unquoted_not_understood("inspect", v);
  const std::string_view summary = v.items[0].text;
  lock_shared found{.family = family_of(summary), .now = now, .last = last};
  if (found.family == 0) {
    if (summary.size() > 1 && summary[0] >= '2' && summary[0] <= '9') {
      return lock_foreign{errc::layout_version,
                          "a lock of layout version " + printable(summary.substr(0, 1), 1)};
    }
    return describe_foreign("hash", {});
  }
  const auto fields = read_major(v.items[1]).value_or(0);
  const auto shown = v.items[2].items.size() / 2;
  found.holders = read_holders(v.items[2]);
  std::erase_if(found.holders, [&](const shared_holder& one) { return one.until <= now; });
  if (found.holders.empty()) return lock_free{};
  // Fields that are not shown count as holders.
  found.count = found.holders.size() + (fields > shown ? fields - shown : 0);
  for (const auto& one : found.holders) {
    if (one.has.mode == 's') found.in_use += one.has.weight;
  }
  if (found.holders.size() > most_shown) found.holders.resize(most_shown);
  return found;
}

}  // namespace

lock_foreign describe_foreign(std::string_view type, std::string_view text) {
  if (const auto version = other_layout_version(text)) {
    return {errc::layout_version, "a lock of layout version " + std::string{*version}};
  }
  return {errc::foreign_key, "a " + printable(type, 20) + " that is not a Holdfast lock"};
}

void write_inspect(const lock_key& key, resp::writer& out) {
  out.call(scripts::holdfast_inspect, 4, 0);
  write_key(key, "", out);
  write_key(key, ":w", out);
  write_key(key, ":n", out);
  out.arg(key.fence_key());
}

inspect_verdict read_inspect(const resp::value& v) {
  const std::string_view type = leading_word(v);
  if (type.empty() || v.items.size() != reply_size) return unquoted_not_understood("inspect", v);
  const resp::value& text = v.items[1];
  const auto now = read_time(v.items[3]);
  if (type == "none") return lock_free{};
  const auto last = parse_counter(v.items[7].text);
  if (type == "hash" && now) return read_shared(text, *now, last);
  if (type != "string") return describe_foreign(type, {});
  if (!text.is_text() || !now) return unquoted_not_understood("inspect", v);
  const auto value = parse_lock_value(text.text);
  if (!value) {
    if (const auto gate = read_gate(text.text)) return *gate;
    return describe_foreign(type, text.text);
  }
  owner_parts owner = parse_owner(value->owner);
  return lock_held{.major = value->major,
                   .client = std::move(owner.client),
                   .owner = std::move(owner.shortened),
                   .ttl = read_ttl(v.items[2]),
                   .now = *now,
                   .last = last};
}

std::optional<server_time> time_of_inspect(const resp::value& v) {
  if (!v.is(resp::type::array) || v.items.size() != reply_size) return std::nullopt;
  return read_time(v.items[3]);
}

lock_queue read_queue(const resp::value& v) {
  lock_queue queue;
  if (!v.is(resp::type::array) || v.items.size() != reply_size) return queue;
  const auto count = read_major(v.items[4]);
  queue.waiting = count.value_or(0);
  const auto permits = read_major(v.items[6]);
  if (permits && *permits <= UINT32_MAX) queue.permits = static_cast<std::uint32_t>(*permits);
  const auto& members = v.items[5].items;
  for (std::size_t i = 0; i + 1 < members.size(); i += 2) {
    // `<request id>:<family><claim>:...`, `<request id>:<mode><weight>/...`, and foreign entries as
    // they are.
    const std::string_view member = members[i].text;
    const auto colon = member.find(':');
    owner_parts owner = parse_owner(member.substr(0, colon));
    auto rest = colon == member.npos ? std::string_view{} : member.substr(colon + 1);
    if (i == 0 && !rest.empty()) queue.whose = family_of_place(rest.front());
    const auto wants = take_share(rest);
    queue.first.push_back({std::move(owner.client), std::move(owner.shortened),
                           read_ticket(members[i + 1].text), wants.value_or(share{})});
  }
  return queue;
}

void write_break(const lock_key& key, server_time not_after, resp::writer& out) {
  out.call(scripts::holdfast_break_lock, 4, 1);
  write_keys(key, out);
  out.arg(micros(not_after));
}

break_verdict read_break(const lock_key& key, const resp::value& v) {
  return read_break(key.value_key(), v);
}

break_verdict read_break(const std::string& value_key, const resp::value& v) {
  if (auto why = read_not_ours(v, value_key)) return *std::move(why);
  const std::string_view word = leading_word(v);
  if (word == "free" && v.items.size() == 1) return lock_free{};
  if (word == "broken" && v.items.size() == 2 && v.items[1].is_text()) {
    if (const auto value = parse_lock_value(v.items[1].text)) {
      owner_parts owner = parse_owner(value->owner);
      return lock_broken{value->major, std::move(owner.client), std::move(owner.shortened)};
    }
  }
  return unquoted_not_understood("break", v);
}

void write_break_shared(const lock_key& key, server_time not_after, resp::writer& out) {
  out.call(scripts::holdfast_shared_break_lock, 5, 1);
  write_keys(key, out);
  write_key(key, ":n", out);
  out.arg(micros(not_after));
}

break_shared_verdict read_break_shared(const lock_key& key, const resp::value& v) {
  if (auto why = read_not_ours(v, key.value_key())) return *std::move(why);
  const std::string_view word = leading_word(v);
  if (word == "free" && v.items.size() == 1) return lock_free{};
  if (word == "broken" && v.items.size() == 3 && v.items[1].number >= 0) {
    return shared_broken{read_holders(v.items[2]), static_cast<std::size_t>(v.items[1].number)};
  }
  return unquoted_not_understood("break", v);
}

std::uint16_t audit_slot(const key_space& space) { return hash_slot(audit_key(space)); }

void write_audit(const key_space& space, const audit_entry& entry, resp::writer& out) {
  out.command(6 + 12);
  out.arg("XADD");
  out.arg(audit_key(space));
  out.arg("MAXLEN");
  out.arg("=");
  out.arg(audit_entries);
  for (const std::string_view word : {"*", "event", "break", "name"}) out.arg(word);
  out.arg(entry.name);
  out.arg("owner");
  out.arg(entry.owner);
  out.arg("token");
  out.arg(std::to_string(entry.major * minors_per_major));
  out.arg("by");
  out.arg(entry.by);
  out.arg("reason");
  out.arg(entry.reason);
}

}  // namespace holdfast::dialects
