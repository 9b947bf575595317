// Looking at a lock from outside, breaking one, and the record of that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/lock_key.hpp"
#include "redis/dialects/holdfast/layout.hpp"
#include "redis/dialects/holdfast/shared_holders.hpp"
#include "redis/dialects/recipe.hpp"

namespace holdfast::dialects {

struct lock_free {
  friend bool operator==(const lock_free&, const lock_free&) = default;
};
struct lock_held {
  token_major major = 0;  // 0: a lock without tokens. Otherwise about when it was granted, in us
  std::string client;     // whose registry entry to read; not shown. Empty: not a Holdfast client
  std::string owner;      // the request id, shortened: for people
  std::optional<milliseconds> ttl;  // none: somebody took its expiry away
  server_time now{};                // when the server looked
  counted_grant last{};             // of its hash slot
  friend bool operator==(const lock_held&, const lock_held&) = default;
};
struct lock_foreign {
  errc code = errc::foreign_key;  // or layout_version
  std::string detail;             // "a list", "a lock of layout version 2"
  friend bool operator==(const lock_foreign&, const lock_foreign&) = default;
};
// Of a foreign value nothing is shown: it may be another program's secret.
lock_foreign describe_foreign(std::string_view type, std::string_view text);

// Held by several, or by one of a kind that several can hold.
struct lock_shared {
  char family = 0;  // m: modes, s: permits
  std::vector<shared_holder>
      holders{};             // at most 100, the oldest grants; none whose lease has ended
  std::uint64_t count = 0;   // of all; about, when there are hundreds
  std::uint64_t in_use = 0;  // permits of all holders that were seen
  server_time now{};
  counted_grant last{};  // as in lock_held
  friend bool operator==(const lock_shared&, const lock_shared&) = default;
};

// A latch that is not open, or a barrier where somebody waits.
struct lock_gate {
  char family = 0;          // l or b
  std::uint32_t count = 0;  // to be counted down; of a barrier its parties
  friend bool operator==(const lock_gate&, const lock_gate&) = default;
};

using inspect_verdict =
    std::variant<lock_free, lock_held, lock_shared, lock_gate, lock_foreign, refused>;

// The state of one lock. The script cannot write.
void write_inspect(const lock_key&, resp::writer&);
inspect_verdict read_inspect(const resp::value&);
std::optional<server_time> time_of_inspect(const resp::value&);  // when the server looked

// The waiters, from the same answer.
struct lock_queue {
  struct place {
    std::string client;  // as in lock_held
    std::string owner;
    server_time since{};  // about: tickets are times, but always grow
    share wants{};        // of a lock that several can hold
    friend bool operator==(const place&, const place&) = default;
  };
  std::uint64_t waiting = 0;
  family whose = family::none;           // by the first of them
  std::vector<place> first;              // at most 100
  std::optional<std::uint32_t> permits;  // how many there are, if it was said for all
  friend bool operator==(const lock_queue&, const lock_queue&) = default;
};
lock_queue read_queue(const resp::value&);

// Takes the lock away from its holder, so that the holder's token can never come again. A key that
// is no lock of ours is refused and stays untouched. The server refuses it after `not_after`, and
// when that is far future: see read_late.
struct lock_broken {
  token_major major = 0;
  std::string client;  // as in lock_held
  std::string owner;
  friend bool operator==(const lock_broken&, const lock_broken&) = default;
};
using break_verdict = std::variant<lock_free, lock_broken, refused>;
void write_break(const lock_key&, server_time not_after, resp::writer&);
break_verdict read_break(const lock_key&, const resp::value&);
break_verdict read_break(const std::string& value_key, const resp::value&);

// The like for a lock that several can hold.
struct shared_broken {
  std::vector<shared_holder> holders;  // of many a part
  std::size_t count = 0;               // all
  friend bool operator==(const shared_broken&, const shared_broken&) = default;
};
using break_shared_verdict = std::variant<lock_free, shared_broken, refused>;
void write_break_shared(const lock_key&, server_time not_after, resp::writer&);
break_shared_verdict read_break_shared(const lock_key&, const resp::value&);

// One entry of the stream `audit` of a key space, which keeps the last 1,000.
struct audit_entry {
  std::string_view name;   // of the lock
  std::string_view owner;  // shortened: the holder that lost it
  token_major major = 0;   // of the lost grant
  std::string_view by;     // the process that broke it, e.g. "root@host:4711"
  std::string_view reason;
};
std::uint16_t audit_slot(const key_space&);
void write_audit(const key_space&, const audit_entry&, resp::writer&);

}  // namespace holdfast::dialects
