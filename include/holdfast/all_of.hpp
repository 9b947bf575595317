/// \file
/// Several locks as one.
#pragma once

#include <string>
#include <vector>

#include <holdfast/detail/export.hpp>
#include <holdfast/lock.hpp>

namespace holdfast {

/// A lock that is held when all of these are: any kinds, of any clients; at least one.
///
/// All or nothing: if an acquisition ends early, for whatever reason, what it had by then is given
/// back. All clients acquire the locks in one order, by server and name, in whatever order they are
/// written. So two `all_of` never wait for each other. Servers are compared as their addresses are
/// written: all processes must write them alike. If a part is lost while a later one is waited for,
/// all parts are given up, and all are asked for again.
///
/// The lease is held while all parts are. `remaining()` is the least of theirs, `token()` the
/// largest, and `lost()` fires when one is lost. `extend()` and `release()` do it with all parts
/// and report the first failure. `parts()` has the token of each part. At a loss the others stay
/// held, and renewed, until the lease is released.
///
/// Cost: one command to acquire and one to release. That holds for 2 to 100 mutexes with tokens,
/// all of one client and, in a cluster, of one hash slot, when all are free and a thread asks.
/// Otherwise the parts are asked for one after another, and cost what each of them costs: in
/// coroutines, for other kinds and for several clients. So they are, after that one command, when a
/// part was busy.
///
/// Throws `failure{invalid_argument}` when there is none, when two are the same lock (in whatever
/// modes or kinds: they would wait for each other), or when one changes what is held already
/// (`read_write_lock::upgrade` and its like). Such a change could not be given back.
///
/// Thread safety: of the result as of every `lock`.
HOLDFAST_EXPORT [[nodiscard]] lock all_of(std::vector<lock> locks);

/// One of several locks that a lease holds.
struct held_part {
  std::string name;                    ///< That of the lock.
  fencing_token token;                 ///< As `lease::token()`.
  lease_mode mode = lease_mode::none;  ///< As `lease::mode()`.
};

/// The parts of what `all_of` gave, by server and name. Of any other lease, that lease itself.
HOLDFAST_EXPORT [[nodiscard]] std::vector<held_part> parts(const lease& held);

}  // namespace holdfast
