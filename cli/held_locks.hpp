// The locks under which a command runs, as its environment tells them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <holdfast/inspector.hpp>
#include <holdfast/lease.hpp>

#include "cli/lock_view.hpp"

namespace holdfast::cli {

// A name in which no byte can be taken for what stands between names and tokens.
std::string unambiguous(std::string_view name);

// One grant of a lock, and the mark that no other grant of it has: its token, or the id of its
// owner if it has no token.
struct grant_mark {
  std::string name;
  std::string mark;  // empty when nobody knows
};

// Of each lock that the lease holds. The servers are asked only about locks without tokens.
std::vector<grant_mark> marks_of(const lease& held, const lock_view& view);

// Whether the servers still keep one of these grants.
enum class grants_at_server { gone, held, unknown };
grants_at_server look_at(const std::vector<grant_mark>& grants, const lock_view& view);

// HOLDFAST_HELD=NAME=MARK,...: these grants, behind those of our own environment.
std::string held_variable(const std::vector<grant_mark>& grants);

// Throws `complaint` (`would_deadlock`) when waiting would be in vain: a command that this process
// is a part of has the lock, and it goes on only when this process has ended. The servers are asked
// when our environment names one of the locks, so another server or tenant is never mistaken.
void refuse_to_wait_for_ourselves(const lock_view& view);

}  // namespace holdfast::cli
