// The result of a request, in the words of locks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <holdfast/errc.hpp>

#include "base/time.hpp"
#include "substrate/claim.hpp"

namespace holdfast::substrate {

// Acquire.
struct granted {
  token_major major = 0;
  milliseconds ttl{};     // that we may count on, from when the request was sent
  bool for_good = false;  // nothing is held that could end: an open gate
  friend bool operator==(const granted&, const granted&) = default;
};
struct busy {
  std::optional<milliseconds> remaining;  // of the present holder, if the answer tells
  friend bool operator==(const busy&, const busy&) = default;
};
// Busy, and the request waits in the queue.
struct queued {
  std::uint64_t place = 0;  // how many are before it
  milliseconds remaining{};
  std::uint64_t ticket = 0;
  server_time now;
  bool is_new = false;  // until now the request had no place
  friend bool operator==(const queued&, const queued&) = default;
};
// The script met so many waiters that are gone that it stopped looking: ask again at once.
struct unfinished {
  friend bool operator==(const unfinished&, const unfinished&) = default;
};
// The request reached the server after its not-after: refused. Carries the server's time.
struct late {
  server_time now;
  friend bool operator==(const late&, const late&) = default;
};
struct refused {
  errc code = errc::server_error;
  bool passing = false;
  std::string detail;
  bool divided = false;  // the slot is being moved: the lock's keys are at two nodes of a cluster
  friend bool operator==(const refused&, const refused&) = default;
};
using acquire_verdict = std::variant<granted, busy, queued, unfinished, late, refused>;

// Renew and extend.
struct renewed {
  milliseconds ttl{};
  friend bool operator==(const renewed&, const renewed&) = default;
};
struct not_mine {
  friend bool operator==(const not_mine&, const not_mine&) = default;
};
using renew_verdict = std::variant<renewed, not_mine, late, refused>;

// Release and withdraw.
struct released {
  friend bool operator==(const released&, const released&) = default;
};
// A change of a lease was granted, and cannot be undone: others have come in that do not go
// together with the old mode. Nothing is given back until its holder knows.
struct not_undone {
  friend bool operator==(const not_undone&, const not_undone&) = default;
};
using release_verdict = std::variant<released, not_mine, unfinished, not_undone, refused>;

}  // namespace holdfast::substrate
