#include "redis/dialects/holdfast/quorum_inspect.hpp"

#include <utility>

#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "redis/dialects/holdfast/quorum.hpp"

namespace holdfast::dialects {
namespace {

vote_holder read_holder(const resp::value& v) {
  const auto type = leading_word(v);
  if (type.empty() || v.items.size() != 5) return unquoted_not_understood("inspect", v);
  if (type == "none") return lock_free{};
  if (type != "string") return describe_foreign(type, {});
  const auto value = parse_lock_value(v.items[1].text);
  if (!value) return describe_foreign(type, v.items[1].text);
  auto owner = parse_owner(value->owner);
  return lock_held{.major = value->major,
                   .client = std::move(owner.client),
                   .owner = std::move(owner.shortened),
                   .ttl = read_ttl(v.items[2])};
}

}  // namespace

void write_quorum_inspect(const lock_key& key, resp::writer& out) {
  out.call(scripts::holdfast_quorum_inspect, 3, 0);
  out.arg(quorum_value_key(key));
  out.arg(quorum_out_key(key));
  out.arg(quorum_waiters_key(key));
}

vote_seen read_quorum_inspect(const resp::value& v) {
  vote_seen seen{.what = read_holder(v)};
  if (std::holds_alternative<refused>(seen.what)) return seen;
  seen.stays_out = read_ttl(v.items[3]).value_or(milliseconds{0});
  seen.waiting = read_major(v.items[4]).value_or(0);
  return seen;
}

void write_quorum_break(const lock_key& key, token_major largest, server_time not_after,
                        resp::writer& out) {
  out.call(scripts::holdfast_quorum_break_lock, 3, 2);
  out.arg(quorum_value_key(key));
  out.arg(quorum_fence_key(key));
  out.arg(quorum_waiters_key(key));
  out.arg(static_cast<std::int64_t>(largest));
  out.arg(micros(not_after));
}

break_verdict read_quorum_break(const lock_key& key, const resp::value& v) {
  return read_break(quorum_value_key(key), v);
}

}  // namespace holdfast::dialects
