// Finds those who wait for each other.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "substrate/known_wait.hpp"

namespace holdfast::leasing {

// Whether one who wants the lock so must wait until this holder has given it back. Not all of that
// is known here: true where it is certain, so no cycle of such waits can come apart by itself.
bool must_wait_for(const substrate::lock_in_mode& wanted,
                   const substrate::held_lock& held) noexcept;

// So that no script of ours takes long: deadlock/confirm.lua looks at all of a cycle in one step.
inline constexpr std::size_t longest_cycle = 100;

// A shortest cycle that begins with this wait; empty: there is none, or it is longer than
// `longest_cycle`. Points into `all`.
std::vector<substrate::link_of_cycle> find_cycle(const std::vector<substrate::known_wait>& all,
                                                 std::string_view first);

// For people: who waits for what, which the next one has, up to the first again.
std::string describe(const std::vector<substrate::link_of_cycle>& cycle);

}  // namespace holdfast::leasing
