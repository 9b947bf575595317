#include "redis/dialects/holdfast/quorum.hpp"

#include <utility>

#include "base/printable.hpp"
#include "holdfast_scripts.hpp"
#include "redis/dialects/holdfast/answers.hpp"

namespace holdfast::dialects {
namespace {

void write_quorum_key(const lock_key& key, std::string_view suffix, resp::writer& out) {
  out.arg({key.prefix(), "q:{", key.encoded(), "}", suffix});
}

// The member's key for a hash slot; of a trial it is for the name, which is no slot's tag.
void write_slot_key(std::string_view what, const quorum_claim& of, resp::writer& out,
                    std::string_view suffix = {}) {
  const auto tag = of.is_trial ? std::string(of.key->encoded()) : slot_tag(of.key->slot());
  out.arg({of.key->prefix(), "q:", what, ":{", tag, "}", suffix});
}

// All that a vote depends on.
void write_voting_keys(const quorum_claim& of, resp::writer& out) {
  write_quorum_key(*of.key, "", out);
  write_slot_key("fence", of, out);
  write_slot_key("out", of, out);
  write_slot_key("fence", of, out, ":master");
}

// For how long a master that has not voted before gives no vote.
void write_pause_of_new_master(const quorum_claim& of, milliseconds longest_lease,
                               resp::writer& out) {
  if (of.at_group) {
    out.arg(longest_lease.count());
  } else {
    out.arg("");
  }
}

void write_time(server_time t, resp::writer& out) { out.arg(t.time_since_epoch().count()); }

void write_major(token_major major, resp::writer& out) {
  out.arg(static_cast<std::int64_t>(major));
}

std::optional<refused> read_unusable(const quorum_claim& wanted, const resp::value& v) {
  const std::string_view word = leading_word(v);
  const auto key = quorum_value_key(*wanted.key);
  if (auto why = read_not_ours(v, key)) return why;
  if (word == "persistent") {
    return refused{errc::foreign_key, false,
                   "the key " + printable(key) +
                       " is a Holdfast lock without an expiry: somebody made it persistent; remove "
                       "it, or give it an expiry with PEXPIRE"};
  }
  if (word == "skew") {
    return refused{errc::clock_skew, false,
                   "the largest token known here is more than a day ahead of the server's clock"};
  }
  if (word == "counter") {
    return refused{errc::clock_skew, false,
                   "the fence counter " + quorum_fence_key(*wanted.key) +
                       " holds a text that no Holdfast has written; find its writer, then remove "
                       "the key"};
  }
  return std::nullopt;
}

}  // namespace

std::string quorum_value_key(const lock_key& key) {
  return std::string{key.prefix()} + "q:{" + key.encoded() + "}";
}

std::string quorum_fence_key(const lock_key& key) {
  return std::string{key.prefix()} + "q:fence:{" + slot_tag(key.slot()) + "}";
}

std::string quorum_out_key(const lock_key& key) {
  return std::string{key.prefix()} + "q:out:{" + slot_tag(key.slot()) + "}";
}

std::string quorum_waiters_key(const lock_key& key) { return quorum_value_key(key) + ":w"; }

void write_quorum_acquire(const quorum_claim& wanted, newcomer how, milliseconds longest_lease,
                          server_time not_after, resp::writer& out) {
  out.call(scripts::holdfast_quorum_acquire, 5, wanted.listener ? 8 : 6);
  write_voting_keys(wanted, out);
  write_quorum_key(*wanted.key, ":w", out);
  out.arg(wanted.owner.text());
  out.arg(wanted.lease.count());
  write_time(not_after, out);
  write_major(wanted.floor, out);
  switch (how) {
    case newcomer::tells:
      out.arg("tell");
      break;
    case newcomer::joins:
      out.arg("join");
      break;
    case newcomer::enters:
      out.arg("enter");
      break;
    case newcomer::waits:
      out.arg(longest_lease.count());
      break;
  }
  write_pause_of_new_master(wanted, longest_lease, out);
  if (!wanted.listener) return;
  out.arg(wanted.listener->text());
  out.arg(wanted.waited.count());
}

vote read_vote(const quorum_claim& wanted, const resp::value& v) {
  if (v.is(resp::type::integer)) {
    if (v.number <= 0) {
      return busy{milliseconds(-std::max<std::int64_t>(v.number, -longest_ttl.count()))};
    }
    const auto major = read_major(v);
    if (!major) return not_understood("acquire", v);
    return granted{*major, wanted.lease};
  }
  if (!v.is(resp::type::array)) return refused_or_not_understood("acquire", v);
  const std::string_view word = leading_word(v);
  if (word == "mine") return voted_before{};
  if (word == "new") return without_memory{};
  if (word == "out" && v.items.size() == 2) {
    if (const auto ttl = read_ttl(v.items[1])) return staying_out{*ttl};
  }
  if (auto too_late = read_late(v)) return *too_late;
  if (auto why = read_unusable(wanted, v)) return *std::move(why);
  return not_understood("acquire", v);
}

void write_quorum_keep(const quorum_claim& held, bool votes_again, milliseconds longest_lease,
                       server_time not_after, resp::writer& out) {
  out.call(scripts::holdfast_quorum_keep, 4, 6);
  write_voting_keys(held, out);
  out.arg(held.owner.text());
  out.arg(held.lease.count());
  write_time(not_after, out);
  write_major(held.token, out);
  if (votes_again) {
    out.arg(held.is_unheard ? 0 : longest_lease.count());
  } else {
    out.arg("refuse");
  }
  write_pause_of_new_master(held, longest_lease, out);
}

renew_verdict read_quorum_keep(const resp::value& v) {
  if (auto too_late = read_late(v)) return *too_late;
  const auto ttl = read_ttl(v);
  if (!ttl) return refused_or_not_understood("renew", v);
  if (ttl->count() == 0) return not_mine{};
  return renewed{*ttl};
}

void write_quorum_release(const quorum_claim& held, bool hears_on, resp::writer& out) {
  out.call(scripts::holdfast_quorum_release, 3, 3);
  write_quorum_key(*held.key, "", out);
  write_slot_key("fence", held, out);
  write_quorum_key(*held.key, ":w", out);
  out.arg(held.owner.text());
  write_major(held.token, out);
  if (held.listener && !hears_on) {
    out.arg(held.listener->text());
  } else {
    out.arg("");
  }
}

void write_end_of_trial(const quorum_claim& tried, resp::writer& out) {
  constexpr std::string_view all = "for i = 1, #KEYS do redis.call('DEL', KEYS[i]) end";
  out.command(7);
  out.arg("EVAL");
  out.arg(all);
  out.arg("4");
  write_voting_keys(tried, out);
}

release_verdict read_quorum_release(const resp::value& v) {
  if (v.is(resp::type::integer) && v.number == 1) return released{};
  if (v.is(resp::type::integer) && v.number == 0) return not_mine{};
  return refused_or_not_understood("release", v);
}

}  // namespace holdfast::dialects
