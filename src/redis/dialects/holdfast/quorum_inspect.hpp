// Looking at a member's vote for a lock of a quorum from outside, and taking it away.
#pragma once

#include <cstdint>
#include <variant>

#include "redis/dialects/holdfast/inspect.hpp"

namespace holdfast::dialects {

// `now` of a vote is not known.
using vote_holder = std::variant<lock_free, lock_held, lock_foreign, refused>;
struct vote_seen {
  vote_holder what;
  milliseconds stays_out{0};  // it has lost its memory, and gives no vote in the lock's hash slot
  std::uint64_t waiting = 0;  // how many want to hear that it is free
  friend bool operator==(const vote_seen&, const vote_seen&) = default;
};

// The script cannot write.
void write_quorum_inspect(const lock_key&, resp::writer&);
vote_seen read_quorum_inspect(const resp::value&);

// `largest`: of the majors of all members' votes. A renewal of its holder does not get this vote
// again. A key that holds no vote is refused and stays untouched.
void write_quorum_break(const lock_key&, token_major largest, server_time not_after, resp::writer&);
break_verdict read_quorum_break(const lock_key&, const resp::value&);

}  // namespace holdfast::dialects
