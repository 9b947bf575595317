// Finds threads that wait for each other in a cycle.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "substrate/known_wait.hpp"

namespace holdfast::leasing {

// Whether a request that wants the lock in this mode must wait until this holder has given it back.
// True only where that is certain. So a cycle of such waits cannot come apart by itself.
bool must_wait_for(const substrate::lock_in_mode& wanted,
                   const substrate::held_lock& held) noexcept;

// So that no script of ours takes long: deadlock/confirm.lua looks at all of a cycle in one step.
inline constexpr std::size_t longest_cycle = 100;

// A shortest cycle that begins with this wait; empty: there is none, or it is longer than
// `longest_cycle`. Points into `all`.
std::vector<substrate::link_of_cycle> find_cycle(const std::vector<substrate::known_wait>& all,
                                                 std::string_view first);

// For people: each waiter, the lock that it waits for, and the next waiter, which holds that lock,
// up to the first again.
std::string describe(const std::vector<substrate::link_of_cycle>& cycle);

}  // namespace holdfast::leasing
