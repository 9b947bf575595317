/// \file
/// Several locks as one.
#pragma once

#include <string>
#include <vector>

#include <holdfast/lock.hpp>

namespace holdfast {

/// A lock that is held when all of these are: any kinds, of any clients; at least one.
///
/// All or nothing: whatever ends an acquisition early, what it had by then is given back. Whoever
/// acquires does so in one order of all locks, by server and name, so that two `all_of` never wait
/// for each other, in whatever order their parts are written. (Servers are compared as their
/// addresses are written: all processes must write them alike.) A part that is lost while a later
/// one is waited for is given up with all others, and all of them are asked for again.
///
/// Its lease is held while all parts are; `remaining()` is the least of theirs, `token()` the
/// largest, `lost()` fires when one is lost. `extend()` and `release()` do it with all parts and
/// report the first failure. For the token of each part see `parts()`.
///
/// Cost: one command to acquire and one to release for 2 to 100 mutexes with tokens that one client
/// has made, when all are free and a thread asks; otherwise what the parts cost, one after another
/// (coroutines, other kinds, several clients), after that one command when something was busy. At a
/// loss the others stay held, and renewed, until the lease is released.
///
/// Throws `failure{invalid_argument}` when there is none, when two are the same lock (in whatever
/// modes or kinds: they would wait for each other), or when one changes what is held already
/// (`read_write_lock::upgrade` and its like), since that could not be given back.
///
/// Thread safety: of the result as of every `lock`.
[[nodiscard]] lock all_of(std::vector<lock> locks);

/// One of several locks that a lease holds.
struct held_part {
  std::string name;
  fencing_token token;
  lease_mode mode = lease_mode::none;  ///< As `lease::mode()`.
};

/// The parts of what `all_of` gave, by server and name; of any other lease itself.
[[nodiscard]] std::vector<held_part> parts(const lease& held);

}  // namespace holdfast
